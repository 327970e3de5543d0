// The tokeniser "intl": three rules, each over the whole line. Like those of 13a a rule goes on
// after what it has matched, both characters of a pair, so the second mark of two in a row may
// lack its context. No space is put around the line: a point after a last digit stays there.
#include <algorithm>
#include <iterator>

#include "lib/base/utf8.h"
#include "lib/eval/tokenizers/tokenizer.h"

namespace tx {
namespace {

using Category = CharacterClass;
constexpr auto other = Category::other, N = Category::number, P = Category::punctuation,
               S = Category::symbol;

struct Character {
  char32_t code;
  Category category;
};
using Characters = std::vector<Character>;

constexpr Character space{' ', other};

// "x." -> "x . " unless x is a number.
void split_mark_after_non_number(const Characters& in, Characters& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    out.push_back(in[i]);
    if (i + 1 == in.size() || in[i].category == N || in[i + 1].category != P) continue;
    out.insert(out.end(), {space, in[++i], space});
  }
}

// ".x" -> " . x" unless x is a number.
void split_mark_before_non_number(const Characters& in, Characters& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    if (i + 1 < in.size() && in[i].category == P && in[i + 1].category != N) {
      out.insert(out.end(), {space, in[i++], space});
    }
    out.push_back(in[i]);
  }
}

class TokenizerIntl : public Tokenizer {
 public:
  TokenizerIntl() {
    for (size_t c = 0; c < std::size(frequent_); ++c) frequent_[c] = class_of(char32_t(c));
  }

  std::string name() const override { return "intl"; }

  void apply(std::string_view text, std::string& tokenized) override {
    one_.clear();
    for (size_t i = 0; i < text.size();) {
      const char32_t c = next_code_point(text, i);
      one_.push_back({c, c < std::size(frequent_) ? frequent_[c] : class_of(c)});
    }
    split_mark_after_non_number(one_, two_);
    split_mark_before_non_number(two_, one_);
    tokenized.clear();
    for (const Character& character : one_) {
      if (character.category == S) tokenized.push_back(' ');
      append_code_point(tokenized, character.code);
      if (character.category == S) tokenized.push_back(' ');
    }
  }

 private:
  Category frequent_[0x500];  // Latin, Greek and Cyrillic, looked up without a search
  Characters one_, two_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer_intl() { return std::make_unique<TokenizerIntl>(); }

}  // namespace tx
