#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/cli/options.h"
#include "tests/support.h"

using namespace tx;
using tx_test::run_in_child;

namespace {

// What the caller of a tool sees of its end; body runs inside run_tool() in a child process.
tx_test::ChildResult ending(const std::function<int()>& body, const std::string& out = "") {
  return run_in_child([&] { return run_tool("tx-x", body); }, out);
}

int print_hello() {
  std::fputs("hello\n", stdout);
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(success_and_own_status) {
  const auto child = ending(print_hello);
  BOOST_TEST(child.status == 0);
  BOOST_TEST(child.out == "hello\n");
  BOOST_TEST(child.err == "");
  BOOST_TEST(ending([] { return 3; }).status == 3);
}

BOOST_AUTO_TEST_CASE(kinds_of_failure) {
  const auto usage = ending([]() -> int { throw UsageError("--beam 0: no"); });
  BOOST_TEST(usage.status == 2);
  BOOST_TEST(usage.err == "tx-x: --beam 0: no\ntx-x: try tx-x --help\n");
  const auto data = ending([]() -> int { throw DataError("a.txt:3: bad"); });
  BOOST_TEST(data.status == 1);
  BOOST_TEST(data.err == "tx-x: a.txt:3: bad\n");
  const auto io = ending([]() -> int { throw IoError("read", "f", EACCES); });
  BOOST_TEST(io.status == 1);
  BOOST_TEST(io.err == "tx-x: cannot read f: Permission denied\n");
  const auto memory = ending([]() -> int { throw std::bad_alloc(); });
  BOOST_TEST(memory.status == 1);
  BOOST_TEST(memory.err == "tx-x: out of memory\n");
  const auto json = ending([]() -> int { return Json("text").get<int>(); });  // an unchecked type
  BOOST_TEST(json.status == 1);
  BOOST_TEST(json.err.starts_with("tx-x: internal error: a value was not checked: "));
  const auto unknown = ending([]() -> int { throw 7; });
  BOOST_TEST(unknown.status == 1);
  BOOST_TEST(unknown.err.starts_with("tx-x: internal error"));
}

BOOST_AUTO_TEST_CASE(results_before_a_failure_are_kept) {
  const auto child = ending([]() -> int {
    print_hello();
    Writer writer("-");
    writer.write("world\n");
    throw DataError("later");
  });
  BOOST_TEST(child.status == 1);
  BOOST_TEST(child.out.find("hello\n") != std::string::npos);
  BOOST_TEST(child.out.find("world\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lost_output_is_a_failure) {
  const auto full = ending(print_hello, "/dev/full");
  BOOST_TEST(full.status == 1);
  BOOST_TEST(full.err.starts_with("tx-x: cannot write standard output: No space left on device"));
  const auto closed = ending(print_hello, "closed");
  BOOST_TEST(closed.status == 1);
  BOOST_TEST(closed.err.starts_with("tx-x: cannot write standard output"));
  BOOST_TEST(ending([] { return 0; }, "closed").status == 0);  // without output
}

// Without the guard the file would be opened as descriptor 1 and receive the standard output.
BOOST_AUTO_TEST_CASE(closed_descriptors_are_not_reused) {
  const tx_test::TempFolder folder;
  const auto child = ending(
      [&] {
        Writer writer(folder / "model");
        writer.write("weights");
        print_hello();
        std::fflush(stdout);
        writer.close();
        return 0;
      },
      "closed");
  BOOST_TEST(child.status == 1);
  BOOST_TEST(tx_test::bytes_of(folder / "model") == "weights");
}

BOOST_AUTO_TEST_CASE(broken_pipe_ends_silently) {
  for (const bool ignored : {false, true}) {  // a parent may have left SIGPIPE ignored
    const auto child = run_in_child([&] {
      int fd[2];
      if (pipe(fd) != 0) return 1;
      close(fd[0]);
      dup2(fd[1], 1);
      if (ignored) std::signal(SIGPIPE, SIG_IGN);
      return run_tool("tx-x", print_hello);
    });
    BOOST_TEST(child.status == 128 + SIGPIPE);
    BOOST_TEST(child.err == "");
  }
  const auto told = ending([]() -> int { throw IoError("write", "standard output", EPIPE); });
  BOOST_TEST(told.status == 128 + SIGPIPE);
  BOOST_TEST(told.err == "");
}
