// The Transformer of section 3, encoder and decoder. Reads like the paper: one function a
// sub-layer.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/model/parameters.h"
#include "lib/ops/ops.h"

namespace tx {

// One side of a packed batch in the backend's memory: sentence s holds rows offsets[s] ..
// offsets[s+1] - 1.
struct PackedSide {
  const int32_t* ids = nullptr;      // N
  const int32_t* offsets = nullptr;  // B + 1
  RowKeys keys;                      // N each
  int64_t rows = 0, sentences = 0;
};

// The masks of a run. All zero for inference.
struct Regularisation {
  double dropout = 0, attention_dropout = 0, relu_dropout = 0;
  uint32_t seed = 0;
  const StepRecord* record = nullptr;
};

// Called after each attention with what went into it: lib/attention reads weights through this.
// kind is "encoder", "decoder" or "cross".
using AttentionProbe = std::function<void(const char* kind, int layer, const AttentionInput&)>;

// Sinusoids of section 3.5 in the backend's memory, the angle computed in double:
// (length, D), row = position.
class Sinusoids {
 public:
  Sinusoids(Backend& backend, int64_t d_model, DType dtype);
  ~Sinusoids();
  Matrix at_least(int64_t length);  // grows when needed; earlier views become invalid
 private:
  Backend& backend_;
  int64_t d_model_;
  DType dtype_;
  Matrix table_;
};
std::vector<double> sinusoid(int64_t position, int64_t d_model);

class Transformer {
 public:
  // `longest`: no sentence with more rows than this will come.
  Transformer(Backend& backend, Parameters& parameters, int64_t longest);
  const ModelConfig& config() const { return config_; }
  int64_t longest() const { return longest_; }

  // (S,D): the encoder's output.
  Tensor encode(Context& context, const PackedSide& source, const Regularisation& masks,
                const AttentionProbe& probe = {}) const;
  // (S, decoder layers * (H K + H V)): keys and values of all decoder layers.
  Tensor memory(Context& context, Tensor encoded) const;
  int64_t memory_width() const { return memory_.value.rows; }
  // (T,D): the decoder's output for a whole target side (teacher forcing).
  Tensor decode(Context& context, const PackedSide& target, Tensor memory, const PackedSide& source,
                const Regularisation& masks, const AttentionProbe& probe = {}) const;
  // (N,Vp): logits of decoder outputs; columns from the vocabulary's size on are padding.
  Tensor logits(Context& context, Tensor decoded) const;

  // One sub-layer's weights, shared with the incremental decoder.
  struct AttentionWeights {
    Parameter in, in_bias, out, out_bias;  // in: q, k, v joined, or the query alone (cross)
  };
  struct FeedForward {
    Parameter in, in_bias, out, out_bias;
  };
  struct Layer {
    AttentionWeights self, cross;
    FeedForward ffn;
    Norm self_norm, cross_norm, ffn_norm;
  };
  const std::vector<Layer>& decoder_layers() const { return decoder_; }
  // The norm to apply after sub-layer `index` (3 a decoder layer, 2 an encoder layer): the
  // sub-layer's own (post), or the next one's (pre; the last is the stack's).
  const Norm& norm_after(bool decoder, size_t index) const;
  const Norm& first_norm(bool decoder) const;
  EmbedInput embedding(bool decoder, const PackedSide& side, const Regularisation& masks) const;

 private:
  Layer layer(Parameters& p, const std::string& name, bool decoder) const;
  // Layer i on the residual stream and its norm, x; returns both after it. (S,D) and (T,D).
  std::vector<Tensor> encoder_layer(Context& context, size_t i, std::vector<Tensor> x,
                                    const PackedSide& source, const Regularisation& masks,
                                    const AttentionProbe& probe) const;
  std::vector<Tensor> decoder_layer(Context& context, size_t i, std::vector<Tensor> x,
                                    const PackedSide& target, Tensor memory,
                                    const PackedSide& source, const Regularisation& masks,
                                    const AttentionProbe& probe) const;
  ModelConfig config_;
  int64_t longest_;
  std::shared_ptr<Sinusoids> sinusoids_;
  Matrix sinusoid_table_;
  Parameter source_embedding_, target_embedding_, output_, source_positions_, target_positions_;
  Parameter memory_, memory_bias_;
  std::vector<Layer> encoder_, decoder_;
  std::vector<Norm> encoder_norms_, decoder_norms_;  // one a sub-layer; pre-norm: one more
};

}  // namespace tx
