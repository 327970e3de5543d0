// A Hugging Face model's own settings, which change its outputs: generation_config.json or else the
// older keys of config.json; tokenizer_config.json and special_tokens_map.json. Every key of
// transformers becomes a default of tx-decode's options, is refused or reported by name, or cannot
// change outputs. Other keys are listed in a warning.
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/convert/families/tokens.h"

namespace tx {

class ModelSettings {
 public:
  // Whose tokenizer tx implements: not for a family whose text other programs tokenise.
  enum class Text { raw, tokens };

  // config: the content of config.json, corrected by generation_config.json. start: the number of
  // tokens that the decoder reads before its output; 0 for a language model; -1: 2 with a
  // forced_bos_token_id, else 1. DataError: a malformed value, or one without which the outputs
  // would be wrong.
  ModelSettings(const std::string& directory, Json config, int64_t start, Text text);

  const Json& config() const { return config_; }
  const Json& defaults() const { return defaults_; }  // of tx-decode's options, by their names
  int64_t forced_bos() const { return forced_bos_; }  // -1: none
  const std::vector<std::string>& warnings() const { return warnings_; }
  // DataError unless the tokenizer's setting, such as eos_token, is missing or this token.
  void check_token(const char* key, const std::string& token) const;
  // Sets the tokens that end an output or are never output.
  void set_tokens(MappedTokens& content, const TokenOrder& order) const;
  // For a word list, which can record neither: DataError if there are such tokens besides these.
  void refuse_tokens(const std::vector<int64_t>& known) const;
  // Their output bias with `never` for the tokens that renormalize_logits excludes.
  WeightRows masked(WeightRows theirs) const;

 private:
  void read_generation();
  void read_tokens(const std::string& key, const Json& value);
  void read_option(const std::string& key, const Json& value);
  void read_lengths();
  void read_tokenizer();
  std::vector<int64_t> ids(const std::string& key, const Json& value) const;
  void unsupported(std::string& list, const std::string& key, const Json& value) const;
  void warn_of(const std::string& list, const std::string& where, const char* what);
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

  std::string directory_, where_;  // where_: the file that has the settings of generation
  Json config_, generation_, tokenizer_ = Json::object(), special_ = Json::object(),
                             defaults_ = Json::object();
  int64_t start_, forced_bos_ = -1;
  std::vector<int64_t> ends_, forbidden_, bad_;  // bad_: of bad_words_ids
  std::string unsupported_, unknown_;            // keys
  std::vector<std::string> warnings_;
};

}  // namespace tx
