#include "lib/cli/options.h"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

namespace {

struct Settings {
  std::string model, norm = "post";
  std::vector<std::string> inputs, files;
  int beam = 4;
  int64_t steps = 100000;
  uint64_t seed = 1;
  double alpha = 0.6;
  std::optional<int> d_k;
  std::optional<double> clip;
  bool scores = false, tie = true, describe = false;
};

// A tool's options over default settings, and a parse of words as a shell would pass them.
struct Tool {
  Settings s;
  Options options{"tx-x", "tries options"};

  Tool() {
    options.add("-m,--model", s.model, "MODEL", "the model");
    options.add("-i,--input", s.inputs, "FILE", "an input");
    options.add("--beam", s.beam, "N", "beam width").range(1, 1000);
    options.add("--steps", s.steps, "N", "steps").at_least(1);
    options.add("--seed", s.seed, "N", "seed");
    options.add("--alpha", s.alpha, "A", "length penalty").at_least(0);
    options.add("--norm", s.norm, "post|pre", "where LayerNorm stands").one_of({"post", "pre"});
    options.add("--d-k", s.d_k, "N", "width of a head").range(1, 4096);
    options.add("--clip", s.clip, "C", "clip");
    options.flag("-s,--scores", s.scores, "print scores");
    options.flag("--tie", s.tie, "tie the embeddings");
    options.flag("-d,--describe", s.describe, "describe").runtime();
    options.positional("FILE", s.files, "files");
  }

