// Outputs are valid UTF-8 for any scores of byte tokens.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/utf8.h"
#include "lib/search/engine/legal_rows.h"
#include "lib/search/rules/rules.h"
#include "lib/subword/subword.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

// The 256 bytes and a few words.
std::shared_ptr<const Vocabulary> byte_vocabulary() {
  static const std::shared_ptr<const Vocabulary> made = [] {
    WordCounts counts = {{"the", 30}, {"cat", 20}, {"sat", 10}};
    SubwordTraining options;
    options.vocab_size = 290;
    return std::shared_ptr(parse_subword(train_subword(counts, options), "test"));
  }();
  return made;
}

int token_of(int byte) {
  char text[8];
  std::snprintf(text, sizeof text, "<0x%02X>", byte);
  return byte_vocabulary()->id_of(text);
}

ModelConfig byte_config() {
  ModelConfig config = small_config();
  config.set_vocabularies(byte_vocabulary()->size());
  return config;
}

// Random weights, so that most outputs would be invalid UTF-8.
std::unique_ptr<ModelSet> byte_models(std::vector<uint32_t> seeds) {
  auto backend = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  std::vector<LoadedModel> models;
  for (const uint32_t seed : seeds) {
    models.push_back(loaded_model(*backend, byte_config(), DType::f32, seed, 300));
    models.back().vocabularies = {byte_vocabulary(), 2};
  }
  return std::make_unique<ModelSet>(std::move(backend), std::move(models));
}

std::string bytes_of(const std::vector<int>& ids) {
  std::string out;
  for (const int id : ids) {
    if (byte_vocabulary()->is_byte(id))
      out += char(std::stoi(byte_vocabulary()->token(id).substr(3, 2), nullptr, 16));
    else
      out += byte_vocabulary()->token(id);
  }
  return out;
}

std::vector<Translation> search(BatchSearch& batch, const std::vector<Source>& sources,
                                int64_t at_a_time) {
  std::vector<const Source*> all;
  for (const Source& source : sources) all.push_back(&source);
  return batch.run(all, at_a_time);
}

SearchOptions search_options(int beam, int nbest, bool sample = false) {
  SearchOptions o;
  o.beam = beam;
  o.nbest = nbest;
  o.sample = sample;
  o.max_extra = 3;
  return o;
}

Rules only(const Utf8Guard& guard) {
  Rules rules;
  rules.add(std::make_shared<Utf8Guard>(guard));
  return rules;
}

int invalid_outputs(const std::vector<Translation>& found) {
  int invalid = 0;
  for (const Translation& t : found)
    for (const TokenHypothesis& h : t) invalid += count_invalid_utf8(bytes_of(h.ids)) > 0;
  return invalid;
}

// Bytes at the limits of the standard's ranges.
constexpr int edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                         0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};

