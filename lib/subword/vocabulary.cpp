#include "lib/subword/vocabulary.h"

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/subword/mapped.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/subword.h"
#include "lib/subword/words.h"

namespace tx {

std::vector<std::string> Vocabulary::tokens(std::span<const int> ids) const {
  std::vector<std::string> out;
  out.reserve(ids.size());
  for (const int id : ids) out.push_back(token(id));
  return out;
}

std::string Vocabulary::hash() const { return xxh3_hex(bytes_.data(), bytes_.size()); }

void Vocabulary::encode(std::string_view, MergeDraws&, std::vector<int>&) const {
  throw Bug("BPE-dropout is used with a vocabulary that has merges", __FILE__, __LINE__);
}

void Vocabulary::restrict_to(const std::vector<std::string>&) {
  throw UsageError("a list of words cannot be restricted: train a shorter one (--vocab-size)");
}

std::optional<float> Vocabulary::score(int) const { return {}; }
bool Vocabulary::is_byte(int) const { return false; }

void Vocabulary::check_id(int id) const {
  if (id >= 0 && id < size()) return;
  throw DataError("id " + std::to_string(id) + " is outside the vocabulary of " +
                  std::to_string(size()) + " tokens");
}

std::unique_ptr<Vocabulary> load_vocabulary(const std::string& path) {
  constexpr int64_t max_bytes = int64_t(1) << 28;  // about a hundred times the largest in use
  return parse_vocabulary(read_file(path, max_bytes), path);
}

std::unique_ptr<Vocabulary> parse_vocabulary(std::string bytes, const std::string& where) {
  if (bytes.empty()) throw DataError(where + " is empty; expected a subword model or a word list");
  if (bytes.starts_with(words_magic)) return parse_words(std::move(bytes), where);
  if (bytes.starts_with(mapped_magic)) return parse_mapped(std::move(bytes), where);
  if (bytes.starts_with('{')) return parse_tokenizer_json(bytes, where);
  return parse_subword(std::move(bytes), where);
}

void check_has_merges(const Vocabulary& vocabulary, const std::string& option) {
  if (vocabulary.has_merges()) return;
  throw UsageError(option +
                   " drops merges, but this vocabulary has none: use a byte-pair encoding model "
                   "with byte fallback, as tx-bpe train makes");
}

std::vector<std::string> describe_shortfall(const Vocabulary& vocabulary, int wanted) {
  if (vocabulary.size() >= wanted) return {};
  return {"the vocabulary has " + std::to_string(vocabulary.size()) + " entries instead of " +
          std::to_string(wanted) + ": the text is too small for more"};
}

std::string sentinel_text(int number) { return sentinel_begin + std::to_string(number) + ">"; }

std::vector<int> sentinels_of(const Vocabulary& vocabulary) {
  std::vector<int> ids;
  for (int id; (id = vocabulary.id_of(sentinel_text(int(ids.size())))) >= 0;) ids.push_back(id);
  return ids;
}

Vocabularies::Pointer with_tokens(const Vocabularies::Pointer& vocabulary,
                                  const std::vector<std::string>& tokens) {
  std::string bytes = vocabulary->bytes();
  if (vocabulary->mapped()) {
    MappedTokens content = *vocabulary->mapped();
    append_tokens(content, tokens);
    bytes = mapped_bytes(content);
  } else if (bytes.starts_with(words_magic)) {
    for (const std::string& token : tokens) bytes += token + "\n";
  } else {
    bytes += user_piece_fields(tokens);
  }
  return parse_vocabulary(std::move(bytes), "the vocabulary with " + tokens.front());
}

Vocabularies::Pointer with_sentinels(const Vocabularies::Pointer& vocabulary) {
  if (!sentinels_of(*vocabulary).empty()) return vocabulary;
  std::vector<std::string> texts;
  for (int i = 0; i < added_sentinels; ++i) texts.push_back(sentinel_text(i));
  if (vocabulary->mapped())
    throw UsageError("this vocabulary has no tokens " + texts[0] + ", " + texts[1] +
                     " ..., and they cannot be added to it");
  return with_tokens(vocabulary, texts);
}

}  // namespace tx
