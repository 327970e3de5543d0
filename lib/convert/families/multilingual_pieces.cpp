#include "lib/convert/families/multilingual_pieces.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/folder.h"
#include "lib/subword/languages.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

// The languages of M2M-100 and of its descendant for WMT 2021 in the order of their rows, which
// their tokeniser knows by heart: a folder that it saves does not list them.
constexpr const char* m2m100_codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv "
    "mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su "
    "sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* wmt21_codes = "en ha is ja cs ru zh de";

// A token of the tokeniser's files: its text, or an object that holds it; "" for anything else.
std::string text_of(const Json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return "";
}

bool is_letters(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// __de__ of M2M-100, deu_Latn of NLLB.
bool names_language(const std::string& text, bool nllb) {
  if (!nllb) return text.size() > 4 && text.starts_with("__") && text.ends_with("__");
  return text.size() == 8 && text[3] == '_' && is_letters(text.substr(0, 3)) &&
         is_letters(text.substr(4));
}

class Reader {
 public:
  Reader(const std::string& folder, const FamilyConfig& config)
      : folder_(folder),
        config_(config),
        settings_(object_or_empty(folder + "/tokenizer_config.json")),
        nllb_(is_nllb()),
        rows_(config.size("vocab_size")) {}

  MultilingualTokens read() {
    content_.model = read_sentencepiece(model_path_);
    nllb_ ? number_by_model() : number_by_list();
    base_ = int64_t(texts_.size());
    add_tokens();
    const auto is_language = [&](const auto& token) { return names_language(token.second, nllb_); };
    if (!nllb_ && std::ranges::none_of(added_, is_language)) add_known_languages();
    name_rows();
    const auto unk = std::find(texts_.begin(), texts_.end(), "<unk>");
    if (unk == texts_.end()) throw DataError(list_path_ + " has no token <unk>");
    const SpecialIds special{config_.size("pad_token_id"), unk - texts_.begin(),
                             config_.size_or("decoder_start_token_id", 2),
                             config_.size("eos_token_id")};
    TokenOrder order(texts_, special, folder_ + "/config.json");
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    take_languages(order);
    return {order, stated()};
  }

 private:
  bool is_nllb() const {
    const std::string kind = text_of(settings_.value("tokenizer_class", Json()));
    for (const char* known : {"NllbTokenizer", "NllbTokenizerFast"})
      if (kind == known) return true;
    if (!kind.empty() && kind != "M2M100Tokenizer")
      throw DataError(folder_ + "/tokenizer_config.json: the tokeniser " + kind.substr(0, 100) +
                      " is not known; M2M100Tokenizer and NllbTokenizer are");
    return kind.empty() && !file_exists(folder_ + "/vocab.json");
  }

  [[noreturn]] void too_many(int64_t tokens) const {
    throw DataError(list_path_ + " and the files beside it number tokens up to " +
                    std::to_string(tokens - 1) + ", but " + folder_ + "/config.json says " +
                    std::to_string(rows_) + " rows");
  }

  // fairseq's four special tokens, then those of the model but its own three.
  void number_by_model() {
    const std::vector<ListedPiece> tokens = PieceSplitter(content_.model, model_path_).tokens();
    const char* const own[] = {"<unk>", "<s>", "</s>"};
    for (size_t id = 0; id < 3; ++id)
      if (tokens.size() < 3 || tokens[id].text != own[id])
        throw DataError(model_path_ + " does not begin with <unk>, <s>, </s>, as NLLB's does");
    texts_ = {"<s>", "<pad>", "</s>", "<unk>"};
    for (size_t id = 3; id < tokens.size(); ++id) texts_.push_back(tokens[id].text);
    if (int64_t(texts_.size()) > rows_) too_many(int64_t(texts_.size()));
    list_path_ = model_path_;
  }

  void number_by_list() {
    list_path_ = folder_ + "/vocab.json";
    texts_ = read_token_ids(list_path_);
    if (int64_t(texts_.size()) > rows_) too_many(int64_t(texts_.size()));
  }

  void add(int64_t id, const std::string& text) {
    if (id < base_ || text.empty()) return;
    if (id >= rows_) too_many(id + 1);
    added_.emplace(id, text);
  }

  // Tokens with numbers of their own: in tokenizer_config.json, added_tokens.json, or
  // tokenizer.json, the first that is there; else the list of special ones goes on counting.
  void add_tokens() {
    const Json decoder = settings_.value("added_tokens_decoder", Json::object());
    for (const auto& [id, token] : decoder.items()) {
      const bool number =
          !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == id.npos;
      if (!number || text_of(token).empty())
        throw DataError(folder_ + "/tokenizer_config.json: added_tokens_decoder is malformed");
      add(std::stoll(id), text_of(token));
    }
    if (!added_.empty()) return;
    const Json names = object_or_empty(folder_ + "/added_tokens.json");
    for (const auto& [text, id] : names.items())
      if (id.is_number_unsigned()) add(to_id(id), text);
    if (!added_.empty()) return;
    const Json tokens = object_or_empty(folder_ + "/tokenizer.json").value("added_tokens", Json());
    for (const Json& token : tokens)
      if (token.is_object() && token.contains("id") && token["id"].is_number_unsigned())
        add(to_id(token["id"]), text_of(token));
    if (added_.empty()) count_on();
  }
  static int64_t to_id(const Json& id) {
    return int64_t(std::min(id.get<uint64_t>(), uint64_t(1) << 40));
  }

  void count_on() {
    Json list = settings_.value("additional_special_tokens", Json());
    if (!list.is_array() || list.empty())
      list = object_or_empty(folder_ + "/special_tokens_map.json")
                 .value("additional_special_tokens", Json());
    const std::set<std::string> known(texts_.begin(), texts_.end());
    int64_t id = base_;
    for (const Json& token : list)
      if (known.count(text_of(token)) == 0) add(id++, text_of(token));
  }

  void add_known_languages() {
    const std::string which = text_of(settings_.value("language_codes", Json("m2m100")));
    if (which != "m2m100" && which != "wmt21")
      throw DataError(folder_ + "/tokenizer_config.json: the list of languages " +
                      which.substr(0, 100) + " is not known; m2m100 and wmt21 are");
    std::istringstream codes(which == "wmt21" ? wmt21_codes : m2m100_codes);
    int64_t id = base_;
    for (std::string code; codes >> code; ++id) {
      if (id >= rows_) too_many(id + 1);
      added_[id] = "__" + code + "__";
    }
  }

  void name_rows() {
    std::set<std::string> known(texts_.begin(), texts_.end());
    for (int64_t id = base_; id < rows_; ++id) {
      const auto at = added_.find(id);
      std::string text = at == added_.end() ? "<row-" + std::to_string(id) + ">" : at->second;
      if (!known.insert(text).second)
        throw DataError(folder_ + ": the token " + to_text(Json(text.substr(0, 100))) +
                        " has two numbers");
      texts_.push_back(std::move(text));
    }
  }

  // Nothing that was added is text, nor is <s>: neither is ever output.
  void take_languages(const TokenOrder& order) {
    std::vector<int64_t> silent;
    for (int64_t id = 0; id < rows_; ++id)
      if (id >= base_ || texts_[size_t(id)] == "<s>") silent.push_back(id);
    for (const int64_t theirs : silent) {
      const int id = order.id(theirs);
      if (id < Vocabulary::specials) continue;
      content_.controls.push_back(id);
      content_.forbidden.push_back(id);
      if (added_.count(theirs) > 0 && names_language(texts_[size_t(theirs)], nllb_))
        content_.languages.push_back(id);
    }
    if (content_.languages.empty())
      throw DataError(folder_ + " names no languages: neither tokenizer_config.json nor " +
                      "added_tokens.json, tokenizer.json or special_tokens_map.json lists them");
    content_.language_last = nllb_ && settings_.value("legacy_behaviour", Json()) == true;
  }

  // With the languages that the folder states.
  Vocabularies stated() const {
    const auto vocabulary = [&](const Json& language, bool is_source) -> Vocabularies::Pointer {
      MappedTokens content = content_;
      const std::string name = text_of(language);
      if (!name.empty()) {
        const auto found = std::ranges::find_if(content.languages, [&](int id) {
          const std::string& token = content.tokens[size_t(id)];
          return token == name || token == "__" + name + "__";
        });
        if (found == content.languages.end())
          throw DataError(folder_ + "/tokenizer_config.json: the language " + name.substr(0, 100) +
                          " is not among the tokens");
        is_source ? set_source_language(content, name, folder_)
                  : set_target_language(content, name, folder_);
      }
      return parse_vocabulary(mapped_bytes(content), model_path_);
    };
    return {{vocabulary(settings_.value("src_lang", Json()), true),
             vocabulary(settings_.value("tgt_lang", Json()), false)}};
  }

  const std::string& folder_;
  const FamilyConfig& config_;
  const Json settings_;
  const bool nllb_;
  const int64_t rows_;
  const std::string model_path_ = folder_ + "/sentencepiece.bpe.model";
  std::string list_path_;
  int64_t base_ = 0;  // tokens that text is cut into, and the special ones before them
  std::vector<std::string> texts_;
  std::map<int64_t, std::string> added_;
  MappedTokens content_;
};

}  // namespace

MultilingualTokens read_multilingual_tokens(const std::string& folder, const FamilyConfig& config) {
  return Reader(folder, config).read();
}

}  // namespace tx
