// The Transformer of section 3 of the paper: one stack of layers (layer.h) per side of the
// configuration. A stack with cross-attention reads the output of the previous stack, so a model is
// an encoder and a decoder, a decoder only, or an encoder only.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/layer.h"
#include "lib/model/positions.h"

namespace tx {

// The layers of one side with its embedding and norms: an encoder, or a decoder.
class Stack {
 public:
  // embedding (V,D); sinusoids (longest, D): empty unless they are added to embeddings;
  // angles (longest, K): empty unless positions are rotary.
  Stack(Parameters& parameters, size_t side, Parameter embedding, Matrix sinusoids, Matrix angles);

  size_t layers() const { return layers_.size(); }
  const Parameter& biases() const { return biases_; }  // of relative positions, or empty
  // (N,D): the output for the rows of `side`. The context's tape keeps `kv` alive. With
  // context.recompute each layer is a segment.
  Tensor run(Context& context, const PackedSide& side, std::shared_ptr<const KeysValues> kv,
             const DropoutRates& rates) const;

 private:
  Tensor embed_rows(Context& context, const PackedSide& side, const DropoutMasks& masks) const;
  uint32_t number_;  // the side, which selects its dropout masks
  double scale_;     // of embeddings: sqrt(d_model), or 1
  Parameter embedding_, learned_positions_, biases_;
  int32_t blank_ = -1;  // <s>, if a recurrent decoder begins with no token
  ShardStart start_;
  Matrix positions_;
  std::vector<Layer> layers_;
  std::optional<Norm> first_norm_;  // pre-norm: of the first sub-layer
  Norm embedding_norm_;             // empty: none
  Norm final_norm_;                 // of a post-norm stack; empty: none
};

class Transformer {
 public:
  // `longest`: the maximum length of a sentence in rows. Backend and parameters must outlive this.
  Transformer(Backend& backend, Parameters& parameters, int64_t longest);
  const ModelConfig& config() const { return config_; }  // of a shard: its own
  AttentionShape attention_shape() const { return shape_of(stacks_.size() - 1); }
  int64_t longest() const { return longest_; }
  DType cache_dtype() const { return cache_dtype_; }  // Parameters::cache_dtype()
  bool recurrent() const { return config_.recurrent(config_.sides.size() - 1); }  // the last stack

  // (N,Vp): logits for every row of the last side, from whole sentences (teacher forcing), padded.
  // The guide applies to the last stack.
  Tensor forward(Context& context, std::span<const PackedSide> sides,
                 const DropoutRates& rates = {}, const AttentionProbe& probe = {},
                 const CrossGuide& guide = {}) const;
  // (N,D): the output of the last of `sides`: all of the model, or only the first (the encoder's).
  Tensor hidden(Context& context, std::span<const PackedSide> sides, const DropoutRates& rates = {},
                const AttentionProbe& probe = {}, const CrossGuide& guide = {}) const;

  // For incremental decoding by the last stack.
  size_t decoder_layers() const { return stacks_.back().layers(); }
  // (S, decoder layers * (HK + HV)): keys and values of all cross-attentions, from the encoder.
  Tensor cross_keys_values(Context& context, Tensor encoded) const;
  int64_t cross_width() const {
    return cross_.weight.value.rows;
  }  // columns of cross_keys_values(); 0: no encoder
  // (T,D): the decoder's output.
  Tensor decode(Context& context, const PackedSide& target, std::shared_ptr<const KeysValues> kv,
                const DropoutRates& rates = {}) const;
  // (N,Vp): logits of the last stack's output.
  Tensor logits(Context& context, Tensor hidden) const;
  const Projection& output() const { return output_; }  // makes the logits

 private:
  void make_positions(Backend& backend, const Parameters& parameters);
  AttentionShape shape_of(size_t side) const;  // of self-attention
  ModelConfig config_;
  AttentionShape shape_;
  int64_t longest_;
  DType cache_dtype_;
  std::shared_ptr<PositionTable> sinusoids_, angles_;  // null with other kinds of positions
  std::shared_ptr<PositionTable> slopes_;              // (1, H) f64, of alibi
  std::shared_ptr<PositionTable> buckets_[2];          // of relative: encoder, decoder
  std::vector<Stack> stacks_;                          // one per side
  Projection cross_, output_;                          // cross_ is empty without cross-attention
  Projection output_layer_;                            // empty: none
  Norm output_norm_;
};

}  // namespace tx
