// BERT, RoBERTa and XLM-R of Hugging Face (Devlin et al. 2019; Liu et al. 2019; Conneau et al.
// 2020), and their descendants for vectors of sentences, as sentence-transformers saves them: an
// encoder with learned positions, a norm of the embeddings, norms after sub-layers and biases
// everywhere. The vector of the first token type, the only one that a single text has, is added to
// the positions. The token of masks becomes tx's pad.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

// How sentence-transformers makes a vector of a text.
struct Sentences {
  std::string pooling;  // "mean", "first", or empty: not said
  bool unit = false;    // divided by its length
  int64_t longest = 0;  // tokens with the special ones; 0: not said
};

Sentences read_sentences(const std::string& directory) {
  Sentences out;
  const std::string path = directory + "/modules.json";
  if (!file_exists(path)) return out;
  const Json modules = parse_json(read_regular_file(path, 1 << 20), path);
  for (const Json& module : modules.is_array() ? modules : Json::array()) {
    const auto type = json_value<std::string>(module, "type", path);
    const auto folder = json_value<std::string>(module, "path", path, "");
    const std::string kind = type.substr(type.rfind('.') + 1);
    if (kind == "Normalize") {
      out.unit = true;
    } else if (kind == "Pooling" && folder.find("..") == folder.npos) {
      const std::string file = directory + "/" + folder + "/config.json";
      const Json pooling = object_or_empty(file);
      for (const auto& [key, value] : pooling.items()) {
        if (!key.starts_with("pooling_mode_") || value != true) continue;
        if (key != "pooling_mode_mean_tokens" && key != "pooling_mode_cls_token")
          throw DataError(file + ": " + key +
                          " is not supported; the mean and the first token are");
        out.pooling = key == "pooling_mode_cls_token" ? "first" : "mean";
      }
    } else if (kind != "Transformer") {
      throw DataError(path + ": the module " + shown(kind) + " is not supported; Transformer, " +
                      "Pooling and Normalize are");
    }
  }
  const std::string file = directory + "/sentence_bert_config.json";
  const Json json = object_or_empty(file);
  out.longest = FamilyConfig(json, file).size_or("max_seq_length", 0);
  return out;
}

// As transformers makes it of the vocab.txt of a BERT.
Json word_pieces(const std::string& directory) {
  const std::string path = directory + "/vocab.txt",
                    settings = directory + "/tokenizer_config.json";
  const Json own = object_or_empty(settings);
  Json vocab = Json::object(), added = Json::array();
  for (const std::string& line : split_at(read_regular_file(path, int64_t(1) << 28), '\n')) {
    const size_t id = vocab.size();
    if (!line.empty() && !vocab.emplace(line, id).second)
      throw DataError(path + ": the token " + shown(line) + " occurs twice");
    if (line == "[PAD]" || line == "[UNK]" || line == "[CLS]" || line == "[SEP]" ||
        line == "[MASK]")
      added.push_back({{"id", id}, {"content", line}, {"special", true}});
  }
  const auto special = [&](const char* text) {
    if (!vocab.contains(text)) throw DataError(path + " has no token " + text);
    return Json{{"id", text}, {"ids", {vocab[text]}}};
  };
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"lowercase", FamilyConfig(own, settings).flag("do_lower_case", true)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single",
             {{{"SpecialToken", {{"id", "[CLS]"}}}},
              {{"Sequence", {{"id", "A"}}}},
              {{"SpecialToken", {{"id", "[SEP]"}}}}}},
            {"special_tokens", {{"[CLS]", special("[CLS]")}, {"[SEP]", special("[SEP]")}}}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocab}}}};
}

