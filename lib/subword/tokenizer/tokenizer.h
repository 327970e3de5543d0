// A tokenizer that gives the same ids as Hugging Face's tokenizers for the same description. The
// versions of Unicode differ: in Debian 12 PCRE2 has 14 and utf8proc 15; tokenizers 0.23 has a
// newer one in expressions, 12 in normal forms and 8 in the classes of BERT and Punctuation.
// Characters that are not in all of them can have other ids.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/subword/tokenizer/spec.h"

namespace tx {

// Thread-safe. Ids are those of the description.
class SpecTokenizer {
 public:
  // DataError from `where`: a step that is not supported, or a malformed description.
  SpecTokenizer(TokenizerSpec spec, const std::string& where);
  ~SpecTokenizer();

  const TokenizerSpec& spec() const;
  // Appends the ids of a line of valid UTF-8, without those that the description puts around it.
  void encode(std::string_view line, std::vector<int>& ids) const;
  // The first word of a line in which a character has no token; "" if there is none.
  std::string first_unknown(std::string_view line) const;
  // The text of ids, without special tokens; it may be invalid UTF-8 or contain line feeds.
  std::string decode(std::span<const int> ids) const;
  // What the token adds to a text within a line; nothing if it is special.
  std::string bytes(int id) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tx
