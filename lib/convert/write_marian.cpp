// A directory of Hugging Face's MarianMT: config.json, model.safetensors, vocab.json, source.spm,
// target.spm and the settings of its tokenizer and its search. MarianMT has the sines in the first
// half of a position's vector, tx interleaves them: so the d_model dimensions of all weights are
// permuted, 2i becomes i, 2i + 1 becomes d_model / 2 + i.
#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/output.h"

namespace tx {

namespace {

constexpr double their_epsilon = 1e-5;

// Token ids in the output: the original ids of an imported vocabulary, else tx's.
class Numbers {
 public:
  Numbers(const Vocabulary& vocabulary, const std::string& where) {
    if (const MappedTokens* content = vocabulary.mapped()) {
      const TokenOrder order = TokenOrder::of(*content, where);
      from_.resize(size_t(order.size()) - 1);
      for (int id = 0; id < order.size(); ++id)
        if (id != Vocabulary::bos) from_[size_t(order.from(id))] = id;
      for (const int64_t id : content->theirs) special_.push_back(id);
    } else {
      for (int id = 0; id < vocabulary.size(); ++id) from_.push_back(id);
      for (int id = 0; id < Vocabulary::specials; ++id) special_.push_back(id);
    }
    for (size_t id = 0; id < from_.size(); ++id) to_[from_[id]] = int64_t(id);
  }
  int64_t count() const { return int64_t(from_.size()); }
  int ours(int64_t id) const { return from_[size_t(id)]; }
  int64_t special(int id) const { return special_[size_t(id)]; }  // of Vocabulary::pad ...
  // bad_words_ids: one list per token that is never output.
  Json lists(const std::vector<int>& ours) const {
    Json lists = Json::array();
    for (const int id : ours)
      if (to_.count(id) > 0) lists.push_back(Json::array({to_.at(id)}));
    return lists;
  }

 private:
  std::vector<int> from_;
  std::map<int, int64_t> to_;
  std::vector<int64_t> special_;
};

class MarianWriter {
 public:
  MarianWriter(OutputDirectory& directory, const ModelReader& model, int max_positions)
      : directory_(directory),
        model_(model),
        config_(model.config()),
        max_positions_(max_positions) {
    for (size_t side = 0; side < 2; ++side) {
      const Vocabulary& v = model.vocabularies()[side];
      if (!has_subword_model(v))
        refuse("its vocabulary is not a SentencePiece model, which the tokenizer needs");
      numbers_.emplace_back(v, model.path());
    }
    for (const int id : {Vocabulary::pad, Vocabulary::unk, Vocabulary::eos})
      if (numbers_[0].special(id) != numbers_[1].special(id))
        refuse("<pad>, <unk> or </s> has different ids in its two vocabularies");
  }

  void write() {
    write_weights();
    write_vocabularies();
    directory_.write_json("config.json", configuration());
    directory_.write_json("generation_config.json", generation());
    const Json tokeniser{{"tokenizer_class", "MarianTokenizer"},
                         {"separate_vocabs", separate()},
                         {"source_lang", ""},
                         {"target_lang", ""},
                         {"model_max_length", max_positions_}};
    directory_.write_json("tokenizer_config.json", tokeniser);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(model_.path() + " cannot be converted to MarianMT: " + why);
  }
  bool shared() const { return config_.shares_embeddings(); }
  // Whether source and target have different vocabularies.
  bool separate() const {
    const Vocabularies& all = model_.vocabularies();
    return !list_same_tokens(all.source(), all.target());
  }

  void write_vocabularies() const {
    for (size_t side = 0; side < 2; ++side) {
      const Vocabulary& v = model_.vocabularies()[side];
      write_atomically(directory_.file(side == 0 ? "source.spm" : "target.spm"), subword_model(v));
      if (side == 1 && !separate()) return;
      Json ids = Json::object();
      for (int64_t id = 0; id < numbers_[side].count(); ++id)
        ids[v.token(numbers_[side].ours(id))] = id;
      directory_.write_json(side == 0 ? "vocab.json" : "target_vocab.json", ids);
    }
  }

