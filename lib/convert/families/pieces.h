// The vocabulary of another toolkit in the order that tx wants: pad, unk, bos, eos, then the rest.
#pragma once
#include <string>
#include <vector>

#include "kernels/int8.h"
#include "lib/base/json.h"
#include "lib/subword/mapped.h"

namespace tx {

struct SpecialIds {                              // as they are numbered there
  int64_t pad = 0, unk = 0, start = 0, eos = 0;  // start: what the decoder reads first
};

// Whether what the decoder reads first has a row of its own at bos, a copy of its row there, which
// is never output while the token itself may be; or is bos, and no other token.
enum class Start { copied, own };

// Tokens of theirs in our order.
class TokenOrder {
 public:
  // `tokens` in the order of their ids. DataError that begins with `where`: a special id that is
  // none of them, or two of pad, unk and eos (and start, if it is bos) that are one.
  TokenOrder(const std::vector<std::string>& tokens, const SpecialIds& special,
             const std::string& where, Start start = Start::copied);
  // From what a vocabulary of tx says about theirs; with a copied start it has one token more.
  static TokenOrder of(const MappedTokens& content, const std::string& where,
                       Start start = Start::copied);
  const std::vector<std::string>& tokens() const { return tokens_; }
  int64_t from(int id) const { return from_[size_t(id)]; }  // their id of one of ours
  int64_t size() const { return int64_t(from_.size()); }
  int id(int64_t theirs) const;  // -1: there is no such token
  // Their rows (one per token) in our order.
  WeightRows rows(WeightRows theirs) const;
  // A bias in our order; that of bos keeps it from being output.
  WeightRows bias(WeightRows theirs) const;

 private:
  std::vector<std::string> tokens_;
  std::vector<int64_t> from_;  // their id of each of ours
  std::vector<int> to_;        // our id of each of theirs
};

// What keeps a token from being output: small enough to have no probability, and finite.
inline constexpr float never = -1e9f;

// {"piece": id, ...}: the tokens in order of id. Each id from 0 on comes once; DataError otherwise.
std::vector<std::string> read_token_ids(const std::string& path);
std::vector<std::string> tokens_by_id(const Json& json, const std::string& path);

}  // namespace tx
