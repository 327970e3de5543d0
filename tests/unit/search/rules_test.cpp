// Output constraints: each rule by hand, and in every kind of search.
#include "lib/search/rules/rules.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "lib/search/engine/beam.h"
#include "lib/search/rules/forbidden_phrases.h"
#include "lib/search/rules/rule.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

using Ids = std::vector<int>;

bool allows(const Rule& rule, const Ids& tokens, int token) {
  return rule.allows({tokens, 9, nullptr}, token);
}

SearchOptions search_options(int beam, int nbest, bool sample = false) {
  SearchOptions o;
  o.beam = beam;
  o.nbest = nbest;
  o.sample = sample;
  o.max_extra = 4;
  o.prefix = true;
  return o;
}

const std::vector<SearchOptions> kinds = {search_options(1, 1), search_options(4, 4),
                                          search_options(40, 3), search_options(4, 3, true)};

template <class F>
void search_all_ways(const Rules& rules, const std::vector<Source>& sources, F&& check) {
  for (const auto& seeds : {std::vector<uint32_t>{3}, {3, 4}}) {
    const auto models = model_set(small_config(), DType::f32, seeds);
    Backend backend = make_backend(Device::cpu, 1);
    std::vector<const Source*> all;
    for (const Source& source : sources) all.push_back(&source);
    for (const SearchOptions& o : kinds) {
      BatchSearch search(backend, models->transformers(), DType::f32, o, models->forbidden(),
                         rules);
      const auto together = search.run(all, 1000);
      for (size_t i = 0; i < sources.size(); ++i) {
        if (i % 5 == 0)
          BOOST_TEST(exact(search.run(std::span(all).subspan(i, 1), 16)[0]) == exact(together[i]));
        for (const TokenHypothesis& h : together[i]) check(*models, sources[i], h);
      }
    }
  }
}

// With any rules, the score of an output is the model's score of its tokens.
void check_score(const ModelSet& models, const Source& source, const TokenHypothesis& h) {
  Backend backend = make_backend(Device::cpu, 1);
  SearchOptions o;
  o.forced_target = true;
  BatchSearch scoring(backend, models.transformers(), DType::f32, o, models.forbidden());
  Source given = source;
  given.target = h.ids;
  if (h.complete) given.target.push_back(Vocabulary::eos);
  if (given.target.empty()) return;
  const Source* const one[] = {&given};
  const TokenHypothesis wanted = scoring.run(one, 100)[0][0];
  BOOST_TEST(h.log_p == wanted.log_p);
  BOOST_TEST(h.token_log_p == wanted.token_log_p, boost::test_tools::per_element());
}

bool has_phrase(const Ids& ids, const Ids& phrase) {
  return std::search(ids.begin(), ids.end(), phrase.begin(), phrase.end()) != ids.end();
}

int64_t repeated_pairs(const Ids& ids) {
  int64_t repeated = 0;
  for (size_t i = 0; i + 3 < ids.size(); ++i)
    for (size_t j = i + 1; j + 1 < ids.size(); ++j)
      repeated += ids[i] == ids[j] && ids[i + 1] == ids[j + 1];
  return repeated;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rules_by_hand) {
  const MinimumLength two(2);
  BOOST_TEST(!allows(two, {}, Vocabulary::eos));
  BOOST_TEST(!allows(two, {5}, Vocabulary::eos));
  BOOST_TEST(allows(two, {5}, 5));
  BOOST_TEST(allows(two, {5, 6}, Vocabulary::eos));

  const auto words = word_vocabulary(20);
  const NoRepeat once(1, *words), pairs(2, *words), threes(3, *words);
  BOOST_TEST(allows(once, {5, 6}, 7));
  BOOST_TEST(!allows(once, {5, 6}, 5));
  BOOST_TEST(allows(once, {5, 6}, Vocabulary::eos));
  BOOST_TEST(allows(pairs, {}, 5));
  BOOST_TEST(allows(pairs, {5}, 5));
  BOOST_TEST(!allows(pairs, {5, 5}, 5));
  BOOST_TEST(!allows(pairs, {5, 6, 5}, 6));
  BOOST_TEST(allows(pairs, {5, 6, 5}, 7));
  BOOST_TEST(allows(pairs, {5, 6, 5}, Vocabulary::eos));
  BOOST_TEST(!allows(threes, {5, 6, 7, 8, 5, 6}, 7));
  BOOST_TEST(allows(threes, {5, 6, 7, 8, 5, 6}, 8));
  BOOST_TEST(allows(threes, {6, 7, 8, 5, 6}, 7));

  const ForbiddenPhrases phrases({"w5", "w6 w7", "w7  w8 w9", "w9999"}, *word_vocabulary(20));
  BOOST_TEST(!allows(phrases, {}, 5));
  BOOST_TEST(allows(phrases, {}, 6));
  BOOST_TEST(!allows(phrases, {4, 6}, 7));
  BOOST_TEST(allows(phrases, {6, 4}, 7));
  BOOST_TEST(!allows(phrases, {6, 7, 8}, 9));
  BOOST_TEST(allows(phrases, {8}, 9));
  BOOST_TEST(allows(phrases, {8}, Vocabulary::unk));
}

