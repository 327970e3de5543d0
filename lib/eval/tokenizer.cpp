#include "lib/eval/tokenizer.h"

#include "lib/base/error.h"

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

struct Kind {
  const char* name;
  std::unique_ptr<Tokenizer> (*make)();
};

constexpr Kind kinds[] = {
    {"13a", make_tokenizer_13a},
    {"char", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<CharTokenizer>(); }},
    {"none", []() -> std::unique_ptr<Tokenizer> { return std::make_unique<NoTokenizer>(); }},
};

}  // namespace

std::vector<std::string> tokenizer_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name) {
  for (const Kind& kind : kinds) {
    if (name == kind.name) return kind.make();
  }
  throw UsageError("no tokenizer is called \"" + name + "\"; choose 13a, char or none");
}

}  // namespace tx
