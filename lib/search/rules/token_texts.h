// The tokens of a vocabulary by their text, to continue a given text in any segmentation.
#pragma once
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

// Thread-safe.
class TokenTexts {
 public:
  // The vocabulary must outlive this.
  explicit TokenTexts(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  const Vocabulary& vocabulary() const { return vocabulary_; }
  size_t bytes(int token) const { return vocabulary_.token_bytes(token).size(); }
  // Sets `tokens`, ascending, to those that an output may continue with if it must begin with
  // `text` (not empty): `text` begins with the token, and other tokens can complete it, or the
  // token begins with `text`. Without those that are never output.
  void choices(std::string_view text, std::vector<int>& tokens) const;

 private:
  using Entry = std::pair<std::string, int>;  // bytes and id
  // Whether `f` holds for one of the tokens that `text` begins with or that begin with `text`.
  template <class F>
  bool any(std::string_view text, F&& f) const;

  const Vocabulary& vocabulary_;
  mutable std::once_flag sorted_;
  mutable std::vector<Entry> entries_;  // in the order of bytes
  mutable size_t longest_ = 0;          // bytes of a token
};

}  // namespace tx