  Json generation() const {
    const Numbers& n = numbers_.back();
    return Json{{"bos_token_id", n.special(Vocabulary::eos)},
                {"eos_token_id", n.special(Vocabulary::eos)},
                {"pad_token_id", n.special(Vocabulary::pad)},
                {"decoder_start_token_id", n.special(Vocabulary::bos)},
                {"bad_words_ids", n.lists(forbidden_tokens(model_.vocabularies().target()))},
                {"max_length", max_positions_},
                {"num_beams", 4}};
  }

  Json configuration() const {
    Json json{{"architectures", {"MarianMTModel"}},
              {"model_type", "marian"},
              {"is_encoder_decoder", true},
              {"d_model", config_.d_model},
              {"scale_embedding", config_.scaled_embeddings},
              {"activation_function", activation()},
              {"vocab_size", numbers_[0].count()},
              {"decoder_vocab_size", numbers_[1].count()},
              {"max_position_embeddings", max_positions_},
              {"share_encoder_decoder_embeddings", shared()},
              {"tie_word_embeddings", !config_.has_output()},
              {"torch_dtype", "float32"}};
    for (size_t side = 0; side < 2; ++side) {
      const std::string stack = config_.stack_name(side);
      json[stack + "_layers"] = config_.sides[side].layers;
      json[stack + "_ffn_dim"] = config_.d_ff;
      json[stack + "_attention_heads"] = config_.heads;
    }
    const Json of_search = generation();
    for (const auto& [key, value] : of_search.items())
      if (key.ends_with("_id") || key == "bad_words_ids") json[key] = value;
    return json;
  }

  std::string activation() const {
    static const std::map<Activation, std::string> theirs = {
        {Activation::silu, "swish"},
        {Activation::gelu_tanh, "gelu_new"},
        {Activation::gelu_sigmoid, "quick_gelu"}};
    const auto found = theirs.find(config_.activation);
    return found == theirs.end() ? config_.activation.name : found->second;
  }

  // For each of MarianMT's d_model dimensions, ours.
  std::vector<int64_t> dimensions() const {
    const int64_t half = config_.d_model / 2;
    const bool in_turn = config_.positions == PositionEncoding::sinusoid;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < config_.d_model; ++i)
      order.push_back(!in_turn ? i : i < half ? 2 * i : 2 * (i - half) + 1);
    return order;
  }

  // Whether the rows, or the columns, of a weight are the d_model dimensions.
  static bool model_rows(const ParameterEntry& e) {
    return !e.vector && e.name.ends_with("out_proj.weight");
  }
  static bool model_columns(const ParameterEntry& e) {
    if (!e.vector) return !model_rows(e);
    return e.name.find("norm.") != std::string::npos || e.name.ends_with("out_proj.bias");
  }

  // `tokens`: the ids of the side whose tokens are the rows; null: rows are not tokens.
  WeightRows reordered(const ParameterEntry& e, const Numbers* tokens) const {
    const bool rows = model_rows(e), columns = model_columns(e);
    const WeightRows own = model_.rows(e);
    return {
        tokens != nullptr ? tokens->count() : e.rows, e.cols,
        [=, order = dimensions()](int64_t first, int64_t count, float* to) {
          std::vector<float> row(size_t(e.cols));
          for (int64_t i = first; i < first + count; ++i) {
            const int64_t at = tokens != nullptr ? tokens->ours(i) : rows ? order[size_t(i)] : i;
            own.read(at, 1, row.data());
            for (int64_t j = 0; j < e.cols; ++j)
              *to++ = row[size_t(columns ? order[size_t(j)] : j)];
          }
        }};
  }

  // `e` must be an entry of the model's table: the rows refer to it.
  void add(const std::string& name, const ParameterEntry& e, const Numbers* tokens = nullptr) {
    const WeightRows rows = reordered(e, tokens);
    ParameterEntry there = e;
    there.name = name;
    there.rows = rows.rows;
    tensors_.push_back(float_tensor(there, rows, "F32"));
  }
  void add_bias(const ParameterEntry& e) {
    ParameterEntry there = e;
    there.name = "final_logits_bias";
    there.cols = numbers_[1].count();
    there.vector = false;
    const auto read = [this, own = model_.rows(e)](int64_t, int64_t count, float* to) {
      if (count == 0) return;
      std::vector<float> all(size_t(own.cols));
      own.read(0, 1, all.data());
      for (int64_t id = 0; id < numbers_[1].count(); ++id)
        *to++ = all[size_t(numbers_[1].ours(id))];
    };
    tensors_.push_back(float_tensor(there, {1, there.cols, read}, "F32"));
  }
  void add_zeros(const std::string& name, int64_t rows, int64_t cols, bool vector) {
    ParameterEntry e;
    e.name = name;
    e.rows = rows;
    e.cols = cols;
    e.vector = vector;
    tensors_.push_back(float_tensor(e, zeros(rows, cols), "F32"));
  }