// U+4E2D is three byte tokens, and so is U+4E04, of which two are the same.
BOOST_AUTO_TEST_CASE(the_bytes_of_a_character_are_one_token_of_an_n_gram) {
  const auto vocabulary = subwords();
  const auto id = [&](const char* token) {
    BOOST_REQUIRE(vocabulary->id_of(token) > 0);
    return vocabulary->id_of(token);
  };
  const int the = id("\u2581the"), cat = id("\u2581cat"), last = id("<0xAD>");
  const Ids begin{id("<0xE4>"), id("<0xB8>")}, once{begin[0], begin[1], last};
  const auto after = [&](const Ids& a, int between, const Ids& b) {
    Ids all = a;
    all.push_back(between);
    all.insert(all.end(), b.begin(), b.end());
    return all;
  };
  const NoRepeat one(1, *vocabulary), two(2, *vocabulary), four(4, *vocabulary);
  BOOST_TEST(allows(four, after(once, the, begin), last));
  BOOST_TEST(allows(two, after(once, the, begin), last));
  BOOST_TEST(!allows(one, after(once, the, begin), last));
  BOOST_TEST(allows(one, after(once, the, begin), id("<0x84>")));
  BOOST_TEST(allows(one, once, begin[0]));  // which character it begins is not known
  BOOST_TEST(allows(one, after(once, the, {begin[0]}), begin[1]));
  const Ids pair = after(once, the, once);
  BOOST_TEST(!allows(two, pair, the));
  BOOST_TEST(allows(two, pair, cat));
  BOOST_TEST(!allows(two, after({the}, cat, after({the}, cat, {})), the));
  BOOST_TEST(!allows(four, after(after(once, the, {cat}), cat, after(once, the, {cat})), cat));
}

BOOST_AUTO_TEST_CASE(every_search_begins_with_the_prefix) {
  std::vector<Source> sources = random_sources(12);
  int longest = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t j = 0; j < i * i % 37; ++j) sources[i].prefix.push_back(int(4 + (i + j * j) % 60));
    longest = std::max(longest, int(sources[i].prefix.size()) - int(sources[i].ids.size()));
  }
  BOOST_TEST(longest > 10);  // one is much longer than its source
  size_t behind = 0;
  search_all_ways({}, sources, [&](const ModelSet& models, const Source& source, const auto& h) {
    BOOST_REQUIRE(h.ids.size() >= source.prefix.size());
    BOOST_TEST(std::equal(source.prefix.begin(), source.prefix.end(), h.ids.begin()));
    behind += h.ids.size() > source.prefix.size();
    check_score(models, source, h);
  });
  BOOST_TEST(behind > 100u);
}

// Any tokens whose text agrees, however unlikely; the rules apply to what lies beyond the text.
BOOST_AUTO_TEST_CASE(every_search_begins_with_the_text) {
  struct Once : Rule {
    bool allows(const OpenOutput& output, int token) const override {
      return token == Vocabulary::eos || !std::ranges::count(output.tokens, token);
    }
  };
  const auto words = word_vocabulary(71);
  Rules rules;
  rules.begin_with(std::make_shared<TokenTexts>(*words));
  rules.add(std::make_shared<Once>());
  std::vector<Source> sources = random_sources(12);
  const char* rests[] = {" w1", " w42", " ", " w5"};
  for (size_t i = 0; i < sources.size(); ++i) {
    if (i % 3 > 0) sources[i].prefix = Ids(i, 5);
    sources[i].rest = rests[i % 4];
  }
  sources[1].prefix = {42};
  size_t outputs = 0;
  search_all_ways(rules, sources, [&](const ModelSet& models, const Source& source, const auto& h) {
    const size_t before = source.prefix.size();
    BOOST_REQUIRE(h.ids.size() >= before);
    BOOST_TEST(std::equal(source.prefix.begin(), source.prefix.end(), h.ids.begin()));
    const std::string text = h.ids.size() > before ? words->token_bytes(h.ids[before]) : " ";
    BOOST_TEST_INFO(source.rest);
    BOOST_TEST(text.starts_with(source.rest));
    for (size_t i = before; i < h.ids.size(); ++i)
      BOOST_TEST((std::ranges::count(h.ids, h.ids[i]) == 1 || source.rest == " w42" ||
                  (source.rest == " w5" && h.ids[i] == 5)));
    check_score(models, source, h);
    ++outputs;
  });
  BOOST_TEST(outputs > 100u);
}

