// Options to JSON and back, as for config.json and --config.
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/cli/options.h"
#include "lib/train/options/options.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

namespace {

struct Tool {
  std::string out, norm = "post", preset;
  std::vector<std::string> src;
  int layers = 6;
  uint64_t seed = 18446744073709551615u;
  double dropout = 0.1;
  std::optional<int> d_k;
  bool tie = true, describe = false;
  Options options{"tx-x", "tries a configuration"};

  Tool() {
    options.add("-o,--out", out, "DIR", "run directory").runtime();
    options.add("--src", src, "FILE", "source");
    options.add("--layers", layers, "N", "layers").range(1, 100);
    options.add("--seed", seed, "N", "seed");
    options.add("--dropout", dropout, "P", "dropout").range(0, 1);
    options.add("--d-k", d_k, "N", "width");
    options.add("--norm", norm, "post|pre", "norm").one_of({"post", "pre"});
    options.flag("--tie", tie, "tie");
    options.flag("--describe", describe, "describe").runtime();
  }
  std::string from(const std::string& json) {
    return message_of<UsageError>([&] { options.from_json(parse_json(json, "c"), "c.json"); });
  }
};

const char* const everything =
    R"({"src":["a","b"],"layers":2,"seed":7,"dropout":0.25,"d-k":16,"norm":"pre","tie":false})";

}  // namespace

BOOST_AUTO_TEST_CASE(there_and_back) {
  Tool first, second;
  BOOST_TEST(to_text(first.options.to_json()) ==
             R"({"src":[],"layers":6,"seed":18446744073709551615,"dropout":0.1,"d-k":null,)"
             R"("norm":"post","tie":true})");
  BOOST_TEST(first.from(everything) == "");
  BOOST_TEST(to_text(first.options.to_json()) == everything);
  second.options.from_json(first.options.to_json(), "c");
  BOOST_TEST(second.layers == 2);
  BOOST_TEST(second.src == (std::vector<std::string>{"a", "b"}));
  BOOST_TEST(second.d_k.value() == 16);
  BOOST_TEST(!second.tie);
  BOOST_TEST(second.from(R"({"d-k":null,"seed":18446744073709551615})") == "");
  BOOST_TEST(!second.d_k.has_value());
  BOOST_TEST(second.seed == 18446744073709551615u);
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_is_kept) {
  Tool first, second;
  first.src = {"caf\xC3\xA9", "\xFFx\n\x80"};
  const Json json = first.options.to_json();
  BOOST_TEST(to_text(json["src"]) == "[\"caf\xC3\xA9\",{\"hex\":\"ff780a80\"}]");
  second.options.from_json(parse_json(to_text(json), "c"), "c");
  BOOST_TEST(second.src == first.src);
  for (const char* bad : {R"({"hex":"f"})", R"({"hex":"fg"})", R"({"hex":7})", R"({"hax":"ff"})",
                          R"({"hex":"ff","other":1})"})
    BOOST_TEST(first.from(std::string(R"({"src":[)") + bad + "]}") ==
               "c.json: \"src\" must be a list of strings");
}

BOOST_AUTO_TEST_CASE(command_line_wins) {
  Tool tool;
  const char* words[] = {"tx-x", "--layers", "3", "--tie"};
  BOOST_TEST(tool.options.parse(4, words));
  BOOST_TEST(tool.from(everything) == "");
  BOOST_TEST(tool.layers == 3);
  BOOST_TEST(tool.tie);
  BOOST_TEST(tool.norm == "pre");
}

BOOST_AUTO_TEST_CASE(wrong_configurations_are_named) {
  const auto message = [](const std::string& json) { return Tool().from(json); };
  BOOST_TEST(message(R"({"layer":2})") ==
             "c.json: unknown option \"layer\"; did you mean \"layers\"?");
  BOOST_TEST(message(R"({"describe":true})").starts_with("c.json: unknown option \"describe\""));
  BOOST_TEST(message(R"([1])") == "c.json: must be a JSON object of options");
  BOOST_TEST(message(R"({"layers":"2"})") == "c.json: \"layers\" must be a whole number");
  BOOST_TEST(message(R"({"layers":2.5})") == "c.json: \"layers\" must be a whole number");
  BOOST_TEST(message(R"({"layers":0})") == "c.json: --layers 0: must be from 1 to 100");
  BOOST_TEST(message(R"({"tie":1})") == "c.json: \"tie\" must be true or false");
  BOOST_TEST(message(R"({"src":["a",1]})") == "c.json: \"src\" must be a list of strings");
  BOOST_TEST(message(R"({"norm":"mid"})").starts_with("c.json: --norm mid: must be one of"));
  BOOST_TEST(message(R"({"norm":""})").starts_with("c.json: --norm : must be one of"));
  BOOST_TEST(
      message("{\"norm\":\"a\\nb\\u001b\"}").starts_with("c.json: --norm a\\nb\\u001b: must"));
  BOOST_TEST(message(R"({"dropout":"high"})") == "c.json: \"dropout\" must be a number");
  for (const char* large : {R"({"layers":4294967298})", R"({"seed":-1})"}) {
    BOOST_TEST(message(large) != "", large);
  }
}

// As a shell would read it, with RUN for the run directory.
BOOST_AUTO_TEST_CASE(the_command_is_recorded) {
  const auto recorded = [](std::vector<const char*> words) {
    words.insert(words.begin(), "tx-train");
    return tx::command_line(int(words.size()), words.data());
  };
  for (const auto& run : {std::vector<const char*>{"-o", "a"}, {"--out", "a"}})
    BOOST_TEST(recorded(run) == "tx-train " + std::string(run[0]) + " RUN");
  BOOST_TEST(recorded({"--out=a", "-q"}) == "tx-train --out=RUN -q");
  BOOST_TEST(recorded({"-oa"}) == "tx-train -oRUN");
  BOOST_TEST(recorded({"-qo", "a"}) == "tx-train -q -o RUN");
  BOOST_TEST(recorded({"--valid-command", "echo '1'", "--tag", ""}) ==
             "tx-train --valid-command 'echo '\\''1'\\''' --tag ''");
}
