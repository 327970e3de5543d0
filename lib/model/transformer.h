// The Transformer of section 3 of the paper: stacks (stack.h) of layers (layer.h), one per side of
// the configuration. A stack with cross-attention reads the output of the stack before it, so a
// model is an encoder and a decoder, a decoder alone, or an encoder alone.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/positions.h"
#include "lib/model/stack.h"

namespace tx {

class Transformer {
 public:
  // `longest`: no sentence has more rows than this. Backend and parameters outlive the object.
  Transformer(Backend& backend, Parameters& parameters, int64_t longest);
  const ModelConfig& config() const { return config_; }  // of a part its own
  const AttentionShape& attention_shape() const { return shape_; }
  int64_t longest() const { return longest_; }
  DType cache_dtype() const { return cache_dtype_; }  // Parameters::cache_dtype()

  // (N,Vp): logits of every row of the last side, from whole sentences (teacher forcing); columns
  // from the vocabulary's size on are padding. `sides`: one for each of the model's. The guide is
  // that of the last stack.
  Tensor forward(Context& context, std::span<const PackedSide> sides,
                 const DropoutRates& rates = {}, const AttentionProbe& probe = {},
                 const CrossGuide& guide = {}) const;
  // (N,D): the output of the stack of the last of `sides`, which are all of the model's, or only
  // the first ones: the first of two gives the encoder's output.
  Tensor hidden(Context& context, std::span<const PackedSide> sides, const DropoutRates& rates = {},
                const AttentionProbe& probe = {}, const CrossGuide& guide = {}) const;

  // The parts, for incremental decoding by the last stack.
  size_t decoder_layers() const { return stacks_.back().layers(); }
  // (S, decoder layers * (HK + HV)): what all cross-attentions read, from the encoder's output.
  Tensor cross_keys_values(Context& context, Tensor encoded) const;
  int64_t cross_width() const { return cross_.weight.value.rows; }  // its columns; 0: no encoder
  // (T,D): the decoder's output.
  Tensor decode(Context& context, const PackedSide& target, std::shared_ptr<const KeysValues> kv,
                const DropoutRates& rates = {}) const;
  // (N,Vp): logits of the last stack's output.
  Tensor logits(Context& context, Tensor hidden) const;
  const Projection& output() const { return output_; }  // which gives them

 private:
  void make_positions(Backend& backend, const Parameters& parameters);
  ModelConfig config_;
  AttentionShape shape_;
  int64_t longest_;
  DType cache_dtype_;
  std::shared_ptr<PositionTable> sinusoids_, angles_;  // null where positions are of another kind
  std::shared_ptr<PositionTable> slopes_;              // (1, H) f64, of alibi
  std::vector<Stack> stacks_;                          // one per side
  Projection cross_, output_;  // cross_ is empty where no stack has cross-attention
};

}  // namespace tx
