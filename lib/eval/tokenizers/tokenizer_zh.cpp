// The tokeniser "zh" as sacreBLEU publishes scores with it. Its table was written with two ranges
// beyond the sixteen bits of a \u escape, which therefore begin and end elsewhere: nearly all from
// U+2001 to U+2A6D (dashes, quotes, arrows, mathematics) stands alone, the ideographs from U+20000
// on do not. Scores are comparable only with these ranges.
#include <algorithm>
#include <iterator>

#include "lib/base/utf8.h"
#include "lib/eval/tokenizers/tokenizer.h"
#include "lib/eval/tokenizers/unicode.h"
#include "lib/eval/tokenizers/western.h"

namespace tx {
namespace {

struct HanRange {
  char32_t first, last;
};

constexpr HanRange single_ranges[] = {
    {0x2001, 0x2A6D},  // meant as extension B of the ideographs
    {0x2E80, 0x2EFF},  // radicals
    {0x2F00, 0x2FDF},  // Kangxi radicals
    {0x2FF0, 0x303F},  // descriptions of ideographs; punctuation
    {0x3100, 0x312F},  // Bopomofo
    {0x31A0, 0x31BF},  // Bopomofo of other languages
    {0x31C0, 0x31EF},  // strokes
    {0x3200, 0x33FF},  // enclosed and squared characters
    {0x3400, 0x4DB5},  // ideographs, extension A
    {0x4E00, 0x9FBB},  // ideographs
    {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9},  // compatibility ideographs
    {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F},                    // vertical forms
    {0xFF00, 0xFFEF},                                      // half and full width
};

bool stands_alone(char32_t c) {
  const auto* range = std::lower_bound(std::begin(single_ranges), std::end(single_ranges), c,
                                       [](const HanRange& r, char32_t x) { return r.last < x; });
  return range != std::end(single_ranges) && range->first <= c;
}

class TokenizerZh : public Tokenizer {
 public:
  std::string name() const override { return "zh"; }

  // No space is put around the line, so a point after a last digit stays there.
  void apply(std::string_view text, std::string& tokenized) override {
    text = strip_left(strip_right(text));
    tokenized.clear();
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      const bool alone = stands_alone(next_code_point(text, i));
      if (alone) tokenized.push_back(' ');
      tokenized.append(text, begin, i - begin);
      if (alone) tokenized.push_back(' ');
    }
    rules_.apply(tokenized);
  }

 private:
  WesternRules rules_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer_zh() { return std::make_unique<TokenizerZh>(); }

}  // namespace tx
