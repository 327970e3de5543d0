#include "lib/eval/tokenizers/tokenizer.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
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
      const bool begins_character = (uint8_t(byte) & 0xC0) != 0x80;
      if (begins_character) tokenized.push_back(' ');
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

struct Kind {
  const char* name;
  std::unique_ptr<Tokenizer> (*make)();
};

constexpr Kind kinds[] = {
    {"13a", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<Tokenizer13a>(); }},
    {"intl", make_tokenizer_intl},
    {"char", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<CharTokenizer>(); }},
    {"zh", make_tokenizer_zh},
    {"none", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<NoTokenizer>(); }},
};

// Of a SentencePiece model; sacreBLEU downloads it, here it is a file.
constexpr const char* piece_tokenizers[] = {"spm", "flores101", "flores200", "spBLEU-1K"};
// Need a dictionary of their own.
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
    if (model.empty()) {
      throw UsageError("--tokenize " + name + " needs a SentencePiece model; give it with -m FILE");
    }
    return std::make_unique<PieceTokenizer>(name, model);
  }
  if (holds(not_built_in, name)) {
    throw UsageError("the tokenizer " + name +
                     " is not built in: it needs MeCab and its dictionary; choose char or spm, or "
                     "tokenize the text and choose none");
  }
  if (!model.empty()) throw UsageError("a model is for --tokenize spm, not for " + name);
  for (const Kind& kind : kinds) {
    if (name == kind.name) return kind.make();
  }
  std::string list;
  for (const std::string& known : tokenizer_names()) list += (list.empty() ? "" : ", ") + known;
  throw UsageError("no tokenizer is called \"" + name + "\"; choose one of " + list);
}

}  // namespace tx
