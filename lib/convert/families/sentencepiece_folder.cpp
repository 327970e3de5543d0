#include "lib/convert/families/sentencepiece_folder.h"

#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/folder.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

class TokensReader {
 public:
  TokensReader(const std::string& folder, const FamilyConfig& config, int64_t rows)
      : folder_(folder), config_(config), rows_(rows) {}

  DecoderTokens read() {
    check_tokeniser();
    content_.model = read_sentencepiece(path_);
    const PieceSplitter splitter(content_.model, path_);
    list(splitter.tokens());
    name_more_rows();
    const SpecialIds special = special_ids(splitter.unk());
    TokenOrder order(texts_, special, folder_ + "/config.json", Start::own);
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    for (const int64_t theirs : controls_)
      if (order.id(theirs) >= Vocabulary::specials) content_.controls.push_back(order.id(theirs));
    return {std::move(order), parse_vocabulary(mapped_bytes(content_), path_)};
  }

 private:
  void check_tokeniser() const {
    if (!file_exists(path_)) {
      if (file_exists(folder_ + "/tokenizer.json"))
        throw DataError(folder_ +
                        " has no tokenizer.model, only tokenizer.json: tx reads vocabularies of "
                        "SentencePiece; ask for that file, which comes with the original weights");
      throw DataError(folder_ + " has no tokenizer.model, its SentencePiece vocabulary");
    }
    const std::string settings = folder_ + "/tokenizer_config.json";
    const Json json = object_or_empty(settings);
    FamilyConfig(json, settings).must_be("add_bos_token", true);
  }

  void list(const std::vector<ListedPiece>& tokens) {
    if (int64_t(tokens.size()) > rows_)
      throw DataError(path_ + " has " + std::to_string(tokens.size()) + " tokens, but " + folder_ +
                      "/config.json says " + std::to_string(rows_));
    for (const ListedPiece& token : tokens) {
      const auto id = int64_t(texts_.size());
      if (token.control) controls_.push_back(id);
      if (token.byte && token.text == "<0x00>") zero_ = id;
      content_.bytes |= token.byte;
      texts_.push_back(token.text);
    }
    in_model_ = int64_t(texts_.size());
  }

  // Of rows that tokenizer.model has no token for.
  void name_more_rows() {
    std::map<int64_t, std::string> names;
    const Json added = object_or_empty(folder_ + "/added_tokens.json");
    for (const auto& [text, id] : added.items())
      if (id.is_number_unsigned()) names[id.get<int64_t>()] = text;
    const Json settings = object_or_empty(folder_ + "/tokenizer_config.json");
    const Json decoder = settings.value("added_tokens_decoder", Json::object());
    for (const auto& [id, token] : decoder.items())
      if (token.is_object() && token.contains("content") && token["content"].is_string() &&
          id.size() < 10 && id.find_first_not_of("0123456789") == id.npos && !id.empty())
        names[std::stoll(id)] = token["content"].get<std::string>();
    std::set<std::string> known(texts_.begin(), texts_.end());
    for (int64_t id = in_model_; id < rows_; ++id) {
      std::string text = names.count(id) > 0 ? names[id] : "";
      if (text.empty() || known.count(text) > 0) text = unnamed_row(id);
      while (!known.insert(text).second) text += '_';
      if (names.count(id) == 0 && spare_ < 0) spare_ = id;
      texts_.push_back(text);
      controls_.push_back(id);
    }
  }

  SpecialIds special_ids(int64_t unk) const {
    SpecialIds ids{-1, unk, one_id("bos_token_id"), one_id("eos_token_id")};
    const Json& pad = config_.json().value("pad_token_id", Json());
    const int64_t own = pad.is_number_unsigned() ? config_.size("pad_token_id") : -1;
    if (own >= 0 && own != unk && own != ids.start && own != ids.eos)
      ids.pad = own;
    else
      ids.pad = zero_ >= 0 ? zero_ : spare_;
    if (ids.pad < 0)
      throw DataError(path_ +
                      " has no token that can be pad: neither pad_token_id of config.json nor a "
                      "token for the byte 0, nor has the embedding a row to spare");
    return ids;
  }

  // A key that may be a list of one.
  int64_t one_id(const char* key) const {
    const Json value = config_.json().value(key, Json());
    if (!value.is_array()) return config_.size(key);
    if (value.size() != 1)
      config_.refuse(std::string(key) + " lists " + std::to_string(value.size()) +
                     " tokens; texts of tx end with one: leave the one that ends a text");
    const Json one{{key, value[0]}};
    return FamilyConfig(one, folder_ + "/config.json").size(key);
  }

  const std::string& folder_;
  const FamilyConfig& config_;
  int64_t rows_;
  std::string path_ = folder_ + "/tokenizer.model";
  MappedTokens content_;
  std::vector<std::string> texts_;
  std::vector<int64_t> controls_;
  int64_t in_model_ = 0, zero_ = -1, spare_ = -1;
};

}  // namespace

std::string unnamed_row(int64_t id) { return "<row-" + std::to_string(id) + ">"; }

DecoderTokens read_decoder_tokens(const std::string& folder, const FamilyConfig& config,
                                  int64_t rows) {
  return TokensReader(folder, config, rows).read();
}

}  // namespace tx
