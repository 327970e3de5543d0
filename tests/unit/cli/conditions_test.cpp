// Aliases, lists of choices, and options that need or exclude others.
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/cli/options.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

namespace {

struct Tool {
  std::string model, metric = "bleu", schedule = "paper", command = "none";
  std::vector<std::string> files;
  double beta = 2, lr = 0;
  int beam = 4, threads = 7, nbest = 1;
  std::optional<int> width;
  bool sample = false, heatmap = false, space = false, stream = false;
  Options options{"tx-x", "tries options together"};

  Tool() {
    options.add("--metric", metric, "NAMES", "metrics")
        .list_of({"bleu", "chrf", "ter"})
        .also({"f"});
    options.add("--beta", beta, "X", "beta")
        .needs({{"--metric", "chrf"}, {"--metric", "ter"}})
        .alias("--b");
    options.add("--beam", beam, "N", "beam").excludes({"--sample"}).range(1, 9);
    options.add("--schedule", schedule, "NAME", "schedule");
    options.add("--lr", lr, "X", "rate").excludes({{"--schedule", "paper"}}, "take --lr-factor");
    options.flag("--sample", sample, "sample");
    options.flag("--heatmap", heatmap, "draw");
    options.add("--nbest", nbest, "N", "outputs");
    options.flag("--stream", stream, "stream").excludes({"--nbest"});
    options.add("--columns", width, "N", "columns").needs({"--heatmap"}).alias("--width,-w");
    options.flag("--whitespace", space, "space").alias("--space").needs({"--heatmap", "FILE"});
    options.add("--command", command, "COMMAND", "command").may_be_empty();
    options.threads(threads, "");
    options.positional("FILE", files, "files");
  }
  bool parse(std::vector<const char*> words, const Options::Configure& configure = {}) {
    words.insert(words.begin(), "tx-x");
    return options.parse(int(words.size()), words.data(), configure);
  }
};

std::string usage_error(const std::vector<const char*>& words) {
  Tool tool;
  return message_of<UsageError>([&] { tool.parse(words); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(needs_one_of_its_conditions) {
  BOOST_TEST(usage_error({"--beta", "3"}) ==
             "--beta needs --metric chrf or ter: choose one of them, or leave --beta out");
  BOOST_TEST(usage_error({"--beta", "2", "--metric", "bleu,chrf"}) == "");
  BOOST_TEST(usage_error({"--columns", "3"}) ==
             "--columns needs --heatmap: add it, or leave --columns out");
  BOOST_TEST(usage_error({"--whitespace"}) ==
             "--whitespace needs --heatmap or FILE: choose one of them, or leave --whitespace out");
  BOOST_TEST(usage_error({"--whitespace", "a"}) == "");
  BOOST_TEST(usage_error({"--no-whitespace"}) ==
             "--no-whitespace needs --heatmap or FILE: choose one of them, or leave "
             "--no-whitespace out");
}

BOOST_AUTO_TEST_CASE(what_was_typed_excludes_whatever_its_value) {
  BOOST_TEST(usage_error({"--stream"}) == "");
  for (const char* value : {"1", "2", "0"})
    BOOST_TEST(usage_error({"--stream", "--nbest", value}) ==
               "--stream cannot be used with --nbest: leave one of them out");
  BOOST_TEST(usage_error({"--no-stream", "--nbest", "1"}) ==
             "--no-stream cannot be used with --nbest: leave one of them out");
}

BOOST_AUTO_TEST_CASE(excludes_each_of_its_conditions) {
  BOOST_TEST(usage_error({"--beam", "4", "--sample"}) ==
             "--beam cannot be used with --sample: leave one of them out");
  BOOST_TEST(usage_error({"--sample"}) == "");
  BOOST_TEST(usage_error({"--sample", "--no-heatmap"}) == "");
  BOOST_TEST(usage_error({"--lr", "1"}) ==
             "--lr cannot be used with --schedule paper: take --lr-factor");
  BOOST_TEST(usage_error({"--lr", "1", "--schedule", "linear"}) == "");
}

BOOST_AUTO_TEST_CASE(only_what_was_typed_has_to_have_an_effect) {
  const auto message = [](const std::vector<const char*>& words, const char* config) {
    Tool tool;
    return message_of<UsageError>([&] {
      tool.parse(words, [&] {
        tool.options.from_json(parse_json(config, "c"), "c");
        return std::vector<std::string>{};
      });
    });
  };
  const char* const config = R"({"lr":1,"beta":3,"columns":9})";
  BOOST_TEST(message({"--sample"}, config) == "");
  BOOST_TEST(message({"--beta", "1"}, R"({"metric":"ter"})") == "");
  BOOST_TEST(
      message({"--beam", "1"}, R"({"sample":true})").starts_with("--beam cannot be used with"));
  // What the file has turned on can be turned off.
  BOOST_TEST(message({"--stream"}, R"({"nbest":2})") ==
             "--stream cannot be used with --nbest: leave one of them out");
  BOOST_TEST(message({"--stream", "--nbest", "0"}, R"({"nbest":2})") == "");
  BOOST_TEST(message({"--nbest", "2", "--no-stream"}, R"({"stream":true})") == "");
  BOOST_TEST(message({"--no-whitespace"}, R"({"whitespace":true})") == "");
}

BOOST_AUTO_TEST_CASE(open_options_are_not_checked) {
  Tool tool;
  const auto open = [] { return std::vector<std::string>{"schedule"}; };
  BOOST_TEST(tool.parse({"--lr", "1"}, open));
  BOOST_CHECK_THROW(tool.options.check(), UsageError);
  tool.schedule = "linear";
  tool.options.check();
  BOOST_CHECK_THROW(Tool().parse({"--lr", "1", "--columns", "3"}, open), UsageError);
}

BOOST_AUTO_TEST_CASE(a_group_speaks_for_its_options) {
  Options options("tx-x", "groups");
  std::string metric = "bleu";
  int order = 6, digits = 1;
  options.add("--metric", metric, "NAME", "metric");
  options.group("chrF").needs({{"--metric", "chrf"}}).excludes({"--digits"});
  options.add("--order", order, "N", "order").needs({"--digits", {"--metric", "chrf"}});
  options.group("Other");
  options.add("--digits", digits, "N", "digits");
  BOOST_TEST(options.help_text(true).find("\nchrF (needs --metric chrf):\n") != std::string::npos);
  BOOST_TEST(options.man_options().find(".Ss chrF\nNeeds \\-\\-metric chrf.\n.Bl") !=
             std::string::npos);
  const auto message = [&](std::vector<const char*> words) {
    words.insert(words.begin(), "tx-x");
    return message_of<UsageError>([&] { options.parse(int(words.size()), words.data()); });
  };
  BOOST_TEST(message({"--order", "3"}) ==
             "--order needs --metric chrf: add it, or leave --order out");
  BOOST_TEST(message({"--order", "3", "--metric", "chrf"}) == "");
  BOOST_TEST(message({"--order", "3", "--metric", "chrf", "--digits", "2"}) ==
             "--order cannot be used with --digits: leave one of them out");
  BOOST_TEST(message({"--order", "3", "--metric", "chrf", "--digits", "1"}) ==
             "--order cannot be used with --digits: leave one of them out");
}

BOOST_AUTO_TEST_CASE(a_mode_has_its_own_options) {
  const auto message = [](std::vector<const char*> words) {
    Options options("tx-x", "modes");
    bool describe = false, quiet = false, json = false;
    int beam = 4, steps = 1;
    std::vector<std::string> files;
    options.flag("--describe", describe, "describe").is_mode("give only -q with it");
    options.flag("-q,--quiet", quiet, "quiet").goes_with({"--describe"});
    options.add("--beam", beam, "N", "beam");
    options.flag("--json", json, "JSON");
    options.positional("FILE", files, "files");
    options.group("Steps").goes_with({"--describe"});
    options.add("--steps", steps, "N", "steps");
    words.insert(words.begin(), "tx-x");
    return message_of<UsageError>([&] { options.parse(int(words.size()), words.data()); });
  };
  BOOST_TEST(message({"--describe", "-q", "--steps", "1"}) == "");
  BOOST_TEST(message({"--no-describe", "--beam", "1"}) == "");
  const std::string end = " cannot be used with --describe: give only -q with it";
  BOOST_TEST(message({"--describe", "--beam", "4"}) == "--beam" + end);
  BOOST_TEST(message({"--no-json", "--describe"}) == "--no-json" + end);
  BOOST_TEST(message({"--describe", "x"}) == "argument 'x'" + end);
}

BOOST_AUTO_TEST_CASE(standard_input_is_one_of_the_inputs) {
  const auto refused = [](std::vector<const char*> words) {
    std::string list, model, matrices;
    std::vector<std::string> files, names;
    bool live = false, counts = false;
    Options options("tx-x", "reads files");
    options.add("--list", list, "FILE", "list").input();
    options.add("--names", names, "FILE", "names").input().goes_with({"--matrices"});
    options.add("--matrices", matrices, "FILE", "matrices").input().is_mode();
    options.flag("--live", live, "live");
    options.flag("--no-text", counts, "count");
    options.positional("FILE", files, "text").or_standard_input("--live").needs({"--no-text"});
    words.insert(words.begin(), "tx-x");
    return message_of<UsageError>([&] { options.parse(int(words.size()), words.data()); });
  };
  const std::string wanted = "standard input can be only one of the inputs, not both ";
  BOOST_TEST(refused({"--list", "-"}) == "");  // FILE is not read
  BOOST_TEST(refused({"--no-text"}) == "");
  BOOST_TEST(refused({"--list", "-", "--no-text"}) ==
             wanted + "--list and FILE: give files for the others");
  BOOST_TEST(refused({"--list", "-", "--no-text", "a"}) == "");
  BOOST_TEST(refused({"--list", "-", "--no-text", "--live"}) == "");
  BOOST_TEST(refused({"--list", "a", "--no-text", "-", "-"}).starts_with(wanted + "FILE and FILE"));
  BOOST_TEST(refused({"--list", "-", "--names", "a", "--names", "-"})
                 .starts_with(wanted + "--list and --names"));
  BOOST_TEST(refused({"--matrices", "-"}) == "");
  BOOST_TEST(
      refused({"--matrices", "-", "--names", "-"}).starts_with(wanted + "--names and --matrices"));
}

BOOST_AUTO_TEST_CASE(a_fact_is_checked_when_it_is_known) {
  Options options("tx-x", "facts");
  int beam = 4;
  bool echo = false;
  const Condition a("a model of kind", "a", true), b("a model of kind", "b", true);
  options.add("--beam", beam, "N", "beam").needs({a, b});
  options.group("B").needs({b});
  options.flag("--echo", echo, "echo").needs({b});
  const char* words[] = {"tx-x", "--beam", "4"};
  BOOST_TEST(options.parse(3, words));
  options.check_fact(a, "M is of kind a");  // --echo was not typed
  BOOST_TEST(message_of<UsageError>([&] {
               options.check_fact({"a model of kind", "c", true}, "M is of kind c");
             }) == "--beam needs a model of kind a or b: M is of kind c");
  const std::string help = options.help_text(true);
  BOOST_TEST(help.find("beam (default 4)\n") != std::string::npos);
  BOOST_TEST(help.find("\nB (needs a model of kind b):\n") != std::string::npos);
  BOOST_TEST(help.find("echo\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_condition_must_name_an_option) {
  Options options("tx-x", "wrong");
  bool flag = false;
  options.flag("--flag", flag, "flag").needs({"--other"});
  const char* words[] = {"tx-x"};
  BOOST_CHECK_THROW(options.parse(1, words), Bug);
}

BOOST_AUTO_TEST_CASE(conditions_and_old_names_in_the_help) {
  Tool tool;
  const std::string help = tool.options.help_text(true), page = tool.options.man_options();
  BOOST_TEST(help.find("columns (needs --heatmap)\n") != std::string::npos);
  BOOST_TEST(help.find("beam (default 4)\n") != std::string::npos);
  BOOST_TEST(page.find("Rate (default 0).\n") != std::string::npos);
  const std::string words = tool.options.completion();
  BOOST_TEST(words.find("--metric list bleu chrf ter\tmetrics\n") != std::string::npos);
  for (const std::string& text : {help, page, words}) {
    for (const char* absent : {"--width", "\\-width", "--space", "\\-space", "not with"})
      BOOST_TEST(text.find(absent) == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_alias_is_the_option) {
  Tool tool;
  tool.parse({"--width", "5", "--space", "--heatmap", "--metric=ter", "--b=4"});
  BOOST_TEST(tool.width.value() == 5);
  BOOST_TEST(tool.space);
  BOOST_TEST(tool.beta == 4);
  BOOST_TEST(tool.options.given("columns"));
  BOOST_TEST(Tool().parse({"-w", "6", "--heatmap"}));
  BOOST_TEST(usage_error({"--width"}) == "--columns needs a value: N");
  BOOST_TEST(usage_error({"--no-space", "--whitespace", "x"}) ==
             "--whitespace and --no-whitespace contradict each other: give one");
  BOOST_TEST(usage_error({"--widht", "3"}) == "unknown option --widht");
}

BOOST_AUTO_TEST_CASE(long_names_with_one_dash) {
  Options options("tx-x", "one dash");
  std::string name;
  bool lower = false;
  std::vector<std::string> files;
  options.add("-t,--tokenize", name, "NAME", "name").alias("-tok,--tok");
  options.flag("--lowercase", lower, "lower").alias("-lc");
  options.positional("FILE", files, "files");
  for (const auto& words : std::vector<std::vector<const char*>>{
           {"tx-x", "-tok", "-lc"}, {"tx-x", "-tok=-lc"}, {"tx-x", "--tok", "-lc"}}) {
    lower = true;
    BOOST_TEST(options.parse(int(words.size()), words.data()));
    BOOST_TEST(name == "-lc");
  }
  const char* words[] = {"tx-x", "-lc", "--", "-tok"};
  lower = false;
  BOOST_TEST(options.parse(4, words));
  BOOST_TEST(lower);
  BOOST_TEST(files == std::vector<std::string>{"-tok"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(json_has_no_aliases) {
  Tool tool;
  BOOST_CHECK_EXCEPTION(
      tool.options.from_json(parse_json(R"({"width":8})", "c"), "c"), UsageError,
      [](const UsageError& e) { return std::string(e.what()) == "c: unknown option \"width\""; });
}

BOOST_AUTO_TEST_CASE(lists_of_choices) {
  BOOST_TEST(usage_error({"--metric", "ter,bleu"}) == "");
  BOOST_TEST(usage_error({"--metric", "f,ter"}) == "");
  BOOST_TEST(usage_error({"--metric", "ter,blue"}) ==
             "--metric blue: must be a comma-separated list of bleu, chrf, ter; did you "
             "mean bleu?");
  BOOST_TEST(usage_error({"--metric", "ter,ter"}) == "--metric: ter is given twice");
  for (const char* text : {",", "ter,", ",ter", "ter,,bleu"})
    BOOST_TEST(usage_error({"--metric", text})
                   .starts_with("--metric : must be a comma-separated list of"));
  BOOST_TEST(usage_error({"--metric", ""}) == "--metric has an empty value: expected NAMES");
}

BOOST_AUTO_TEST_CASE(zero_and_nothing_as_values) {
  Tool tool;
  tool.parse({"--threads", "0", "--command="});
  BOOST_TEST(tool.threads >= 1);
  BOOST_TEST(tool.command == "");
  tool.parse({"--command", "x", "--command", ""});
  BOOST_TEST(tool.command == "");
  BOOST_TEST(usage_error({"--threads", "1025"}) == "--threads 1025: must be from 0 to 1,024");
  // The initial value means "not given" and may be outside the range.
  Options options("tx-x", "layers");
  int layers = 0;
  options.add("--layers", layers, "N", "layers").range(1, 9);
  options.from_json(parse_json(R"({"layers":0})", "c"), "c");
  BOOST_TEST(message_of<UsageError>([&] {
               options.from_json(parse_json(R"({"layers":10})", "c"), "c");
             }) == "c: --layers 10: must be from 1 to 9");
}
