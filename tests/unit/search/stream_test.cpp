// Lines in, lines out: order, pauses, odd input, failures.
#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

const Log quiet("test", true);

struct Run {
  std::string out, status;
};

Run translate(const std::string& input, const LineOptions& lines = {}, int threads = 2,
              bool strict = false) {
  const TempFolder folder;
  const Translator translator = tiny_translator(options_of(threads, 200));
  LinePairs in({folder.file("in", input)}, "", strict);
  Writer out(folder / "out"), status(folder / "status");
  try {
    translate_stream(in, translator, lines, {out, &status}, quiet);
  } catch (const DataError&) {
    out.close();
    throw std::runtime_error(bytes_of(folder / "out"));
  }
  out.close();
  status.close();
  return {bytes_of(folder / "out"), bytes_of(folder / "status")};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    BOOST_REQUIRE(end != text.npos);
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w <= i % 9; ++w) text += "w" + std::to_string(4 + (i * 31 + w * 7) % 67) + " ";
    text += "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(order_and_text_do_not_depend_on_the_threads) {
  const std::string input = numbered_lines(300);
  LineOptions scores;
  scores.scores = true;
  const std::string wanted = translate(input, scores, 1).out;
  BOOST_TEST(lines_of(wanted).size() == 300u);
  for (const int threads : {2, 3, 7}) BOOST_TEST(translate(input, scores, threads).out == wanted);
}

BOOST_AUTO_TEST_CASE(every_line_has_its_own_translation) {
  const auto inputs = lines_of(numbered_lines(60));
  const auto outputs = lines_of(translate(numbered_lines(60)).out);
  for (const size_t i : {size_t(0), size_t(17), size_t(59)}) {
    BOOST_TEST(lines_of(translate(inputs[i] + "\n").out)[0] == outputs[i]);
  }
}

BOOST_AUTO_TEST_CASE(blank_lines_stay_blank) {
  const Run run = translate("\n   \nw5 w6\n\t\r\n\u00a0\u3000\n\n");
  const auto out = lines_of(run.out);
  BOOST_REQUIRE(out.size() == 6u);
  for (const size_t i : {0, 1, 3, 4, 5}) BOOST_TEST(out[i] == "");
  BOOST_TEST(out[2] != "");
  BOOST_TEST(lines_of(run.status)[1].find("1\tempty\t0\t0\t0\t0.000000\t0.000000\t") == 0u);
  BOOST_TEST(translate("").out == "");
  BOOST_TEST(lines_of(translate("w7").out).size() == 1u);
}

BOOST_AUTO_TEST_CASE(odd_bytes_are_data) {
  std::string input("w5\0w6\nw7\r\nw8\u2028w9\n\xff w5\n", 23);
  input += std::string(100000, 'x') + " w4\n";
  for (int i = 0; i < 5000; ++i) input += "w5 ";
  const Run run = translate(input);
  const auto out = lines_of(run.out), status = lines_of(run.status);
  BOOST_TEST(out.size() == 6u);
  BOOST_REQUIRE(status.size() == 7u);
  BOOST_TEST(status[4].find("4\treplaced") == 0u);
  BOOST_TEST(status[6].find("6\tcut") == 0u);
  BOOST_TEST(status[6].find("\t5000\t") != status[6].npos);
}

BOOST_AUTO_TEST_CASE(a_failing_input_leaves_the_lines_before_it) {
  LineOptions tokens;
  tokens.form = LineForm::tokens;
  const std::string good = "w5 w6\n\nw7\n";
  const std::string wanted = translate(good, tokens).out;
  const auto left = [&](const std::string& input, bool strict) {
    return message_of<std::runtime_error>([&] { translate(input, tokens, 2, strict); });
  };
  BOOST_TEST(left(good + "nopiece\nw5\n", false) == wanted);
  BOOST_TEST(left(good + "\xff\nw5\n", true) == wanted);
  LineOptions ids;
  ids.form = LineForm::ids;
  for (const char* bad : {"71\n", "-1\n", "4x\n", "99999999999\n"}) {
    BOOST_CHECK_THROW(translate(bad, ids), std::runtime_error);
  }
}