// Greedy search from a prefix of its own output gives the same output.
BOOST_AUTO_TEST_CASE(a_prefix_of_the_greedy_output_changes_nothing) {
  const auto models = model_set(small_config(), DType::f32);
  Backend backend = make_backend(Device::cpu, 1);
  BatchSearch search(backend, models->transformers(), DType::f32, kinds[0], models->forbidden());
  for (Source source : random_sources(8)) {
    const Source* const one[] = {&source};
    const auto free = search.run(one, 100);
    const Ids& ids = free[0][0].ids;
    source.prefix.assign(ids.begin(),
                         ids.begin() + ptrdiff_t(std::min(ids.size(), source.ids.size())));
    BOOST_TEST(exact(search.run(one, 100)[0]) == exact(free[0]));
  }
}

BOOST_AUTO_TEST_CASE(every_search_keeps_to_the_rules) {
  Rules rules;
  rules.add(std::make_shared<MinimumLength>(6));
  rules.add(std::make_shared<NoRepeat>(2, *word_vocabulary(71)));
  const Ids pair = {11, 12};
  rules.add(std::make_shared<ForbiddenPhrases>(std::vector<std::string>{"w10", "w11 w12"},
                                               *word_vocabulary(71)));
  std::vector<Source> sources = random_sources(12);
  sources[3].prefix = {10, 11, 12, 5, 6, 5, 6};  // a forced prefix may violate the rules
  search_all_ways(rules, sources, [&](const ModelSet& models, const Source& source, const auto& h) {
    BOOST_TEST((!h.complete || h.ids.size() >= 6u));
    if (source.prefix.empty()) {
      BOOST_TEST(repeated_pairs(h.ids) == 0);
      BOOST_TEST(!std::ranges::count(h.ids, 10));
      BOOST_TEST(!has_phrase(h.ids, pair));
    } else {
      BOOST_TEST(std::equal(source.prefix.begin(), source.prefix.end(), h.ids.begin()));
    }
    check_score(models, source, h);
  });
}

// If the rules allow no further token, the output is cut: here after two tokens.
BOOST_AUTO_TEST_CASE(an_output_that_nothing_may_follow_is_cut) {
  struct Nothing : Rule {
    bool allows(const OpenOutput& output, int token) const override {
      return output.tokens.size() < 2 && token > Vocabulary::eos;
    }
  };
  Rules rules;
  rules.add(std::make_shared<Nothing>());
  search_all_ways(rules, random_sources(6), [&](const ModelSet&, const Source&, const auto& h) {
    BOOST_TEST(!h.complete);
    BOOST_TEST(h.ids.size() == 2u);
    BOOST_TEST(h.token_log_p.size() == 2u);
  });
}

