#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/cli/options.h"
#include "tests/support.h"

using namespace tx;
using tx_test::run_in_child;

namespace {

struct Tool {
  std::string model, norm = "post";
  int beam = 4;
  bool tie = true, hidden = false;
  std::vector<std::string> references;
  Options options{"tx-x", "tries the help"};

  Tool() {
    options.usage("tx-x -m MODEL [options] < in > out");
    options.version([] { return std::string("BLAS: some"); });
    options.add("-m,--model", model, "MODEL", "the model", ".Begins with a dot \\ and. Goes on.")
        .must()
        .input();
    options.group("Search");
    options.add("--beam", beam, "N",
                "beam width, explained in so many words that the line must be broken");
    options.add("--norm", norm, "post|pre", "norm").one_of({"post", "pre"}).default_is("paper's");
    options.flag("--tie", tie, "tie the embeddings");
    options.flag("--failpoint", hidden, "for tests").secret();
    options.positional("REF", references, "references");
  }
};

std::string printed(const char* word) {
  const auto child = run_in_child([&] {
    const char* words[] = {"tx-x", "--beam", word};
    words[1] = word;
    return run_tool("tx-x", [&] { return Tool().options.parse(2, words) ? 9 : 0; });
  });
  BOOST_TEST(child.status == 0);
  BOOST_TEST(child.err == "");
  return child.out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(help) {
  const std::string expected =
      "tx-x: tries the help\n"
      "\n"
      "usage: tx-x -m MODEL [options] < in > out\n"
      "\n"
      "Options:\n"
      "  -m, --model MODEL         the model (required)\n"
      "\n"
      "Search:\n"
      "      --beam N              beam width, explained in so many words that the line\n"
      "                            must be broken (default 4)\n"
      "      --norm post|pre       norm (default paper's)\n"
      "      --[no-]tie            tie the embeddings\n"
      "  REF                       references\n"
      "\n"
      "  -h, --help                print this and exit\n"
      "      --version             print version, compiler and libraries, and exit\n"
      "\n"
      "More in the manual: man tx-x\n";
  BOOST_TEST(printed("--help") == expected);
  BOOST_TEST(printed("-h") == expected);
}

BOOST_AUTO_TEST_CASE(version) {
  const std::string text = printed("--version");
  BOOST_TEST(text.starts_with("tx-x 0."));
  BOOST_TEST(text.find("(commit ") != std::string::npos);
  BOOST_TEST(text.find("\ncompiler: ") != std::string::npos);
  BOOST_TEST(text.ends_with("\nBLAS: some\n"));
}

BOOST_AUTO_TEST_CASE(man_options) {
  BOOST_TEST(printed("--man-options") ==
             ".Ss Options\n"
             ".Bl -tag -width Ds\n"
             ".It Fl m , Fl \\-model Ar \\&MODEL\n"
             "The model (required).\n"
             "\\&.Begins with a dot \\e and.\n"
             "Goes on.\n"
             ".El\n"
             ".Ss Search\n"
             ".Bl -tag -width Ds\n"
             ".It Fl \\-beam Ar \\&N\n"
             "Beam width, explained in so many words that the line must be broken (default 4).\n"
             ".It Fl \\-norm Ar \\&post|pre\n"
             "Norm (default paper's).\n"
             ".It Fl \\-tie , Fl \\-no\\-tie\n"
             "Tie the embeddings.\n"
             ".It Ar \\&REF\n"
             "References.\n"
             ".El\n"
             ".Ss General\n"
             ".Bl -tag -width Ds\n"
             ".It Fl h , Fl \\-help\n"
             "Print a summary of the options and exit.\n"
             ".It Fl \\-version\n"
             "Print version, compiler and libraries, and exit.\n"
             ".El\n");
}

BOOST_AUTO_TEST_CASE(completion) {
  BOOST_TEST(printed("--completion") ==
             "-h,--help flag\tprint a summary of the options\n"
             "--version flag\tprint the version\n"
             "-m,--model file\tthe model\n"
             "--beam value\tbeam width, explained in so many words that the line must be broken\n"
             "--norm words post pre\tnorm\n"
             "--tie,--no-tie flag\ttie the embeddings\n");
}

BOOST_AUTO_TEST_CASE(commands) {
  int ran = 0;
  const std::vector<Command> list = {
      {"encode", "text to ids",
       [&](int argc, const char* const* argv) {
         ran = argc;
         return argv[0] == std::string("encode") ? 5 : 6;
       }},
      {"decode", "ids to text", [](int, const char* const*) { return 0; }}};
  const auto run = [&](std::vector<const char*> words) {
    words.insert(words.begin(), "tx-x");
    return run_command("tx-x", "codes", list, nullptr, int(words.size()), words.data());
  };
  BOOST_TEST(run({"encode", "-m"}) == 5);
  BOOST_TEST(ran == 2);
  const auto message = [&](const std::vector<const char*>& words) {
    return tx_test::message_of<UsageError>([&] { run(words); });
  };
  BOOST_TEST(message({"encod"}) == "unknown command 'encod'; did you mean encode?");
  BOOST_TEST(message({"zzz"}) == "unknown command 'zzz'; the commands are encode, decode");
  BOOST_TEST(message({}) == "missing command: one of encode, decode");
  const auto child = run_in_child(
      [&] { return run_tool("tx-x", [&] { return run({"--help"}) + run({"--completion"}); }); });
  BOOST_TEST(child.out ==
             "tx-x: codes\n\nusage: tx-x COMMAND [options]\n\nCommands:\n"
             "  encode          text to ids\n  decode          ids to text\n\n"
             "tx-x COMMAND --help lists a command's options.\nMore in the manual: man tx-x\n"
             "encode\ndecode\n");
}
