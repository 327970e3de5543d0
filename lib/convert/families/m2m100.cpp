// M2M-100 and NLLB of Hugging Face: pre-norm with a norm at the end of each stack, biases
// everywhere, embeddings scaled by sqrt(d_model), fairseq's sinusoids from position 2 on. The
// decoder reads </s>, then the target language.
#include <algorithm>
#include <set>
#include <sstream>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/languages.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

// The tokens of M2M-100 and NLLB: those of sentencepiece.bpe.model, with ids from vocab.json
// (M2M-100) or shifted by one (NLLB), or else those of tokenizer.json (NLLB); then the languages
// and other added tokens, then unused rows.

struct MultilingualTokens {
  TokenOrder order;  // one token per row of the embedding
  Vocabularies vocabularies;
};

// The languages of M2M-100 and of its descendant for WMT 2021, in the order of their rows. Their
// tokenizer hard-codes them; its files do not list them.
constexpr const char* m2m100_codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv "
    "mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su "
    "sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* wmt21_codes = "en ha is ja cs ru zh de";

bool is_letters(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// __de__ (M2M-100) or deu_Latn (NLLB).
bool names_language(const std::string& text, bool nllb) {
  if (!nllb) return text.size() > 4 && text.starts_with("__") && text.ends_with("__");
  return text.size() == 8 && text[3] == '_' && is_letters(text.substr(0, 3)) &&
         is_letters(text.substr(4));
}

// DataError: a file is missing, malformed or without languages, or there are more tokens than rows.
class Reader {
 public:
  Reader(const std::string& directory, const FamilyConfig& config, const ModelSettings& own)
      : directory_(directory),
        config_(config),
        own_(own),
        settings_(object_or_empty(directory + "/tokenizer_config.json")),
        nllb_(is_nllb()),
        rows_(config.size("vocab_size")) {}

  MultilingualTokens read() {
    const auto spec =
        nllb_ && !file_exists(model_path_) ? find_tokenizer(directory_) : std::nullopt;
    content_.model = spec ? tokenizer_bytes(*spec) : read_sentencepiece(model_path_);
    spec ? number_by_tokenizer(*spec) : nllb_ ? number_by_model() : number_by_list();
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
    TokenOrder order(texts_, special, directory_ + "/config.json");
    own_.check_token("unk_token", "<unk>");
    own_.check_token("eos_token", texts_[size_t(special.eos)]);
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    take_languages(order);
    own_.set_tokens(content_, order);
    return {order, stated()};
  }

 private:
  bool is_nllb() const {
    const std::string kind = token_text(settings_.value("tokenizer_class", Json()));
    for (const char* known : {"NllbTokenizer", "NllbTokenizerFast"})
      if (kind == known) return true;
    if (!kind.empty() && kind != "M2M100Tokenizer")
      throw DataError(directory_ + "/tokenizer_config.json: tokenizer_class " + shown(kind) +
                      " is not supported; M2M100Tokenizer and NllbTokenizer are");
    return kind.empty() && !file_exists(directory_ + "/vocab.json");
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

  // Added tokens follow those of the model.
  void number_by_tokenizer(const TokenizerSpec& spec) {
    list_path_ = directory_ + "/tokenizer.json";
    texts_ = spec.tokens;
    for (const AddedToken& token : spec.added)
      if (!token.in_model) texts_.resize(std::min(texts_.size(), size_t(token.id)));
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
    const std::string which = token_text(settings_.value("language_codes", Json("m2m100")));
    if (which != "m2m100" && which != "wmt21")
      throw DataError(directory_ + "/tokenizer_config.json: language_codes " + shown(which) +
                      " is not supported; m2m100 and wmt21 are");
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
      if (added_.count(theirs) > 0 && names_language(texts_[size_t(theirs)], nllb_))
        content_.languages.push_back(id);
    }
    if (content_.languages.empty())
      throw DataError(directory_ + " has no languages: neither tokenizer_config.json nor " +
                      "added_tokens.json, tokenizer.json or special_tokens_map.json lists any");
    content_.language_last = nllb_ && settings_.value("legacy_behaviour", Json()) == true;
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
      if (!names_language(token_text(target), nllb_))
        throw DataError(directory_ + ": forced_bos_token_id " + std::to_string(first) +
                        " is not a language, which is not supported");
    }
    return {{vocabulary(settings_.value("src_lang", Json()), true), vocabulary(target, false)}};
  }

  const std::string& directory_;
  const FamilyConfig& config_;
  const ModelSettings& own_;
  const Json settings_;
  const bool nllb_;
  const int64_t rows_;
  const std::string model_path_ = directory_ + "/sentencepiece.bpe.model";
  std::string list_path_;
  int64_t base_ = 0;  // tokens of the subword model and the special ones before them
  std::vector<std::string> texts_;
  std::map<int64_t, std::string> added_;
  MappedTokens content_;
};

