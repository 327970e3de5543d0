#include "lib/subword/tokenizer/word_model.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

// WordPiece: the longest token that the word begins with, then the longest of the rest.
class WordPieceModel final : public WordModel {
 public:
  explicit WordPieceModel(const TokenizerSpec& spec)
      : max_characters_(spec.max_characters), unk_(spec.unk) {
    each_model_token(spec, [&](int id, const std::string& text) {
      begins_.add(text, id);
      if (text.starts_with(spec.prefix)) inside_.add(text.substr(spec.prefix.size()), id);
      longest_ = std::max(longest_, text.size());
    });
  }

  void add(std::string_view word, std::vector<int>& ids) const override {
    const size_t begin = ids.size();
    const auto characters = std::ranges::count_if(word, [](char c) { return !is_continuation(c); });
    bool found = characters <= max_characters_;
    for (size_t at = 0; found && at < word.size();) {
      const ModelTokens& tokens = at == 0 ? begins_ : inside_;
      size_t size = std::min(word.size() - at, longest_);
      int id = -1;
      for (; size > 0; --size) {
        const bool whole = at + size == word.size() || !is_continuation(word[at + size]);
        if (whole && (id = tokens.find(word.substr(at, size))) >= 0) break;
      }
      ids.push_back(id);
      found = id >= 0;
      at += size;
    }
    if (found) return;
    ids.resize(begin);
    if (unk_ >= 0) ids.push_back(unk_);
  }

 private:
  int64_t max_characters_;
  int unk_;
  size_t longest_ = 0;
  ModelTokens begins_, inside_;
};

}  // namespace

ModelTokens::ModelTokens(const TokenizerSpec& spec) {
  ids_.reserve(spec.tokens.size());
  each_model_token(spec, [&](int id, const std::string& text) { add(text, id); });
}

std::array<int, 256> byte_tokens(const ModelTokens& tokens) {
  std::array<int, 256> ids{};
  for (unsigned i = 0; i < 256; ++i) ids[i] = tokens.find(formatted("<0x%02X>", i));
  return ids;
}

char32_t character_of_byte(unsigned char byte) {
  const auto printable = [](unsigned b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
  };
  if (printable(byte)) return byte;
  char32_t c = 0x100;
  for (unsigned b = 0; b < byte; ++b) c += printable(b) ? 0 : 1;
  return c;
}

bool bytes_of_token(std::string_view token, std::string& bytes) {
  static const std::array<int, 0x144> bytes_of = [] {
    std::array<int, 0x144> all;
    all.fill(-1);
    for (int b = 0; b < 256; ++b) all[character_of_byte(static_cast<unsigned char>(b))] = b;
    return all;
  }();
  bytes.clear();
  if (count_invalid_utf8(token) > 0) return false;
  for (size_t i = 0; i < token.size();) {
    const char32_t c = next_code_point(token, i);
    if (c >= bytes_of.size() || bytes_of[c] < 0) return false;
    bytes += char(bytes_of[c]);
  }
  return true;
}

std::unique_ptr<WordModel> make_word_model(const TokenizerSpec& spec, bool by_bytes,
                                           const std::string& where) {
  if (spec.model == TokenizerSpec::Model::bpe) return make_bpe(spec, by_bytes);
  if (by_bytes)
    throw DataError(where + ": the pre_tokenizer ByteLevel is supported with the model BPE only");
  if (spec.model == TokenizerSpec::Model::unigram) return make_unigram(spec, where);
  return std::make_unique<WordPieceModel>(spec);
}

}  // namespace tx