BOOST_AUTO_TEST_CASE(required_phrases_by_hand) {
  const auto list = word_vocabulary(20);
  const RequiredPhrases rule(*list);
  Source source;
  source.phrases = {{5, 6, 7}, {8}};
  const auto fulfilled = [&](const Ids& tokens) { return rule.fulfilled({tokens, 9, &source}); };
  const auto required_tokens = [&](const Ids& tokens) {
    Ids out;
    rule.required_tokens({tokens, 9, &source}, out);
    return out;
  };
  const auto ends = [&](const Ids& tokens) {
    return rule.allows({tokens, 9, &source}, Vocabulary::eos);
  };
  BOOST_TEST(fulfilled({}) == 0);
  BOOST_TEST(required_tokens({}) == (Ids{5, 8}), boost::test_tools::per_element());
  BOOST_TEST(fulfilled({4, 5}) == 1);
  BOOST_TEST(required_tokens({4, 5}) == (Ids{6, 8}), boost::test_tools::per_element());
  BOOST_TEST(fulfilled({5, 6}) == 2);
  BOOST_TEST(fulfilled({5, 6, 4}) == 0);  // an incomplete phrase is abandoned
  BOOST_TEST(fulfilled({5, 6, 5}) == 1);
  BOOST_TEST(fulfilled({5, 6, 8}) == 1);
  BOOST_TEST(fulfilled({5, 6, 7, 4}) == 3);
  BOOST_TEST(required_tokens({5, 6, 7, 4}) == (Ids{8}), boost::test_tools::per_element());
  BOOST_TEST(!ends({5, 6, 7}));
  BOOST_TEST(ends({5, 6, 7, 8}));
  BOOST_TEST(ends({8, 9, 5, 6, 7, 4}));
  BOOST_TEST(fulfilled({8, 9, 5, 6, 7, 4}) == 4);
  BOOST_TEST(rule.allows({Ids{4}, 9, nullptr}, Vocabulary::eos));

  // A longer word is another word; a full stop after the word is allowed.
  const auto vocabulary = subwords();
  const RequiredPhrases words(*vocabulary);
  const int the = vocabulary->id_of("\u2581the");
  BOOST_REQUIRE(the > 0);
  source.phrases = {{the}};
  const auto has = [&](const Ids& tokens) { return words.fulfilled({tokens, 9, &source}) == 1; };
  BOOST_TEST(has({the}));
  BOOST_TEST(has({the, the}));
  BOOST_TEST(has({the, vocabulary->id_of("<0x2E>")}));
  BOOST_TEST(!has({the, vocabulary->id_of("<0x73>")}));
  BOOST_TEST(!has({the, vocabulary->id_of("<0xC3>")}));
  BOOST_TEST(!has({the, vocabulary->id_of("<0xC9>")}));  // its lower bits are a tab's

  // Other tokens make up the same text.
  Ids bytes;
  for (const char* byte : {"\u2581", "<0x74>", "<0x68>", "<0x65>"}) {
    bytes.push_back(vocabulary->id_of(byte));
    BOOST_REQUIRE(bytes.back() >= 0);
    BOOST_TEST(has(bytes) == (bytes.size() == 4));
  }
  bytes.push_back(the);
  BOOST_TEST(has(bytes));
  source.phrases = {{bytes[0]}};  // a space alone has no text to look for
  BOOST_TEST(has({the, bytes[0]}));
  BOOST_TEST(!has({the}));
  source.phrases = {{the}};
  BOOST_TEST(!has({vocabulary->id_of("<0x6F>"), bytes[1], bytes[2], bytes[3]}));  // "othe"
}

BOOST_AUTO_TEST_CASE(places_of_banks) {
  using Places = std::vector<size_t>;
  const auto check = [](const Places& candidates, size_t beam, const Places& wanted) {
    BOOST_TEST(bank_places(candidates, beam) == wanted, boost::test_tools::per_element());
  };
  check({9, 9, 9}, 6, {2, 2, 2});
  check({9, 9, 9}, 7, {2, 2, 3});
  check({9, 9, 0}, 7, {2, 5, 0});  // lower banks first
  check({1, 0, 9}, 6, {1, 0, 5});  // then higher banks
  check({9, 9, 9}, 1, {0, 0, 1});
  check({9, 0, 0}, 4, {4, 0, 0});
  check({1, 1, 1}, 9, {1, 1, 1});
}

// The best output contains every phrase; scores are the model's.
BOOST_AUTO_TEST_CASE(every_beam_holds_what_must_come) {
  std::vector<Source> sources = random_sources(12);
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t j = 0; j < i % 4; ++j)
      sources[i].phrases.push_back({int(10 + 3 * i), int(11 + 3 * i + j)});
    if (i % 3 == 0) sources[i].prefix = {12, 13};
  }
  const auto models = model_set(small_config(), DType::f32, {3, 4});
  Rules rules;
  rules.add(std::make_shared<RequiredPhrases>(models->target()));
  Backend backend = make_backend(Device::cpu, 1);
  int held = 0;
  for (const int beam : {1, 4, 12}) {
    SearchOptions o = search_options(beam, beam);
    o.max_extra = 12;
    o.constraints = true;
    BatchSearch search(backend, models->transformers(), DType::f32, o, models->forbidden(), rules);
    std::vector<const Source*> pointers;
    for (const Source& source : sources) pointers.push_back(&source);
    const auto together = search.run(pointers, 1000);
    for (size_t i = 0; i < sources.size(); ++i) {
      BOOST_TEST(exact(search.run(std::span(pointers).subspan(i, 1), 16)[0]) == exact(together[i]));
      for (const TokenHypothesis& h : together[i]) check_score(*models, sources[i], h);
      for (const Ids& phrase : sources[i].phrases) {
        BOOST_TEST(has_phrase(together[i][0].ids, phrase));
        ++held;
      }
    }
  }
  BOOST_TEST(held == 3 * 18);
}