// Blank lines are answered without a worker.
BOOST_AUTO_TEST_CASE(every_failure_of_a_thread_reaches_the_caller) {
  const TempFolder folder;
  const Translator translator = tiny_translator(options_of(2, 200));
  for (const char* input : {"\n", "w5 w6\n"}) {
    LinePairs in({folder.file("in", input)}, "", false);
    Writer out(folder / "out");
    StreamOutput output{out};
    output.rank = [](Translation&) { throw DataError("no rank"); };
    const auto stream = [&] { translate_stream(in, translator, {}, output, quiet); };
    BOOST_TEST(message_of<DataError>(stream) == "no rank");
  }
}

BOOST_AUTO_TEST_CASE(tokens_ids_and_text_agree) {
  LineOptions tokens, ids;
  tokens.form = LineForm::tokens;
  ids.form = LineForm::ids;
  const std::string text = translate("w5 w6 w7\n").out;
  BOOST_TEST(translate("w5 w6 w7\n", tokens).out == text);
  std::string from_ids;
  for (char c : translate("5 6 7\n", ids).out) {
    if (std::isdigit(c) && (from_ids.empty() || !std::isdigit(from_ids.back()))) from_ids += 'w';
    from_ids += c;
  }
  BOOST_TEST(from_ids == text);
}

BOOST_AUTO_TEST_CASE(the_list_has_line_rank_score_and_log_p) {
  const TempFolder folder;
  TranslatorOptions o = options_of();
  o.search.nbest = 3;
  o.search.max_extra = 100;  // enough for three to end
  const Translator translator = tiny_translator(o);
  LinePairs in({folder.file("in", "w5\n\nw6 w7\n")});
  Writer out(folder / "out");
  LineOptions lines;
  lines.list = true;
  translate_stream(in, translator, lines, {out}, quiet);
  out.close();
  const auto rows = lines_of(bytes_of(folder / "out"));
  BOOST_REQUIRE(rows.size() == 7u);
  BOOST_TEST(rows[0].find("1\t1\t-") == 0u);
  BOOST_TEST(rows[2].find("1\t3\t-") == 0u);
  BOOST_TEST(rows[3] == "2\t1\t0.000000\t0.000000\t");
  BOOST_TEST(rows[6].find("3\t3\t-") == 0u);
}

// As a coprocess: each line is answered before the next is sent, even when it comes byte by byte.
BOOST_AUTO_TEST_CASE(an_answer_for_each_line_before_the_next_is_sent) {
  int to[2], from[2];
  BOOST_REQUIRE(pipe(to) == 0 && pipe(from) == 0);
  std::thread filter([&] {
    const Translator translator = tiny_translator(options_of(2));
    LinePairs in({"/dev/fd/" + std::to_string(to[0])});
    Writer out(from[1], "pipe");
    translate_stream(in, translator, {}, {out}, quiet);
    out.close();
  });
  for (const std::string line : {"w5 w6\n", "\n", "w9 w9 w9 w10\n"}) {
    for (char c : line) BOOST_REQUIRE(write(to[1], &c, 1) == 1);
    std::string answer;
    for (char c = 0; c != '\n'; answer += c) {
      pollfd p{from[0], POLLIN, 0};
      BOOST_REQUIRE(poll(&p, 1, 20000) == 1);
      BOOST_REQUIRE(read(from[0], &c, 1) == 1);
    }
    BOOST_TEST((answer.size() > 1) == (line.size() > 1));
  }
  close(to[1]);
  filter.join();
  char c;
  BOOST_TEST(read(from[0], &c, 1) == 0);
  close(to[0]);
  close(from[0]);
}

BOOST_AUTO_TEST_CASE(an_output_that_fails_ends_everything) {
  const TempFolder folder;
  const Translator translator = tiny_translator(options_of(2));
  LinePairs in({folder.file("in", numbered_lines(500))});
  Writer out("/dev/full");
  BOOST_CHECK_THROW(translate_stream(in, translator, {}, {out}, quiet), IoError);
}

BOOST_AUTO_TEST_CASE(status_goes_to_an_open_descriptor_or_a_file) {
  BOOST_TEST(open_status("") == nullptr);
  BOOST_CHECK_THROW(open_status("1"), UsageError);
  BOOST_CHECK_THROW(open_status("987"), UsageError);
  const TempFolder folder;
  BOOST_TEST(open_status(folder / "status") != nullptr);
}
