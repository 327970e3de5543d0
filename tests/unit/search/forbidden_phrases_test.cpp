// --forbid: phrases as text, whatever tokens make them up.
#include "lib/search/rules/forbidden_phrases.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "lib/base/utf8.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

using Ids = std::vector<int>;

bool allows(const Rule& rule, const Ids& tokens, int token) {
  return rule.allows({tokens, 9, nullptr}, token);
}

}  // namespace

// Random sequences of tokens, and bytes, against a search of the text that they make.
BOOST_AUTO_TEST_CASE(forbidden_text_is_blocked_in_every_segmentation) {
  const auto vocabulary = subwords();
  const std::vector<std::string> phrases = {"the",    "cat",       "the cat", "sat.",
                                            "\u00FC", "a t\u00FC", "\u4E2D",  "at \u4E2D",
                                            "t-t",    "  he   at "};
  const std::vector<std::string> wanted = {"the",       "cat",    "the cat",   "sat.", "\u00FC",
                                           "a t\u00FC", "\u4E2D", "at \u4E2D", "t-t",  "he at"};
  const auto is_letter = [](char32_t c) { return (c >= 'a' && c <= 'z') || c == 0xFC; };
  const auto is_forbidden = [&](const std::string& text) {
    for (const std::string& phrase : wanted)
      for (size_t at = 0; (at = text.find(phrase, at)) != text.npos; ++at) {
        size_t i = 0, before = at, end = at + phrase.size(), behind = end;
        const bool first = is_letter(next_code_point(phrase, i));
        for (size_t k = 0; k < phrase.size();) i = k, next_code_point(phrase, k);
        const bool last = is_letter(next_code_point(phrase, i));
        while (before > 0 && is_continuation(text[--before])) {
        }
        if (first && at > 0 && is_letter(next_code_point(text, before))) continue;
        if (last && end < text.size() && is_letter(next_code_point(text, behind))) continue;
        return true;
      }
    return false;
  };
  std::vector<Ids> units;  // whole characters
  for (const char* token :
       {"\u2581the", "\u2581cat", "\u2581sat", "\u2581", "t", "h", "e", "c", "a"})
    if (vocabulary->id_of(token) > 0) units.push_back({vocabulary->id_of(token)});
  const auto add_bytes = [&](const std::string& text) {
    Ids& ids = units.emplace_back();
    for (const char byte : text) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", unsigned(uint8_t(byte)));
      ids.push_back(vocabulary->id_of(name));
    }
  };
  for (const char* text : {" ", ".", "-", "s", "e", "\u00FC", "\u4E2D", "\u201C", "\n"})
    add_bytes(text);
  BOOST_REQUIRE(units.size() > 12u);
  const ForbiddenPhrases rule(phrases, *vocabulary);
  PhiloxStream random(1, 2);
  int blocked = 0, cut = 0, wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    Ids all;
    for (uint64_t n = random.next() % 9; n-- > 0;) {
      const Ids& unit = units[size_t(random.next()) % units.size()];
      all.insert(all.end(), unit.begin(), unit.end());
    }
    all.push_back(Vocabulary::eos);
    bool allowed = true, last_allowed = true;
    for (size_t at = 0; at < all.size() && allowed; ++at) {
      const std::span<const int> before = std::span(all).first(at);
      allowed = rule.allows({before, 9, nullptr}, all[at]);
      if (at + 2 == all.size()) last_allowed = rule.allows({before, 0, nullptr}, all[at]);
    }
    std::string text = vocabulary->decode(all);
    text.erase(
        std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == a; }),
        text.end());
    wrong += allowed == is_forbidden(text);
    wrong += allowed && !last_allowed;  // an output that is cut does not end in a phrase either
    blocked += !allowed;
    cut += all.size() > 1 && !allowed && !last_allowed;
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(blocked > 10'000);
  BOOST_TEST(blocked < 90'000);
  BOOST_TEST(cut > 1000);
}

BOOST_AUTO_TEST_CASE(forbidden_text_by_hand) {
  const auto vocabulary = subwords();
  const int the = vocabulary->id_of("\u2581the"), s = vocabulary->id_of("<0x73>");
  const ForbiddenPhrases rule({"the"}, *vocabulary), prompted({"the"}, *vocabulary, true);
  BOOST_TEST(allows(rule, {}, the));
  BOOST_TEST(!allows(rule, {the}, Vocabulary::eos));
  BOOST_TEST(!allows(rule, {the}, the));
  BOOST_TEST(allows(rule, {the}, s));
  BOOST_TEST(allows(rule, {the, s}, Vocabulary::eos));
  BOOST_TEST(!rule.allows({Ids{s}, 0, nullptr}, the));  // no token can follow it
  // A prefix may contain the phrase; what follows may not.
  Source source;
  source.prefix = {the};
  BOOST_TEST(rule.allows({Ids{the}, 9, &source}, the));
  BOOST_TEST(!rule.allows({Ids{the, the}, 9, &source}, Vocabulary::eos));
  // The text of a language model goes on from its prompt.
  source.prefix.clear();
  source.ids = {vocabulary->id_of("\u2581"), vocabulary->id_of("<0x74>")};
  const Ids rest{vocabulary->id_of("<0x68>"), vocabulary->id_of("<0x65>")};
  BOOST_TEST(!prompted.allows({rest, 9, &source}, Vocabulary::eos));
  BOOST_TEST(rule.allows({rest, 9, &source}, Vocabulary::eos));
  // Words that subword-nmt has split.
  const auto split = parse_vocabulary(
      "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nzwan@@\nzig\nzwanzig\nste\nzig@@\n", "words");
  for (const char* phrase : {"zwanzig", "zwan@@ zig"}) {
    const ForbiddenPhrases twenty({phrase}, *split);
    BOOST_TEST(!allows(twenty, {}, 6));
    BOOST_TEST(!allows(twenty, {4}, 5));
    BOOST_TEST(allows(twenty, {4}, 8));
    BOOST_TEST(allows(twenty, {4, 8}, 7));
    BOOST_TEST(allows(twenty, {}, 5));
  }
}
