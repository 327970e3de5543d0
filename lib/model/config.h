// The configuration of a model: sizes and variants, as in its file (section 3 and Table 3).
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/base/named.h"
#include "lib/cli/options.h"

namespace tx {

// The stacks of a model: an encoder and a decoder that attends to it (the paper's), a decoder only
// (a language model), or an encoder only, whose attention is bidirectional.
enum class ModelKind { encoder_decoder, decoder, encoder };
enum class NormPosition { post, pre };     // after a sub-layer (the paper), or before it
enum class NormType { layer, rms, none };  // LayerNorm, RMSNorm, or the ablation without norms
// What a decoder layer knows of the tokens before, in a model with cross-attention: attention to
// them, the state of a simple recurrent unit (SSRU, Kim et al., 2019), or nothing (an ablation).
enum class DecoderMemory { attention, ssru, none };
// How positions are encoded: a vector added to the embedding (three layouts of sinusoids, or
// learned), rotation of queries and keys, a penalty on distance (ALiBi), a learned bias by distance
// (T5), or not at all.
enum class PositionEncoding { sinusoid, halves, fairseq, learned, rotary, alibi, relative, none };
enum class RotaryScaling { none, linear, ntk, llama3 };  // for longer texts than in training
// Which embeddings and output share one matrix; `embeddings`: those of all sides.
enum class Tie { all, embeddings, target, none };
enum class Precision { automatic, int8, bf16, fp32 };  // --precision

template <>
inline constexpr const char* name_table<ModelKind>[] = {"encoder-decoder", "decoder", "encoder"};
template <>
inline constexpr const char* name_table<DType>[] = {"fp32", "bf16", nullptr, nullptr, "int8"};
template <>
inline constexpr const char* name_table<Precision>[] = {"auto", "int8", "bf16", "fp32"};
template <>
inline constexpr const char* name_table<Activation>[] = {
    nullptr, "relu", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "swiglu", "geglu", "geglu-tanh"};
template <>
inline constexpr const char* name_table<NormPosition>[] = {"post", "pre"};
template <>
inline constexpr const char* name_table<PositionEncoding>[] = {
    "sinusoid", "halves", "fairseq", "learned", "rotary", "alibi", "relative", "none"};
template <>
inline constexpr const char* name_table<NormType>[] = {"layer", "rms", "none"};
template <>
inline constexpr const char* name_table<DecoderMemory>[] = {"attention", "ssru", "none"};
template <>
inline constexpr const char* name_table<RotaryScaling>[] = {"none", "linear", "ntk", "llama3"};
template <>
inline constexpr const char* name_table<Tie>[] = {"all", "embeddings", "target", "none"};

// The type of that name; Bug for automatic.
inline DType precision_dtype(Precision p) { return value_of_name<DType>(name_of_value(p)); }

// One side: the size of its vocabulary, and its stack.
struct SideConfig {
  int64_t vocabulary = 0;
  int layers = 6;
};

// The names of a stack and its side in weights, messages, files and options.
struct StackNames {
  const char *stack, *side, *vocabulary_key, *layers_key, *layers_option, *layers_help;
};
inline constexpr StackNames encoder_names{"encoder",        "source",           "source_vocabulary",
                                          "encoder_layers", "--encoder-layers", "encoder layers"};
inline constexpr StackNames decoder_names{"decoder",        "target",           "target_vocabulary",
                                          "decoder_layers", "--decoder-layers", "decoder layers"};

struct ModelConfig {
  Named<ModelKind> kind = ModelKind::encoder_decoder;
  static constexpr int32_t bos = 2;          // Vocabulary::bos
  static constexpr int max_buckets = 128;    // of distances
  std::vector<SideConfig> sides = {{}, {}};  // as many as the kind has; the last is predicted
  int d_model = 512, d_ff = 2048, heads = 8;
  int d_k = 0, d_v = 0;  // 0 until resolve(): d_model / heads, d_k
  int kv_heads = 0;      // 0: as many as heads; see key_heads()
  int window = 0;        // of self-attention, |i - j| < window; 0: all
  Named<DecoderMemory> decoder_memory = DecoderMemory::attention;
  Named<Activation> activation = Activation::relu;
  Named<NormPosition> norm = NormPosition::post;
  Named<PositionEncoding> positions = PositionEncoding::sinusoid;
  int max_positions = 1024;                         // rows of learned positions
  int distance_buckets = 32, distance_reach = 128;  // of relative positions; the farthest distance
  int position_offset = 0;  // the row of the first token in sinusoids and learned positions
  double rotary_base = 10000;
  Named<RotaryScaling> rotary_scaling = RotaryScaling::none;
  double rotary_factor = 1;                // of the scaling
  double rotary_low = 1, rotary_high = 4;  // llama3: scaling fades out between wavelengths of
  int rotary_length = 8192;                // rotary_length / low and rotary_length / high
  Named<NormType> norm_type = NormType::layer;
  Named<Tie> tie = Tie::all;
  bool attention_bias = false;
  bool attention_output_bias = true;  // with attention_bias: of the attentions' output, too
  bool feed_forward_bias = true, output_bias = false;
  bool head_norm = false;         // RMSNorm of every head's queries and keys, before rotation
  bool embedding_norm = false;    // a norm after embedding and positions (BERT, BART)
  bool output_layer = false;      // of an encoder: a layer and a norm before the output (BERT)
  bool final_norm = false;        // of a post-norm stack: a norm after its last layer (PyTorch)
  bool unit_vectors = false;      // of an encoder: the vectors of --embed have length 1
  bool scaled_embeddings = true;  // times sqrt(d_model)
  bool scaled_init = false;       // output projections start smaller, by 1 / sqrt(sub-layers)
  double norm_epsilon = 1e-6;
  bool source_eos = true;  // a source that another side attends to ends in <eos>
  bool source_bos = true;  // the texts of a language model begin with <bos>
  // Ablations of the paper, besides NormType::none.
  bool residual = true;          // sub-layers add to their input
  bool scaled_attention = true;  // dot products divided by sqrt(d_k)
  bool causal_mask = true;       // a decoder row does not attend to later rows