class Bert {
 public:
  Bert(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        config_(settings.config(), directory + "/config.json"),
        roberta_(config_.text("model_type") != "bert"),
        rows_(config_.size("vocab_size")),
        sentences_(read_sentences(directory)),
        weights_(std::make_shared<ForeignTensors>(read_weights(directory))),
        map_(*weights_),
        body_(map_.any_of({body_name()}).empty() ? ""
              : roberta_                         ? "roberta."
                                                 : "bert."),
        head_(roberta_ ? "lm_head." : "cls.predictions."),
        fills_(weights_->find(head_ + "bias") || weights_->find(head_ + "decoder.bias")),
        tokens_(read_tokens()) {}

  ForeignModel import() {
    const std::string kind = config_.text("model_type");
    const char* const name = kind == "bert" ? "BERT" : kind == "roberta" ? "RoBERTa" : "XLM-R";
    ForeignModel model;
    model.what = std::string("a ") + name + " model";
    if (!sentences_.pooling.empty())
      model.what += " for vectors of sentences (--embed " + sentences_.pooling + ")";
    if (!fills_) model.warnings = {directory_ + " has no weights that fill masks, only vectors"};
    add_prompts(model.warnings);
    model.from = weights_;
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = Vocabularies(
        {Vocabularies::Pointer(parse_vocabulary(mapped_bytes(tokens_.content), directory_))});
    model.content.provenance = Json{{"converted", std::string(name) + " of Hugging Face"}};
    add_weights(model, [this](const ParameterEntry& e) { return rows_of(e); });
    ignore_rest();
    map_.check_all_used();
    return model;
  }

 private:
  std::string body_name() const {
    return std::string(roberta_ ? "roberta" : "bert") + ".embeddings.word_embeddings.weight";
  }

  SpecTokens read_tokens() const {
    check_rows(*weights_, {body_ + "embeddings.word_embeddings.weight"}, rows_);
    const bool listed = !roberta_ && !file_exists(directory_ + "/tokenizer.json");
    const std::string path = directory_ + (listed ? "/vocab.txt" : "/tokenizer.json");
    const TokenizerSpec spec =
        read_tokenizer_json(listed ? word_pieces(directory_) : read_object(path), path);
    if (spec.before.size() != 1 || spec.after.size() != 1)
      throw DataError(path + ": its tokenizer must put one token before and one after a text");
    const auto named = [&](const char* text) {
      const auto at = std::ranges::find(spec.tokens, text);
      if (at == spec.tokens.end()) throw DataError(path + " has no token " + text);
      return at - spec.tokens.begin();
    };
    const SpecialIds special{named(roberta_ ? "<mask>" : "[MASK]"),
                             spec.unk >= 0 ? spec.unk : named(roberta_ ? "<unk>" : "[UNK]"),
                             spec.before.front(), spec.after.front()};
    SpecTokens tokens = tokens_of(spec, rows_, special, path);
    tokens.content.closing = {Vocabulary::eos};
    return tokens;
  }

  // The beginnings of texts that a model of sentence-transformers was trained with.
  void add_prompts(std::vector<std::string>& warnings) const {
    const std::string path = directory_ + "/config_sentence_transformers.json";
    const Json json = object_or_empty(path), prompts = json.value("prompts", Json());
    std::string list;
    for (const auto& [name, text] : prompts.items())
      if (text.is_string() && text != "")
        list += (list.empty() ? "" : ", ") + shown(text.get<std::string>());
    if (!list.empty()) warnings.push_back(path + ": its texts begin with one of " + list);
  }

  Json model_json() const {
    config_.must_be("position_embedding_type", "absolute");
    config_.must_be("is_decoder", false);
    const int64_t offset = roberta_ ? config_.size_or("pad_token_id", 1) + 1 : 0;
    int64_t positions = config_.size("max_position_embeddings");
    if (sentences_.longest > 0) positions = std::min(positions, sentences_.longest + offset);
    return Json{{"kind", "encoder"},
                {"source_vocabulary", rows_},
                {"encoder_layers", config_.size("num_hidden_layers", max_layers)},
                {"d_model", config_.size("hidden_size")},
                {"d_ff", config_.size("intermediate_size")},
                {"heads", config_.size("num_attention_heads", 65535)},
                {"activation", activation_of(config_, "hidden_act")},
                {"positions", "learned"},
                {"max_positions", positions},
                {"position_offset", offset},
                {"tie", "all"},
                {"scaled_embeddings", false},
                {"attention_bias", true},
                {"output_bias", fills_},
                {"embedding_norm", true},
                {"output_layer", fills_},
                {"unit_vectors", sentences_.unit},
                {"norm_epsilon", config_.real("layer_norm_eps", 1e-12)}};
  }

  std::string their_name(const std::string& ours) const {
    static const std::pair<const char*, const char*> parts[] = {
        {"self_attn.q_proj", "attention.self.query"},
        {"self_attn.k_proj", "attention.self.key"},
        {"self_attn.v_proj", "attention.self.value"},
        {"self_attn.out_proj", "attention.output.dense"},
        {"self_attn_norm", "attention.output.LayerNorm"},
        {"ffn.in_proj", "intermediate.dense"},
        {"ffn.out_proj", "output.dense"},
        {"ffn_norm", "output.LayerNorm"}};
    const std::string last = ours.substr(ours.rfind('.'));
    const std::string transform = head_ + (roberta_ ? "" : "transform.");
    if (ours.starts_with("output_layer.")) return transform + "dense" + last;
    if (ours.starts_with("output_layer_norm."))
      return transform + (roberta_ ? "layer_norm" : "LayerNorm") + last;
    if (ours.starts_with("encoder.embedding_norm.")) return body_ + "embeddings.LayerNorm" + last;
    std::string name = body_ + "encoder.layer" + ours.substr(ours.find('.', 8));
    for (const auto& [own, theirs] : parts)
      if (const size_t at = name.find(own); at != name.npos)
        return name.replace(at, std::string(own).size(), theirs);
    return name;
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const std::string embeddings = body_ + "embeddings.";
    if (e.name == "embedding.weight" || e.name == "encoder.embedding.weight")
      return tokens_.order.rows(map_.take(embeddings + "word_embeddings.weight", {rows_, e.cols}));
    if (e.name == "output.bias") {
      const std::string name = map_.any_of({head_ + "bias", head_ + "decoder.bias"});
      const WeightRows theirs = map_.take(name, {rows_});
      return {1, rows_, [order = tokens_.order, theirs](int64_t, int64_t count, float* to) {
                if (count == 0) return;
                std::vector<float> all(static_cast<size_t>(theirs.cols));
                theirs.read(0, 1, all.data());
                for (size_t id = 0; id < all.size(); ++id)
                  to[id] = all[size_t(order.from(int(id)))];
              }};
    }
    if (e.name == "encoder.positions.weight") return positions(e);
    std::string name = their_name(e.name);
    if (weights_->find(name) == nullptr) {  // of older files
      const size_t at = name.rfind("LayerNorm.");
      if (at != name.npos)
        name.replace(at + 10, name.npos, name.ends_with("weight") ? "gamma" : "beta");
    }
    return map_.take(name, file_shape(e));
  }

  WeightRows positions(const ParameterEntry& e) {
    const std::string embeddings = body_ + "embeddings.";
    const int64_t count = config_.size("max_position_embeddings");
    const WeightRows rows = map_.take(embeddings + "position_embeddings.weight", {count, e.cols});
    const std::string types = embeddings + "token_type_embeddings.weight";
    std::vector<float> type(size_t(e.cols), 0.0f);
    if (weights_->find(types) != nullptr)
      map_.take(types, {config_.size("type_vocab_size"), e.cols}).read(0, 1, type.data());
    return {e.rows, e.cols, [rows, type](int64_t first, int64_t n, float* to) {
              rows.read(first, n, to);
              for (int64_t i = 0; i < n * rows.cols; ++i) to[i] += type[size_t(i % rows.cols)];
            }};
  }

  // What a tied output and a classifier of pairs add.
  void ignore_rest() {
    for (const char* name : {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"})
      map_.ignore(body_ + name);
    for (const char* name : {"bias", "decoder.bias", "decoder.weight"}) map_.ignore(head_ + name);
    for (const char* name : {"weight", "bias"})
      map_.ignore("cls.seq_relationship." + std::string(name));
  }

  const std::string& directory_;
  FamilyConfig config_;
  bool roberta_;  // or XLM-R
  int64_t rows_;  // of the embedding
  Sentences sentences_;
  std::shared_ptr<const ForeignTensors> weights_;
  WeightMap map_;
  std::string body_, head_;  // the beginnings of names
  bool fills_;               // masks
  SpecTokens tokens_;
};

}  // namespace

ForeignModel import_bert(const std::string& directory, const ModelSettings& settings) {
  return Bert(directory, settings).import();
}

}  // namespace tx