class M2M100 {
 public:
  M2M100(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        settings_(settings),
        config_(settings.config(), directory + "/config.json"),
        tied_(config_.flag("tie_word_embeddings", true)),
        from_(std::make_shared<ForeignTensors>(read_weights(directory))),
        tokens_(read_tokens()),
        map_(*from_) {}

  ForeignModel import() {
    ForeignModel model;
    model.what = "an M2M-100 or NLLB model";
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = tokens_.vocabularies;
    model.content.provenance = Json{{"converted", "M2M-100 of Hugging Face"}};
    check_bias();
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string stack : {"encoder", "decoder"})
      for (const char* name : {".embed_positions.weights", ".embed_positions.weight"})
        map_.ignore("model." + stack + name);
    for (const char* copy : embeddings) map_.ignore(copy);
    map_.ignore("lm_head.weight");
    map_.check_all_used();
    return model;
  }

 private:
  MultilingualTokens read_tokens() const {
    check_rows(*from_, {std::begin(embeddings), std::end(embeddings)}, config_.size("vocab_size"));
    return Reader(directory_, config_, settings_).read();
  }

  static constexpr const char* embeddings[] = {"model.shared.weight",
                                               "model.encoder.embed_tokens.weight",
                                               "model.decoder.embed_tokens.weight"};

  Json model_json() const {
    for (const auto& [key, value] :
         {std::pair{"normalize_before", true}, {"static_position_embeddings", true}})
      config_.must_be(key, value);
    Json json = bart_config(config_, tokens_.order.size(), tokens_.order.size());
    json["norm"] = "pre";
    json["positions"] = "fairseq";
    json["position_offset"] = config_.size("pad_token_id", 1024) + 1;
    json["tie"] = tied_ ? "all" : "embeddings";
    json["scaled_embeddings"] = config_.flag("scale_embedding", true);
    return json;
  }

  // Older files have an output bias of zeros, which transformers no longer reads.
  void check_bias() {
    const std::string name = "final_logits_bias";
    if (from_->find(name) == nullptr) return;
    const int64_t count = tokens_.order.size() - 1;
    std::vector<float> values(static_cast<size_t>(count));
    map_.take(name, {count}).read(0, 1, values.data());
    for (const float x : values)
      if (x != 0) throw DataError(from_->where() + ": " + name + " must be zero");
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const std::vector<int64_t> shape = {tokens_.order.size() - 1, e.cols};
    // bos, the copy of </s> that starts the decoder, is never output.
    if (e.name == "output.bias")
      return tokens_.order.bias(settings_.masked(zeros(1, tokens_.order.size() - 1)));
    if (e.name == "output.weight") return tokens_.order.rows(map_.take_output(shape));
    if (e.name != "embedding.weight") return map_.take(bart_name(e.name), file_shape(e));
    std::vector<std::string> names(std::begin(embeddings), std::end(embeddings));
    if (tied_) names.push_back("lm_head.weight");
    const std::string found = map_.any_of(names);
    return tokens_.order.rows(map_.take(found.empty() ? names[0] : found, shape));
  }

  const std::string& directory_;
  const ModelSettings& settings_;
  FamilyConfig config_;
  bool tied_;
  std::shared_ptr<const ForeignTensors> from_;
  MultilingualTokens tokens_;
  WeightMap map_;
};

}  // namespace

ForeignModel import_m2m100(const std::string& directory, const ModelSettings& settings) {
  return M2M100(directory, settings).import();
}

}  // namespace tx
