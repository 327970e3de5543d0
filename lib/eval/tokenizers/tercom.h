// The tokeniser of tercom, the WMT's TER script.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "lib/eval/tokenizers/unicode.h"
#include "lib/eval/tokenizers/western.h"

namespace tx {

struct TercomOptions {
  bool case_sensitive = false;
  bool normalize = false;       // tokenise punctuation, resolve entities
  bool no_punctuation = false;  // leave out . , ? : ; ! " ( )
  bool asian = false;           // both also for Chinese and Japanese characters and punctuation
};

class TercomTokenizer {
 public:
  explicit TercomTokenizer(const TercomOptions& options);
  // Rewrites text (valid UTF-8, one line) so that white space separates its words.
  void apply(std::string_view text, std::string& tokenized);

 private:
  TercomOptions options_;
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  WesternRules rules_;
  std::string next_;
};

}  // namespace tx
