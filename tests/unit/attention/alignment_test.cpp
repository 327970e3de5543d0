#include "lib/attention/alignment.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

// Three source tokens and </s>, two target tokens and </s>.
AttentionRecord record_of_two() {
  AttentionRecord r;
  r.line = 1;
  r.source = {"a", "b", "c", "</s>"};
  r.input = {"<s>", "x", "y"};
  r.target = {"x", "y", "</s>"};
  r.source_ids = {4, 5, 6, 3};
  r.target_ids = {5, 6, 3};
  return r;
}

const AttentionMap map{3, 4, {0.1f, 0.1f, 0.2f, 0.6f, 0.4f, 0.4f, 0, 0.2f, 0, 0.9f, 0.1f, 0}};

}  // namespace

BOOST_AUTO_TEST_CASE(links_of_a_map) {
  Selection selection;
  AttentionRecord r = record_of_two();
  // </s> has no links although it has the largest weight of the first row; 0.4 occurs twice.
  BOOST_TEST(links_of(r, selection, map) == "0-1 2-0");
  selection.shift = true;
  BOOST_TEST(links_of(r, selection, map) == "0-0 1-1");
  // Of a cut output the last token is predicted but never read.
  r.target = {"x", "y", "z"};
  r.target_ids = {5, 6, 7};
  BOOST_TEST(links_of(r, selection, map) == "0-0 1-1");
  selection.shift = false;
  BOOST_TEST(links_of(r, selection, map) == "0-1 1-2 2-0");
}

BOOST_AUTO_TEST_CASE(nothing_to_align) {
  const Selection selection;
  AttentionRecord r = record_of_two();
  r.target = {"</s>"};
  r.target_ids = {3};
  BOOST_TEST(links_of(r, selection, {1, 4, {0.1f, 0.1f, 0.2f, 0.6f}}) == "");
  BOOST_TEST(links_of(AttentionRecord(), selection, {}) == "");
}

// Any selection gives a single map.
BOOST_AUTO_TEST_CASE(the_selection_of_alignments) {
  const Translator translator = tiny_translator(options_of());
  const ModelConfig& config = translator.models().transformers().front()->config();
  SelectionOptions o;
  const Selection usual = o.resolve_aligned(config);
  BOOST_REQUIRE(usual.kinds.size() == 1u);
  BOOST_TEST(usual.kinds[0].layers == std::vector<int>{2});
  BOOST_TEST(usual.mean_of_heads);
  BOOST_TEST(usual.mean_of_layers);
  BOOST_TEST(o.resolve_candidates(config).kinds[0].layers.size() == 3u);
  o.kinds = "encoder";
  BOOST_TEST(message_of<UsageError>([&] { o.resolve_aligned(config); }) ==
             "--kinds encoder: alignments use cross attention; remove --kinds");
}

// If the reference has the links of a head, that head is chosen.
BOOST_AUTO_TEST_CASE(the_head_that_agrees) {
  TempFolder folder;
  const Translator translator = tiny_translator(options_of(2));
  const ModelConfig& config = translator.models().transformers().front()->config();
  SelectionOptions o;
  o.layers = "1";
  o.heads = "3";
  Aligner aligner(o.resolve_aligned(config), translator);
  std::string text = "\t\t\n";
  for (int i = 0; i < 30; ++i) {
    std::vector<int> source, target;
    std::string words[2];
    for (int w = 0; w < 3 + i % 5; ++w) {
      source.push_back(4 + (i * 13 + w * 7) % 60);
      target.push_back(4 + (i * 5 + w * 11) % 60);
      words[0] += (w ? " w" : "w") + std::to_string(source.back());
      words[1] += (w ? " w" : "w") + std::to_string(target.back());
    }
    TokenHypothesis output;
    output.ids = target;
    output.complete = true;
    const Source read{source, i + 1, {}};
    const std::string links = aligner.links(read, output);
    std::vector<std::string> sorted;  // the same links, by target
    for (size_t t = 0; const int64_t s : aligner.sources(read, output))
      sorted.push_back(std::to_string(s) + "-" + std::to_string(t++));
    for (const std::string& link : sorted)
      BOOST_TEST((" " + links + " ").find(" " + link + " ") != std::string::npos);
    text += words[0] + "\t" + words[1] + "\t" + links + "\n";
  }
  const std::string file = folder.file("dev", text);
  const Selection candidates = SelectionOptions().resolve_candidates(config);
  const Selection chosen = chosen_head(candidates, file, translator, Log("test", true));
  BOOST_TEST(chosen.kinds[0].layers == std::vector<int>{1});
  BOOST_TEST(chosen.heads == std::vector<int>{3});
}

BOOST_AUTO_TEST_CASE(files_that_do_not_choose) {
  TempFolder folder;
  const Translator translator = tiny_translator(options_of());
  const Selection candidates =
      SelectionOptions().resolve_candidates(translator.models().transformers().front()->config());
  const auto refusal = [&](const std::string& text) {
    const std::string file = folder.file("dev", text);
    const std::string message = message_of<DataError>(
        [&] { chosen_head(candidates, file, translator, Log("test", true)); });
    return message.substr(folder.path().size() + 1);
  };
  BOOST_TEST(refusal("") == "dev has only blank lines");
  BOOST_TEST(refusal("w5\tw6\t0-0\nw5\tw6\n") ==
             "dev:2: expected three fields separated by tabs: source, target, links (paste(1) "
             "writes them)");
  BOOST_TEST(refusal("w5\tw6\t0-0\nw5\tw6\t0+0\n").starts_with("dev:2: '0+0' is not a link"));
}
