#include "lib/eval/tokenizers/tercom.h"

#include "lib/base/utf8.h"

namespace tx {
namespace {

// Chinese and Japanese punctuation, in full width too.
bool asian_punctuation(char32_t c) {
  return c == 0x3001 || c == 0x3002 || (c >= 0x3008 && c <= 0x3011) ||
         (c >= 0x3014 && c <= 0x301F) || (c >= 0xFF61 && c <= 0xFF65) || c == 0x30FB ||
         c == 0xFF0E || c == 0xFF0C || c == 0xFF1F || (c >= 0xFF1A && c <= 0xFF1B) ||
         (c >= 0xFF01 && c <= 0xFF02) || (c >= 0xFF08 && c <= 0xFF09);
}

// Ideographs, radicals, strokes, squared and compatibility characters. Runs of kana stay whole:
// tercom's rules for them ask for a place that is both the start of the line and after a space.
bool ideographic(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3200 && c <= 0x4DBF) ||
         (c >= 0x31C0 && c <= 0x31EF) || (c >= 0x2E80 && c <= 0x2EFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F);
}

bool western_punctuation(char32_t c) {
  return c < 0x80 && std::string_view(".,?:;!\"()").find(char(c)) != std::string_view::npos;
}

enum class Treat { keep, isolate, remove };

// Treats every character as `treat` says.
template <class F>
void rewrite(std::string_view in, std::string& out, F treat) {
  out.clear();
  for (size_t i = 0; i < in.size();) {
    const size_t begin = i;
    const Treat how = treat(next_code_point(in, i));
    if (how == Treat::remove) continue;
    if (how == Treat::isolate) out.push_back(' ');
    out.append(in, begin, i - begin);
    if (how == Treat::isolate) out.push_back(' ');
  }
}

}  // namespace

TercomTokenizer::TercomTokenizer(const TercomOptions& options) : options_(options) {
  if (!options.case_sensitive) lowercaser_ = std::make_unique<Lowercaser>();
}

void TercomTokenizer::apply(std::string_view text, std::string& tokenized) {
  if (lowercaser_) {
    lowercaser_->apply(text, tokenized);
  } else {
    tokenized = text;
  }
  if (options_.normalize && !tokenized.empty()) {
    resolve_entities(tokenized);
    tokenized.insert(0, 1, ' ').push_back(' ');
    rules_.isolate_symbols(tokenized);
    replace_all(tokenized, "'s ", " 's ");
    rules_.split_points(tokenized);
    if (options_.asian) {
      rewrite(tokenized, next_, [](char32_t c) {
        return ideographic(c) || asian_punctuation(c) ? Treat::isolate : Treat::keep;
      });
      tokenized.swap(next_);
    }
  }
  if (options_.no_punctuation) {
    rewrite(tokenized, next_, [&](char32_t c) {
      const bool mark = western_punctuation(c) || (options_.asian && asian_punctuation(c));
      return mark ? Treat::remove : Treat::keep;
    });
    tokenized.swap(next_);
  }
}

}  // namespace tx