  bool parse(std::vector<const char*> words) {
    words.insert(words.begin(), "tx-x");
    return options.parse(int(words.size()), words.data());
  }
};

std::string usage_error(const std::vector<const char*>& words) {
  Tool tool;
  return message_of<UsageError>([&] { tool.parse(words); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_given_keeps_the_defaults) {
  Tool tool;
  BOOST_TEST(tool.parse({}));
  BOOST_TEST(tool.s.beam == 4);
  BOOST_TEST(tool.s.tie);
  BOOST_TEST(!tool.s.d_k.has_value());
  BOOST_TEST(!tool.options.given("beam"));
  BOOST_CHECK_THROW(tool.options.given("bem"), Bug);
}

BOOST_AUTO_TEST_CASE(each_kind_of_field) {
  Tool tool;
  BOOST_TEST(tool.parse({"-m", "a.model", "--beam=7", "--steps", "9000000000", "--seed",
                         "18446744073709551615", "--alpha", "1e-3", "--norm", "pre", "--d-k", "32",
                         "--clip", "-2.5", "-sd"}));
  BOOST_TEST(tool.s.model == "a.model");
  BOOST_TEST(tool.s.beam == 7);
  BOOST_TEST(tool.s.steps == 9000000000);
  BOOST_TEST(tool.s.seed == std::numeric_limits<uint64_t>::max());
  BOOST_TEST(tool.s.alpha == 1e-3);
  BOOST_TEST(tool.s.norm == "pre");
  BOOST_TEST(tool.s.d_k.value() == 32);
  BOOST_TEST(tool.s.clip.value() == -2.5);
  BOOST_TEST(tool.s.scores);
  BOOST_TEST(tool.s.describe);
  BOOST_TEST(tool.options.given("model"));
  BOOST_TEST(tool.options.given("d-k"));
}

BOOST_AUTO_TEST_CASE(repeatable_options_leave_positionals_alone) {
  Tool tool;
  tool.parse({"-i", "a", "x", "-i", "b", "y", "--input=[c,d]", "-", "--", "-z", "--beam"});
  BOOST_TEST(tool.s.inputs == (std::vector<std::string>{"a", "b", "[c,d]"}),
             boost::test_tools::per_element());
  BOOST_TEST(tool.s.files == (std::vector<std::string>{"x", "y", "-", "-z", "--beam"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(last_of_a_repeated_option_counts) {
  Tool tool;
  tool.parse({"--beam", "3", "--beam", "5", "-s", "-s"});
  BOOST_TEST(tool.s.beam == 5);
  BOOST_TEST(tool.s.scores);
}

BOOST_AUTO_TEST_CASE(odd_texts_stay_as_they_are) {
  Tool tool;
  tool.parse({"-m", " ", "-i", "a=b", "-i", "--beam", "-i", "{}", "-i", "'q'", "-i", "a,b"});
  BOOST_TEST(tool.options.given("model"));
  BOOST_TEST(tool.s.inputs == (std::vector<std::string>{"a=b", "--beam", "{}", "'q'", "a,b"}),
             boost::test_tools::per_element());
  for (const auto& words : std::vector<std::vector<const char*>>{
           {"-m", ""}, {"--model", ""}, {"--model="}, {"--model=", "x"}, {"--model=", "--beam=3"}})
    BOOST_TEST(usage_error(words) == "--model has an empty value: expected MODEL");
  BOOST_TEST(usage_error({"--norm="}) == "--norm has an empty value: expected post|pre");
  BOOST_TEST(usage_error({"a", ""}) == "FILE has an empty value: expected FILE");
  tool.parse({"-m", "--norm=", "--", "--norm="});  // a value and a file of that name
  BOOST_TEST(tool.s.model == "--norm=");
  BOOST_TEST(tool.s.files == std::vector<std::string>{"--norm="}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(flags_can_be_taken_back) {
  Tool tool;
  tool.parse({"--no-tie"});
  BOOST_TEST(!tool.s.tie);
  BOOST_TEST(tool.options.given("tie"));
  BOOST_TEST(usage_error({"--tie", "--no-tie"}).find("contradict") != std::string::npos);
  BOOST_TEST(usage_error({"--no-describe"}).starts_with("unknown option --no-describe"));
}

BOOST_AUTO_TEST_CASE(ranges_have_one_notation) {
  const auto message = [](double min, double max, const char* text) {
    Options options("tx-x", "ranges");
    double x = 1;
    options.add("--x", x, "X", "x").range(min, max);
    const char* words[] = {"tx-x", "--x", text};
    return message_of<UsageError>([&] { options.parse(3, words); });
  };
  BOOST_TEST(message(1, 100000, "1e6") == "--x 1e6: must be from 1 to 100,000");
  BOOST_TEST(message(0.01, 1e9, "0") == "--x 0: must be from 0.01 to 1,000,000,000");
  BOOST_TEST(message(1e-12, 1, "2") == "--x 2: must be from 1e-12 to 1");
  BOOST_TEST(message(-1000, 999, "5000") == "--x 5000: must be from -1,000 to 999");
}

BOOST_AUTO_TEST_CASE(numbers_are_read_strictly) {
  BOOST_TEST(usage_error({"--beam", "0"}) == "--beam 0: must be from 1 to 1,000");
  BOOST_TEST(usage_error({"--beam", "1001"}) == "--beam 1001: must be from 1 to 1,000");
  BOOST_TEST(usage_error({"--steps", "0"}) == "--steps 0: must be at least 1");
  BOOST_TEST(usage_error({"--d-k", "0"}) == "--d-k 0: must be from 1 to 4,096");
  for (const char* text : {"", "x", "4x", " 4", "4 ", "+4", "2.5", "1e3", "0x10"}) {
    const std::string expected = std::string("--beam: '") + text + "' is not a whole number";
    BOOST_TEST(usage_error({"--beam", text}) == expected);
  }
  BOOST_TEST(usage_error({"--seed", "-1"}).find("of 0 or more") != std::string::npos);
  for (const char* text : {"1e400", "inf", "-inf", "nan", "0,5", ""}) {
    BOOST_TEST(!usage_error({"--alpha", text}).empty(), text << " is refused");
  }
  BOOST_TEST(usage_error({"--beam", "99999999999"}) == "--beam 99999999999: too large");
  BOOST_TEST(usage_error({"--beam", "-99999999999"}) == "--beam -99999999999: too small");
}

BOOST_AUTO_TEST_CASE(mistakes_get_a_hint) {
  BOOST_TEST(usage_error({"--bem", "3"}) == "unknown option --bem; did you mean --beam?");
  BOOST_TEST(usage_error({"--imput=x"}) == "unknown option --imput; did you mean --input?");
  BOOST_TEST(usage_error({"--xyzzy"}) == "unknown option --xyzzy");
  BOOST_TEST(usage_error({"-q"}) == "unknown option -q");
  BOOST_TEST(usage_error({"--norm", "pots"}) ==
             "--norm pots: must be one of post, pre; did you mean post?");
  BOOST_TEST(usage_error({"--beam"}) == "--beam needs a value: N");
  BOOST_TEST(usage_error({"--scores=1"}) == "--scores takes no value");
}

BOOST_AUTO_TEST_CASE(required_and_surplus_arguments) {
  Options options("tx-x", "one file");
  std::string file, out;
  options.positional("REFERENCE", file, "the reference").must();
  options.add("-o,--out", out, "FILE", "the result").must();
  const auto message = [&](std::vector<const char*> words) {
    words.insert(words.begin(), "tx-x");
    return message_of<UsageError>([&] { options.parse(int(words.size()), words.data()); });
  };
  BOOST_TEST(message({"-o", "x"}) == "missing argument: REFERENCE (the reference)");
  BOOST_TEST(message({"-o", "x", "a", "b"}) == "unexpected argument 'b'");
  BOOST_TEST(message({"-o", "x", "a"}) == "");
}

BOOST_AUTO_TEST_CASE(nearest_word) {
  const std::vector<std::string> known = {"--beam", "--batch-tokens", "--top-k", "--top-p"};
  BOOST_TEST(nearest("--baem", known) == "--beam");  // two letters swapped are one edit
  BOOST_TEST(nearest("--batch-token", known) == "--batch-tokens");
  BOOST_TEST(nearest("--quiet", known) == "");
  BOOST_TEST(nearest("", known) == "");
}