  void write_weights() {
    for (const ParameterEntry& e : model_.table()) {
      if (e.name == "embedding.weight")
        add("model.shared.weight", e, &numbers_[0]);
      else if (e.name == "encoder.embedding.weight")
        add("model.encoder.embed_tokens.weight", e, &numbers_[0]);
      else if (e.name == "decoder.embedding.weight")
        add("model.decoder.embed_tokens.weight", e, &numbers_[1]);
      else if (e.name == "output.weight")
        add("lm_head.weight", e, &numbers_[1]);
      else if (e.name == "output.bias")
        add_bias(e);
      else
        add(bart_name(e.name), e);
      const bool projection = e.name.ends_with("_proj.weight");
      if (projection && e.name.find("attn.") != std::string::npos && !config_.attention_bias) {
        const std::string name = bart_name(e.name);
        add_zeros(name.substr(0, name.size() - 6) + "bias", 1, e.rows, true);
      }
    }
    if (!config_.output_bias) add_zeros("final_logits_bias", 1, numbers_[1].count(), false);
    write_safetensors(directory_.file("model.safetensors"), std::move(tensors_),
                      {{"format", "pt"}});
  }

  OutputDirectory& directory_;
  const ModelReader& model_;
  const ModelConfig& config_;
  int max_positions_;
  std::vector<Numbers> numbers_;
  std::vector<TensorSource> tensors_;
};

void check_marian_can_read(const ModelReader& model) {
  const ModelConfig& c = model.config();
  const auto refuse = [&](const std::string& why) {
    throw DataError(model.path() + " cannot be converted to MarianMT: " + why);
  };
  if (c.kind != ModelKind::encoder_decoder) refuse("its kind is " + c.kind.name);
  if (c.decoder_memory == DecoderMemory::ssru)
    refuse("its decoder is recurrent (--decoder-memory ssru)");
  if (c.not_exported()) refuse(std::string("it was trained with ") + c.not_exported());
  if (model.has_int8())
    throw DataError(model.path() +
                    " has 8-bit weights; convert the model that it was quantised from");
  if (c.pre_norm()) refuse("it uses pre-norm (--norm-position pre)");
  if (c.norm_type != NormType::layer) refuse("it uses RMSNorm (--norm-type rms)");
  if (c.gated())
    refuse("its feed-forward layers are gated (--activation " + c.activation.name + ")");
  if (c.kv_heads != c.heads || c.window)
    refuse("it uses grouped-query or sliding-window attention (--kv-heads, --window)");
  if (!c.feed_forward_bias) refuse("its feed-forward layers have no biases");
  if (!c.source_eos) refuse("its sources do not end in </s>");
  const bool halves = c.positions == PositionEncoding::halves && c.position_offset == 0;
  if (!halves && c.positions != PositionEncoding::sinusoid)
    refuse("its positions are " + c.positions.name + ", not sinusoidal");
  if (c.d_v != c.d_k || c.heads * c.d_k != c.d_model)
    refuse("d_k or d_v differs from d_model / heads (--d-k, --d-v)");
}

}  // namespace

void write_marian(OutputDirectory& directory, const ModelReader& model, int max_positions,
                  const Log& log) {
  check_marian_can_read(model);
  MarianWriter(directory, model, max_positions).write();
  if (model.config().norm_epsilon != their_epsilon)
    log.warn("the LayerNorm epsilon of MarianMT is 1e-05, that of this model " +
             to_text(Json(model.config().norm_epsilon)) + ": scores differ slightly");
}

}  // namespace tx
