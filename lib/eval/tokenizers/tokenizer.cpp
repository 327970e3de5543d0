#include "lib/eval/tokenizers/tokenizer.h"

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/eval/tokenizers/unicode.h"
#include "lib/eval/tokenizers/western.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

struct NoTokenizer : Tokenizer {
  std::string name() const override { return "none"; }
  void apply(std::string_view text, std::string& tokenized) override { tokenized = text; }
};

struct CharTokenizer : Tokenizer {
  std::string name() const override { return "char"; }
  void apply(std::string_view text, std::string& tokenized) override {
    tokenized.clear();
    for (const char byte : text) {
      if (!is_continuation(byte)) tokenized.push_back(' ');
      tokenized.push_back(byte);
    }
  }
};

class Tokenizer13a : public Tokenizer {
 public:
  std::string name() const override { return "13a"; }
  void apply(std::string_view text, std::string& tokenized) override {
    tokenized.assign(1, ' ').append(text).push_back(' ');
    replace_all(tokenized, "<skipped>", "");
    resolve_entities(tokenized);
    rules_.apply(tokenized);
  }

 private:
  WesternRules rules_;
};

ReadModel read_model = [](const std::string& path) { return read_file(path); };

class PieceTokenizer : public Tokenizer {
 public:
  PieceTokenizer(const std::string& name, const std::string& path)
      : splitter_(read_model(path), path), name_(name + "[" + splitter_.hash() + "]") {}
  std::string name() const override { return name_; }
  void apply(std::string_view text, std::string& tokenized) override {
    splitter_.split(text, tokens_);
    tokenized.clear();
    for (const std::string& token : tokens_) tokenized.append(token).push_back(' ');
  }

 private:
  PieceSplitter splitter_;
  std::string name_;
  std::vector<std::string> tokens_;
};

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
    if (i + 1 < in.size() && in[i].category == P && in[i + 1].category != N)
      out.insert(out.end(), {space, in[i++], space});
    out.push_back(in[i]);
  }
}

// intl: three rules, each over the whole line. Like those of 13a a rule continues after the two
// characters that it matched, so the second mark of two in a row may lack its context. No space is
// added around the line: a point after a last digit stays there.
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

// The ranges of sacreBLEU's zh, with its errors: two exceed the sixteen bits of a \u escape, so
// that nearly everything from U+2001 to U+2A6D (dashes, quotes, arrows, mathematics) is isolated,
// the ideographs from U+20000 on are not. Scores are comparable with its own only with these.
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

  // No space is added around the line, so a point after a last digit stays there.
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

struct Kind {
  const char* name;
  std::unique_ptr<Tokenizer> (*make)();
};

constexpr Kind kinds[] = {
    {"13a", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<Tokenizer13a>(); }},
    {"intl", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<TokenizerIntl>(); }},
    {"char", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<CharTokenizer>(); }},
    {"zh", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<TokenizerZh>(); }},
    {"none", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<NoTokenizer>(); }},
};

// With a SentencePiece model, which sacreBLEU downloads and tx reads from a file.
constexpr const char* piece_tokenizers[] = {"spm", "flores101", "flores200", "spBLEU-1K"};
// These need MeCab and a dictionary.
constexpr const char* not_built_in[] = {"ja-mecab", "ko-mecab"};

template <class Names>
bool holds(const Names& names, const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

void read_tokenizer_models_by(ReadModel read) { read_model = read; }

std::vector<std::string> tokenizer_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  names.insert(names.end(), std::begin(piece_tokenizers), std::end(piece_tokenizers));
  return names;
}

std::vector<std::string> tokenizers_not_built_in() {
  return {std::begin(not_built_in), std::end(not_built_in)};
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const std::string& model) {
  if (holds(piece_tokenizers, name)) {
    if (model.empty())
      throw UsageError("--tokenize " + name + " needs a SentencePiece model; give it with -m FILE");
    return std::make_unique<PieceTokenizer>(name, model);
  }
  if (holds(not_built_in, name))
    throw UsageError("the tokenizer " + name +
                     " is not built in: it needs MeCab and its dictionary; choose char or spm, or "
                     "tokenize the text and choose none");
  if (!model.empty()) throw UsageError("a model is for --tokenize spm, not for " + name);
  for (const Kind& kind : kinds)
    if (name == kind.name) return kind.make();
  throw UsageError("no tokenizer is called \"" + name + "\"; choose one of " +
                   joined(tokenizer_names(), ", "));
}

}  // namespace tx