  // Fills d_k and d_v and checks everything; UsageError with options and valid values.
  void resolve();
  void set_kind(ModelKind which);  // and the number of sides; new sides have the defaults
  const SideConfig& target() const { return sides.back(); }
  int64_t layers() const;                                    // of all sides
  int64_t max_tokens() const;                                // of the largest vocabulary
  void set_vocabularies(int64_t size);                       // of all sides
  void set_vocabularies(const std::vector<int64_t>& sizes);  // one per side
  void set_layers(int count);                                // of each side
  bool is_predicted(size_t side) const { return side + 1 == sides.size(); }
  // Whether the rows of a side attend only to themselves and earlier rows.
  bool is_decoder(size_t side) const { return is_predicted(side) && kind != ModelKind::encoder; }
  // Whether the side's layers also attend to the output of the previous side.
  bool has_cross(size_t side) const { return is_decoder(side) && side > 0; }
  // Whether the side's layers have a recurrent unit instead of self-attention. As in Marian, whose
  // students these are, <s> then has no vector: the decoder begins with the position alone.
  bool recurrent(size_t side) const {
    return has_cross(side) && decoder_memory == DecoderMemory::ssru;
  }
  bool self_attends(size_t side) const {
    return !has_cross(side) || decoder_memory == DecoderMemory::attention;
  }
  const StackNames& names(size_t side) const {
    return is_decoder(side) ? decoder_names : encoder_names;
  }
  const char* side_name(size_t side) const { return names(side).side; }
  const char* stack_name(size_t side) const { return names(side).stack; }
  bool pre_norm() const { return norm == NormPosition::pre; }
  bool has_final_norm() const { return pre_norm() || final_norm; }
  bool learned_positions() const { return positions == PositionEncoding::learned; }
  bool relative() const { return positions == PositionEncoding::relative; }
  bool rotary() const { return positions == PositionEncoding::rotary; }
  bool sinusoids() const {  // of any layout
    return positions == PositionEncoding::sinusoid || positions == PositionEncoding::halves ||
           positions == PositionEncoding::fairseq;
  }
  int key_heads() const { return kv_heads ? kv_heads : heads; }
  double attention_scale() const { return scaled_attention ? 1 / std::sqrt(double(d_k)) : 1; }
  // The option of a property that no exporter writes, an ablation or an exotic one; null: none.
  const char* not_exported() const {
    if (norm_type == NormType::none) return "--norm-type none";
    if (!residual) return "--no-residual";
    if (!scaled_attention) return "--no-scaled-attention";
    if (final_norm && !pre_norm()) return "final_norm (a norm after the last post-norm layer)";
    return causal_mask ? exotic() : "--no-causal-mask";
  }
  // The option of a property that live pages cannot run; null: none.
  const char* exotic() const {
    if (attention_bias && !attention_output_bias) return "--no-attention-output-bias";
    if (head_norm) return "--head-norm";
    if (decoder_memory == DecoderMemory::none) return "--decoder-memory none";
    if (d_ff == 0) return "--d-ff 0";
    if (relative()) return "--positions relative";
    if (embedding_norm) return "--embedding-norm";
    return output_layer ? "--output-layer" : nullptr;
  }
  bool gated() const { return is_gated(activation); }
  bool shares_embeddings() const { return tie == Tie::all || tie == Tie::embeddings; }
  bool has_output() const { return tie == Tie::embeddings || tie == Tie::none; }  // unshared
  // Sub-layers of a stack.
  int sub_layers(size_t side) const {
    return sides[side].layers *
           (int(self_attends(side) || recurrent(side)) + int(has_cross(side)) + int(d_ff > 0));
  }

