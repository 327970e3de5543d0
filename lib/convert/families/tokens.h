// Vocabularies of other toolkits, reordered for tx: pad, unk, bos, eos, then the rest.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/int8.h"
#include "lib/base/json.h"
#include "lib/subword/mapped.h"

namespace tx {

struct SpecialIds {                              // ids in the other toolkit
  int64_t pad = 0, unk = 0, start = 0, eos = 0;  // start: the decoder's first input
};

// copied: the start token is also another token (often eos or pad), so bos gets a copy of its
// embedding row, and bos is never output. own: the start token is bos and nothing else.
enum class Start { copied, own };

// The other toolkit's ("their") tokens in tx's ("our") order.
class TokenOrder {
 public:
  // `tokens` in the order of their ids. DataError that begins with `where`: a special id is out of
  // range, or two of pad, unk, eos (and an own start) are the same.
  TokenOrder(const std::vector<std::string>& tokens, const SpecialIds& special,
             const std::string& where, Start start = Start::copied);
  // From the original ids in a mapped vocabulary; with a copied start it has one more token.
  static TokenOrder of(const MappedTokens& content, const std::string& where,
                       Start start = Start::copied);
  const std::vector<std::string>& tokens() const { return tokens_; }
  int64_t from(int id) const { return from_[size_t(id)]; }  // their id for one of ours
  int64_t size() const { return int64_t(from_.size()); }
  int id(int64_t theirs) const;  // -1: no such token
  // A vocabulary of these tokens, to be completed.
  MappedTokens content() const;
  // Their embedding rows in our order.
  WeightRows rows(WeightRows theirs) const;
  // Their output bias in our order; bos, a copy, gets `never`, and pad if it is not in the softmax.
  WeightRows bias(WeightRows theirs, bool without_pad = false) const;
  // The same where `theirs` may be shorter than their tokens: the others get `never`, and so does
  // bos only if it is a copy.
  WeightRows own_bias(WeightRows theirs) const;

 private:
  std::vector<std::string> tokens_;
  std::vector<int64_t> from_;  // their id for each of ours
  std::vector<int> to_;        // our id for each of theirs
  Start start_;
};

// The tokens of a language model whose text a description splits.
struct SpecTokens {
  TokenOrder order;  // one token for each row of the embedding
  MappedTokens content;
};
// A row without a token is unused. start: as for TokenOrder. special: pad, unk and start may be -1;
// they are then an unused row, the token of a byte that UTF-8 does not have, or a special token.
// DataError from `where`: there is neither, or there are more tokens than rows.
SpecTokens tokens_of(const TokenizerSpec& spec, int64_t rows, SpecialIds special,
                     const std::string& where, Start start = Start::own);

// The tokens of an encoder-decoder, with the tokens that are set around its texts.
struct ModelTokens {
  TokenOrder order;  // one token for each row of the embedding
  Vocabularies vocabularies;
  std::string languages;  // " from en_XX to ro_RO" where they cannot be chosen
};

// tokenizer.json of a directory; no value if it does not exist. DataError: it is not supported.
std::optional<TokenizerSpec> find_tokenizer(const std::string& directory);

// The bias of tokens that must not be output: probability 0, but finite.
inline constexpr float never = -1e9f;

WeightRows zeros(int64_t rows, int64_t cols);
// `count` rows, each one of `rows`: that with the index from(row); zeros if it is negative.
WeightRows picked(WeightRows rows, int64_t count, std::function<int64_t(int64_t row)> from);
WeightRows with_zeros(WeightRows rows, int64_t count);  // zeros up to `count` rows

// {"token": id, ...}: the tokens in order of id. DataError: the ids are not 0, 1, ... .
std::vector<std::string> read_token_ids(const std::string& path);
std::vector<std::string> tokens_by_id(const Json& json, const std::string& path);

// The tokens of a text with one per line; or, where the path ends in .json, of a JSON list or of
// an object as above. DataError: neither.
std::vector<std::string> listed_tokens(const std::string& text, const std::string& path);

// A word list (lib/subword/words.h) of tokens in our order, for models whose text other programs
// tokenise. The first four get the names of tx's special tokens. A token that is not a valid word
// becomes <row-ID>; duplicates get "_" appended.
std::string word_list(const std::vector<std::string>& tokens);

// The text of a token in the tokenizer's files, a string or an object with "content"; else "".
std::string token_text(const Json& token);

// The text of an embedding row that no token uses.
std::string unnamed_row(int64_t id);

}  // namespace tx