void try_all(const Utf8Guard& guard, const Utf8Guard::State& state, const std::string& before,
             int more, int64_t& wrong) {
  wrong += (state.lacking == 0) != (count_invalid_utf8(before) == 0);
  if (state.lacking > 0) {  // an open sequence can be completed
    const std::string end = char(state.low) + std::string(state.lacking - 1, '\x80');
    wrong += count_invalid_utf8(before + end) != 0;
  }
  if (more == 0) return;
  for (const int byte : edges) {
    const std::string longer = before + char(byte);
    if (guard.allows(state, token_of(byte), 9)) {
      try_all(guard, guard.after(state, token_of(byte)), longer, more - 1, wrong);
    } else {  // no continuation is valid
      for (const std::string end : {"", "\x80", "\x90\x80", "\xA0\x80", "\x90\x80\x80"})
        wrong += count_invalid_utf8(longer + end) == 0;
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_guard_takes_utf8_and_nothing_else) {
  const Utf8Guard guard(*byte_vocabulary());
  BOOST_TEST(guard.needed());
  int64_t wrong = 0;
  try_all(guard, {}, "", 5, wrong);
  BOOST_TEST(wrong == 0);
  // While a sequence is open, neither a word nor the end is allowed.
  const int word = byte_vocabulary()->id_of("\u2581the");
  BOOST_REQUIRE(word > 0);
  const auto open = guard.after({}, token_of(0xC3));
  BOOST_TEST(!guard.allows(open, word, 9));
  BOOST_TEST(!guard.allows(open, Vocabulary::eos, 9));
  BOOST_TEST(guard.allows({}, word, -1));
  BOOST_TEST(guard.allows({}, Vocabulary::eos, -1));
  // The state after several tokens.
  const auto after = [&](std::vector<int> tokens) { return guard.state_of(tokens); };
  BOOST_TEST(after({}).lacking == 0);
  BOOST_TEST(after({word, token_of(0xF0), token_of(0x9F)}).lacking == 2);
  BOOST_TEST(after({token_of(0xE0)}).low == 0xA0);
  BOOST_TEST(after({token_of(0xC3), token_of(0xA4)}).lacking == 0);
  BOOST_TEST(after({token_of(0xC3), word}).lacking == 0);
  BOOST_TEST(after({token_of(0xBF), token_of(0xFF), token_of(0xC3)}).lacking == 1);
  // A sequence may only begin if enough steps are left to complete it.
  BOOST_TEST(guard.allows({}, token_of(0xF0), 3));
  BOOST_TEST(!guard.allows({}, token_of(0xF0), 2));
  BOOST_TEST(!guard.allows({}, token_of(0xC3), 0));
  BOOST_TEST(!Utf8Guard(*word_vocabulary(20)).needed());
}

BOOST_AUTO_TEST_CASE(every_search_gives_utf8_and_a_line_is_searched_alike_in_any_batch) {
  const auto sources = random_sources(24);
  const SearchOptions kinds[] = {search_options(1, 1), search_options(4, 4), search_options(40, 3),
                                 search_options(4, 3, true)};
  for (const auto& seeds : {std::vector<uint32_t>{3}, {3, 4}}) {
    const auto models = byte_models(seeds);
    Backend backend = make_backend(Device::cpu, 1);
    for (const SearchOptions& o : kinds) {
      const Utf8Guard guard(models->target());
      BatchSearch free(backend, models->transformers(), DType::f32, o, models->forbidden());
      BatchSearch kept(backend, models->transformers(), DType::f32, o, models->forbidden(),
                       only(guard));
      BOOST_TEST(invalid_outputs(search(free, sources, 1000)) > 0);
      const auto together = search(kept, sources, 1000);
      BOOST_TEST(invalid_outputs(together) == 0);
      for (size_t i = 0; i < sources.size(); i += 5) {
        const auto alone = search(kept, {sources[i]}, 16);
        BOOST_TEST(exact(alone[0]) == exact(together[i]));
      }
    }
  }
}

// A sample equals that without a guard up to the first token that the guard rejects.
BOOST_AUTO_TEST_CASE(draws_that_may_follow_stay) {
  const auto sources = random_sources(24);
  const auto models = byte_models({3});
  const SearchOptions o = search_options(1, 1, true);
  const Utf8Guard guard(models->target());
  Backend backend = make_backend(Device::cpu, 1);
  BatchSearch free(backend, models->transformers(), DType::f32, o, models->forbidden());
  BatchSearch kept(backend, models->transformers(), DType::f32, o, models->forbidden(),
                   only(guard));
  const auto a = search(free, sources, 1000), b = search(kept, sources, 1000);
  size_t same = 0, redrawn = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::vector<int>&x = a[i][0].ids, &y = b[i][0].ids;
    Utf8Guard::State state;
    int64_t left = o.longest(int64_t(sources[i].ids.size())) - 2;
    for (size_t at = 0; at < x.size(); ++at, --left) {
      if (!guard.allows(state, x[at], left)) {
        ++redrawn;
        break;
      }
      BOOST_REQUIRE(at < y.size());
      BOOST_TEST(x[at] == y[at]);
      state = guard.after(state, x[at]);
      ++same;
    }
  }
  BOOST_TEST(same > 0u);
  BOOST_TEST(redrawn > 0u);
}

// The candidates are the best legal ones of the whole row, in order, with the same bits.
BOOST_AUTO_TEST_CASE(candidates_are_the_best_that_may_follow) {
  const auto models = byte_models({3});
  const auto forbidden = models->forbidden();
  const Utf8Guard guard(models->target());
  Backend backend = make_backend(Device::cpu, 1);
  constexpr int wanted = 8;
  Scorer whole(backend, models->transformers(), DType::f32, 0);
  Scorer top(backend, models->transformers(), DType::f32, wanted + int(forbidden.size()), true);
  const Rules rules = only(guard);
  LegalRows legal(rules, forbidden, wanted);
  const std::vector<std::vector<int>> source = {random_sentence(1, 7)};
  const int64_t steps[] = {9};
  for (Scorer* scorer : {&whole, &top}) {
    scorer->open({int64_t(source[0].size()), 1, 9, 9});
    BOOST_REQUIRE(scorer->admit(source, steps, 1));
  }
  Utf8Guard::State state;
  int64_t left = 7;
  TokenTree tree;
  int32_t leaf = TokenTree::root;
  for (const int token : {int(Vocabulary::bos), token_of(0xF4), token_of(0x80), token_of(0x80),
                          token_of(0x80), token_of('a'), token_of(0xC3)}) {
    const std::vector<IncrementalDecoder::Row> row = {
        {0, token == Vocabulary::bos ? -1 : 0, token}};
    const Scores all = whole.step(row), best = top.step(row);
    state = guard.after(state, token);
    legal.begin();
    if (token != Vocabulary::bos) leaf = tree.add(leaf, token, 0);
    legal.add(tree, leaf, left, nullptr);
    legal.strike(top);
    std::vector<std::pair<float, int>> expected, given;
    for (int id = 0; id < int(all.width); ++id) {
      if (guard.allows(state, id, left) && !std::ranges::count(forbidden, id))
        expected.emplace_back(-all.log_p[id], id);
    }
    std::sort(expected.begin(), expected.end());
    for (int64_t i = 0; i < best.width; ++i) {
      if (best.ids[i] >= 0) given.emplace_back(-best.log_p[i], best.ids[i]);
    }
    BOOST_REQUIRE(given.size() >= std::min(expected.size(), size_t(wanted)));
    for (size_t i = 0; i < given.size(); ++i) BOOST_TEST((given[i] == expected[i]));
    --left;
  }
}

// A given target is scored even if it is invalid UTF-8.
BOOST_AUTO_TEST_CASE(a_given_output_may_be_anything) {
  const auto models = byte_models({3});
  Backend backend = make_backend(Device::cpu, 1);
  SearchOptions o;
  o.forced_target = true;
  std::vector<Source> sources = random_sources(1);
  sources[0].target = {token_of(0xFF), token_of(0xC3), Vocabulary::eos};
  BatchSearch scoring(backend, models->transformers(), DType::f32, o, models->forbidden(),
                      only(Utf8Guard(models->target())));
  const auto found = search(scoring, sources, 1000);
  BOOST_TEST(std::isfinite(found[0][0].log_p));
  BOOST_TEST(found[0][0].ids.size() == 2u);
}