  Json to_json() const;
  // Missing keys have their defaults. DataError: an unknown key or value, or a size out of range.
  static ModelConfig from_json(const Json& json, const std::string& where);

 private:
  void check_positions() const;
};

// A field of a configuration: its key in files and, if any, the option that sets it.
struct ConfigField {
  const char* key;
  const char* option = nullptr;  // "--d-model"
  const char* unit = "";
  const char* help = "";
  double min = 0, max = 0;  // the range of the option; for sizes, min also in files
  const char* long_help = "";
  bool ablation = false;  // listed under "Ablations"
  bool size = false;      // determines the number of parameters
  bool rare = false;      // in files only where it is not the default, so that older tx read others
};

// Every field, in the order of the options: visit(ConfigField, member). All code that reads,
// writes, describes or checks a configuration uses this list. The kind is first because the sides
// depend on it: a visitor that sets it must call set_kind().
template <class Config, class Visit>
void visit_fields(Config& c, Visit&& visit) {
  visit({"kind"}, c.kind);
  for (size_t side = 0; side < c.sides.size(); ++side)
    visit({c.names(side).vocabulary_key}, c.sides[side].vocabulary);
  const auto size = [](ConfigField field) {
    field.size = true;
    return field;
  };
  for (size_t side = 0; side < c.sides.size(); ++side) {
    const StackNames& n = c.names(side);
    visit(size({n.layers_key, n.layers_option, "N", n.layers_help, 1, 1000}), c.sides[side].layers);
  }
  visit(size({"d_model", "--d-model", "N", "model width", 2, 65536}), c.d_model);
  visit(size({"d_ff", "--d-ff", "N", "feed-forward width; 0: no such layers", 0, 1 << 20}), c.d_ff);
  visit(size({"heads", "--heads", "N", "attention heads", 1, 65535}), c.heads);
  visit(size({"d_k", "--d-k", "N", "query and key width per head", 1, 65536}), c.d_k);
  visit(size({"d_v", "--d-v", "N", "value width per head", 1, 65536}), c.d_v);
  visit(size({"kv_heads", "--kv-heads", "N", "key and value heads", 1, 65535,
              "1 is multi-query attention; between 1 and --heads is grouped-query attention."}),
        c.kv_heads);
  visit({"window", "--window", "N", "sliding-window self-attention over N tokens", 0, 1 << 24,
         "The token itself and N - 1 before it; in an encoder also N - 1 after it. 0: all."},
        c.window);
  const auto rare = [](ConfigField field) {
    field.rare = true;
    return field;
  };
  visit(
      rare(
          {"decoder_memory", "--decoder-memory", "", "what a decoder layer keeps of earlier tokens",
           0, 0,
           "ssru: one vector, the state of a simple recurrent unit, instead of the keys and values "
           "of self-attention, as in Firefox's translators. none is an ablation: a decoder layer "
           "has no self-attention."}),
      c.decoder_memory);
  visit({"activation", "--activation", "", "feed-forward activation", 0, 0,
         "Those after silu add a gate of the same width; --d-ff is then usually two thirds as "
         "large."},
        c.activation);
  visit({"norm", "--norm-position", "", "normalise after (the paper) or before each sub-layer"},
        c.norm);
  visit({"norm_type", "--norm-type", "", "LayerNorm, RMSNorm or no normalisation", 0, 0,
         "none is an ablation: the model has no norms, and --norm-position has no effect."},
        c.norm_type);
  visit({"positions", "--positions", "", "position encoding", 0, 0,
         "sinusoid interleaves sines and cosines (the paper). halves and fairseq concatenate them, "
         "as Hugging Face's Marian and as fairseq and Marian do. relative learns a bias of scores "
         "by distance, as T5."},
        c.positions);
  visit({"max_positions", "--max-positions", "N", "number of learned positions", 1, 1 << 20},
        c.max_positions);
  visit(rare({"distance_buckets"}), c.distance_buckets);
  visit(rare({"distance_reach"}), c.distance_reach);
  visit({"position_offset"}, c.position_offset);
  visit({"rotary_base", "--rotary-base", "X", "base (theta) of rotary positions", 1, 1e9},
        c.rotary_base);
  visit({"rotary_scaling", "--rotary-scaling", "", "scaling of rotary positions"},
        c.rotary_scaling);
  visit({"rotary_factor", "--rotary-factor", "X", "factor of --rotary-scaling", 1, 1e6},
        c.rotary_factor);
  visit({"rotary_low"}, c.rotary_low);
  visit({"rotary_high"}, c.rotary_high);
  visit({"rotary_length"}, c.rotary_length);
  visit(
      {"tie", "--tie", "", "embeddings that share one matrix", 0, 0,
       "all: source, target and output (the paper); embeddings: source and target; target: target "
       "and output. Separate vocabularies need target or none."},
      c.tie);
  visit({"scaled_embeddings", "--scaled-embeddings", "", "multiply embeddings by sqrt(d-model)"},
        c.scaled_embeddings);
  visit({"attention_bias", "--attention-bias", "", "biases in the attention projections"},
        c.attention_bias);
  visit(rare({"attention_output_bias", "--attention-output-bias", "",
              "with --attention-bias, also in their output projection"}),
        c.attention_output_bias);
  visit(rare({"head_norm", "--head-norm", "",
              "RMSNorm of the queries and keys of every head of self-attention", 0, 0,
              "As in Qwen 3, before rotary positions."}),
        c.head_norm);
  visit(rare({"embedding_norm", "--embedding-norm", "", "a norm after embedding and positions", 0,
              0, "As in BERT and BART."}),
        c.embedding_norm);
  visit(rare({"output_layer", "--output-layer", "",
              "a layer with activation and norm before the output of an encoder", 0, 0,
              "As in BERT."}),
        c.output_layer);
  visit({"feed_forward_bias", "--ffn-bias", "", "biases in the feed-forward layer"},
        c.feed_forward_bias);
  visit({"output_bias", "--output-bias", "", "bias of the output projection"}, c.output_bias);
  visit({"scaled_init", "--scaled-init", "", "scale initial output projections by 1/sqrt(N)", 0, 0,
         "N is the number of sub-layers of the stack, each of which ends in such a projection."},
        c.scaled_init);
  visit({"norm_epsilon", "--norm-epsilon", "X", "epsilon of the norms", 1e-12, 1}, c.norm_epsilon);
  visit(rare({"final_norm"}), c.final_norm);
  visit(rare({"unit_vectors"}), c.unit_vectors);
  visit(rare({"source_eos"}), c.source_eos);
  visit(rare({"source_bos"}), c.source_bos);
  const auto ablation = [](ConfigField field) {
    field.ablation = true;
    return field;
  };
  visit(ablation({"residual", "--residual", "", "add the input of each sub-layer to its output", 0,
                  0, "The residual connections of section 3.1 of the paper."}),
        c.residual);
  visit(
      ablation({"scaled_attention", "--scaled-attention", "",
                "divide attention scores by sqrt(d-k)", 0, 0,
                "Without it the scores of wide heads are large and the softmax saturates (section "
                "3.2.1 of the paper)."}),
      c.scaled_attention);
  visit(ablation(
            {"causal_mask", "--causal-mask", "", "mask later tokens in the decoder", 0, 0,
             "Without it the decoder copies the token it should predict: the training perplexity "
             "falls to 1, and the model cannot translate."}),
        c.causal_mask);
}

// The options of a model's configuration (--d-model, ...), and --layers, for all stacks.
void describe_model(Options& options, ModelConfig& config, int& layers);

}  // namespace tx
