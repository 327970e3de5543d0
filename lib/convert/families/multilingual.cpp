// The tokens of M2M-100, NLLB and mBART: those of sentencepiece.bpe.model, with ids from vocab.json
// (M2M-100) or shifted by one, or else those of tokenizer.json; then the languages and other added
// tokens, then unused rows.
#include <algorithm>
#include <set>
#include <sstream>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/languages.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

enum class Scheme { m2m100, nllb, mbart };

// The languages of M2M-100, of its descendant for WMT 2021, and of mBART, in the order of their
// rows. Their tokenizers hard-code them; not all of their files list them.
constexpr const char* m2m100_codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv "
    "mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su "
    "sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* wmt21_codes = "en ha is ja cs ru zh de";
constexpr const char* mbart_codes =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN";
constexpr const char* mbart50_codes =  // after those of mBART
    " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF "
    "pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

bool is_letters(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// __de__ (M2M-100), deu_Latn (NLLB) or de_DE (mBART).
bool names_language(const std::string& text, Scheme scheme) {
  if (scheme == Scheme::m2m100)
    return text.size() > 4 && text.starts_with("__") && text.ends_with("__");
  const size_t code = scheme == Scheme::nllb ? 3 : 2;
  return text.size() == code + (scheme == Scheme::nllb ? 5 : 3) && text[code] == '_' &&
         is_letters(text.substr(0, code)) && is_letters(text.substr(code + 1));
}

// DataError: a file is missing, malformed or without languages, or there are more tokens than rows.
class Reader {
 public:
  Reader(const std::string& directory, const FamilyConfig& config, const ModelSettings& own)
      : directory_(directory),
        config_(config),
        own_(own),
        settings_(object_or_empty(directory + "/tokenizer_config.json")),
        class_(token_text(settings_.value("tokenizer_class", Json()))),
        scheme_(find_scheme()),
        rows_(config.size("vocab_size")) {}

  ModelTokens read() {
    const bool listed = scheme_ == Scheme::m2m100;
    const auto spec =
        !listed && !file_exists(model_path_) ? find_tokenizer(directory_) : std::nullopt;
    content_.model = spec ? tokenizer_bytes(*spec) : read_sentencepiece(model_path_);
    spec ? number_by_tokenizer(*spec) : listed ? number_by_list() : number_by_model();
    base_ = int64_t(texts_.size());
    add_tokens();
    const auto is_language = [&](const auto& token) {
      return names_language(token.second, scheme_);
    };
    if (scheme_ != Scheme::nllb && std::ranges::none_of(added_, is_language)) add_known_languages();
    name_rows();
    const auto unk = std::find(texts_.begin(), texts_.end(), "<unk>");
    if (unk == texts_.end()) throw DataError(list_path_ + " has no token <unk>");
    const SpecialIds special{config_.size("pad_token_id"), unk - texts_.begin(), start(),
                             config_.size("eos_token_id")};
    TokenOrder order(texts_, special, directory_ + "/config.json");
    own_.check_token("unk_token", "<unk>");
    own_.check_token("eos_token", texts_[size_t(special.eos)]);
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    take_languages(order);
    own_.set_tokens(content_, order);
    if (is_first_mbart()) return fixed(order);
    return {order, stated(), ""};
  }

 private:
  Scheme find_scheme() {
    if (class_.ends_with("Fast")) class_.resize(class_.size() - 4);
    if (class_.empty())
      class_ = config_.text("model_type") == "mbart"     ? "MBart50Tokenizer"
               : file_exists(directory_ + "/vocab.json") ? "M2M100Tokenizer"
                                                         : "NllbTokenizer";
    if (class_ == "M2M100Tokenizer") return Scheme::m2m100;
    if (class_ == "NllbTokenizer") return Scheme::nllb;
    if (class_ == "MBartTokenizer" || class_ == "MBart50Tokenizer") return Scheme::mbart;
    throw DataError(directory_ + "/tokenizer_config.json: tokenizer_class " + shown(class_) +
                    " is not supported; M2M100Tokenizer, NllbTokenizer, MBartTokenizer and " +
                    "MBart50Tokenizer are");
  }
  // Sources are X </s> LANGUAGE, and the decoder reads its language instead of </s>.
  bool is_first_mbart() const { return class_ == "MBartTokenizer"; }

  int64_t start() const {
    if (!is_first_mbart() || config_.has("decoder_start_token_id"))
      return config_.size_or("decoder_start_token_id", 2);
    return std::ranges::find(texts_, token_text(settings_.value("tgt_lang", Json()))) -
           texts_.begin();
  }

  [[noreturn]] void too_many(int64_t tokens) const {
    throw DataError(list_path_ + " and the tokenizer's files have ids up to " +
                    std::to_string(tokens - 1) + ", but vocab_size in " + directory_ +
                    "/config.json is " + std::to_string(rows_));
  }

  // fairseq's four special tokens, then the model's tokens without its first three.
  void number_by_model() {
    const std::vector<ListedPiece> tokens = PieceSplitter(content_.model, model_path_).tokens();
    const char* const own[] = {"<unk>", "<s>", "</s>"};
    for (size_t id = 0; id < 3; ++id)
      if (tokens.size() < 3 || tokens[id].text != own[id])
        throw DataError(model_path_ + " must begin with <unk>, <s>, </s>");
    texts_ = {"<s>", "<pad>", "</s>", "<unk>"};
    for (size_t id = 3; id < tokens.size(); ++id) texts_.push_back(tokens[id].text);
    if (int64_t(texts_.size()) > rows_) too_many(int64_t(texts_.size()));
    list_path_ = model_path_;
  }

  // Languages and other added tokens follow those of the model.
  void number_by_tokenizer(const TokenizerSpec& spec) {
    list_path_ = directory_ + "/tokenizer.json";
    texts_ = spec.tokens;
    for (const AddedToken& token : spec.added)
      if (!token.in_model || names_language(token.text, scheme_))
        texts_.resize(std::min(texts_.size(), size_t(token.id)));
    if (int64_t(texts_.size()) > rows_) too_many(int64_t(texts_.size()));
    if (std::ranges::count(texts_, "") > 0) throw DataError(list_path_ + ": an id has no token");
  }

  void number_by_list() {
    list_path_ = directory_ + "/vocab.json";
    texts_ = read_token_ids(list_path_);
    if (int64_t(texts_.size()) > rows_) too_many(int64_t(texts_.size()));
  }

  void add(int64_t id, const std::string& text) {
    if (id < base_ || text.empty()) return;
    if (id >= rows_) too_many(id + 1);
    added_.emplace(id, text);
  }

  // Added tokens with ids, from the first of tokenizer_config.json, added_tokens.json and
  // tokenizer.json that has some; else the additional special tokens get consecutive ids.
  void add_tokens() {
    const Json decoder = settings_.value("added_tokens_decoder", Json::object());
    for (const auto& [id, token] : decoder.items()) {
      const bool number =
          !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == id.npos;
      if (!number || token_text(token).empty())
        throw DataError(directory_ + "/tokenizer_config.json: added_tokens_decoder is malformed");
      add(std::stoll(id), token_text(token));
    }
    if (!added_.empty()) return;
    const Json names = object_or_empty(directory_ + "/added_tokens.json");
    for (const auto& [text, id] : names.items())
      if (id.is_number_unsigned()) add(to_id(id), text);
    if (!added_.empty()) return;
    const Json tokens =
        object_or_empty(directory_ + "/tokenizer.json", "model").value("added_tokens", Json());
    for (const Json& token : tokens)
      if (token.is_object() && token.contains("id") && token["id"].is_number_unsigned())
        add(to_id(token["id"]), token_text(token));
    if (added_.empty()) count_on();
  }
  static int64_t to_id(const Json& id) {
    return int64_t(std::min(id.get<uint64_t>(), uint64_t(1) << 40));
  }

  void count_on() {
    Json list = settings_.value("additional_special_tokens", Json());
    if (!list.is_array() || list.empty())
      list = object_or_empty(directory_ + "/special_tokens_map.json")
                 .value("additional_special_tokens", Json());
    const std::set<std::string> known(texts_.begin(), texts_.end());
    int64_t id = base_;
    for (const Json& token : list)
      if (known.count(token_text(token)) == 0) add(id++, token_text(token));
  }

  void add_known_languages() {
    const bool mbart = scheme_ == Scheme::mbart;
    const std::string which = token_text(settings_.value("language_codes", Json("m2m100")));
    if (!mbart && which != "m2m100" && which != "wmt21")
      throw DataError(directory_ + "/tokenizer_config.json: language_codes " + shown(which) +
                      " is not supported; m2m100 and wmt21 are");
    std::istringstream codes(mbart
                                 ? mbart_codes + std::string(is_first_mbart() ? "" : mbart50_codes)
                             : which == "wmt21" ? wmt21_codes
                                                : m2m100_codes);
    int64_t id = base_;
    for (std::string code; codes >> code; ++id) {
      if (id >= rows_) too_many(id + 1);
      added_[id] = mbart ? code : "__" + code + "__";
    }
  }

  void name_rows() {
    std::set<std::string> known(texts_.begin(), texts_.end());
    for (int64_t id = base_; id < rows_; ++id) {
      const auto at = added_.find(id);
      std::string text = at == added_.end() ? unnamed_row(id) : at->second;
      if (!known.insert(text).second)
        throw DataError(directory_ + ": the token " + shown(text) + " has two ids");
      texts_.push_back(std::move(text));
    }
  }

  // Added tokens and <s> have no text and are never output.
  void take_languages(const TokenOrder& order) {
    std::vector<int64_t> silent;
    for (int64_t id = 0; id < rows_; ++id)
      if (id >= base_ || texts_[size_t(id)] == "<s>") silent.push_back(id);
    for (const int64_t theirs : silent) {
      const int id = order.id(theirs);
      if (id < Vocabulary::specials) continue;
      content_.controls.push_back(id);
      content_.forbidden.push_back(id);
      if (added_.count(theirs) > 0 && names_language(texts_[size_t(theirs)], scheme_))
        content_.languages.push_back(id);
    }
    if (content_.languages.empty())
      throw DataError(directory_ + " has no languages: neither tokenizer_config.json nor " +
                      "added_tokens.json, tokenizer.json or special_tokens_map.json lists any");
    content_.language_last =
        scheme_ == Scheme::nllb && settings_.value("legacy_behaviour", Json()) == true;
  }

  // The tokens of the first mBART: the decoder's start token is the language of the output, which
  // cannot be chosen.
  ModelTokens fixed(const TokenOrder& order) {
    const std::string path = directory_ + "/tokenizer_config.json",
                      source = token_text(settings_.value("src_lang", Json("en_XX"))),
                      target = texts_[size_t(order.from(Vocabulary::bos))];
    if (!names_language(target, scheme_))
      throw DataError(directory_ + "/config.json: decoder_start_token_id is " + shown(target) +
                      ", which is not a language");
    content_.languages.clear();
    const Vocabularies::Pointer output = parse_vocabulary(mapped_bytes(content_), model_path_);
    const int id = order.id(std::ranges::find(texts_, source) - texts_.begin());
    if (id < 0 || !names_language(source, scheme_))
      throw DataError(path + ": the language " + shown(source) + " is not in the vocabulary");
    content_.closing = {Vocabulary::eos, id};
    return {order,
            {{parse_vocabulary(mapped_bytes(content_), model_path_), output}},
            " from " + source + " to " + target};
  }

  // Sets the default languages of the tokenizer's configuration.
  Vocabularies stated() const {
    const auto vocabulary = [&](const Json& language, bool is_source) -> Vocabularies::Pointer {
      MappedTokens content = content_;
      const std::string name = token_text(language);
      if (!name.empty()) {
        const auto found = std::ranges::find_if(content.languages, [&](int id) {
          const std::string& token = content.tokens[size_t(id)];
          return token == name || token == "__" + name + "__";
        });
        if (found == content.languages.end())
          throw DataError(directory_ + "/tokenizer_config.json: the language " + shown(name) +
                          " is not in the vocabulary");
        is_source ? set_source_language(content, name, directory_)
                  : set_target_language(content, name, directory_);
      }
      return parse_vocabulary(mapped_bytes(content), model_path_);
    };
    Json target = settings_.value("tgt_lang", Json());
    if (const int64_t first = own_.forced_bos(); first >= 0) {
      target = first < rows_ ? texts_[size_t(first)] : "";
      if (!names_language(token_text(target), scheme_))
        throw DataError(directory_ + ": forced_bos_token_id " + std::to_string(first) +
                        " is not a language, which is not supported");
    }
    return {{vocabulary(settings_.value("src_lang", Json()), true), vocabulary(target, false)}};
  }

  const std::string& directory_;
  const FamilyConfig& config_;
  const ModelSettings& own_;
  const Json settings_;
  std::string class_;  // of the tokenizer
  const Scheme scheme_;
  const int64_t rows_;
  const std::string model_path_ = directory_ + "/sentencepiece.bpe.model";
  std::string list_path_;
  int64_t base_ = 0;  // tokens of the subword model and the special ones before them
  std::vector<std::string> texts_;
  std::map<int64_t, std::string> added_;
  MappedTokens content_;
};

}  // namespace

ModelTokens read_multilingual(const std::string& directory, const FamilyConfig& config,
                              const ModelSettings& settings) {
  return Reader(directory, config, settings).read();
}

}  // namespace tx
