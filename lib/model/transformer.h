// The Transformer of section 3 of the paper: an encoder and a decoder (stack.h) made of layers
// (layer.h). A decoder alone is a model of one side.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/positions.h"
#include "lib/model/stack.h"

namespace tx {

class Transformer {
 public:
  // `longest`: no sentence with more rows than this will come. Backend and parameters outlive it.
  Transformer(Backend& backend, Parameters& parameters, int64_t longest);
  const ModelConfig& config() const { return config_; }
  const AttentionShape& attention_shape() const { return shape_; }
  int64_t longest() const { return longest_; }
  size_t decoder_layers() const { return stacks_.back().layers(); }

  // (T,Vp): logits of every row of the last side, from whole sentences (teacher forcing); columns
  // from the vocabulary's size on are padding. One packed side for each of the model's.
  Tensor forward(Context& context, std::span<const PackedSide> sides,
                 const DropoutRates& rates = {}, const AttentionProbe& probe = {}) const;
  // (T,D): the same before the last product.
  Tensor hidden(Context& context, std::span<const PackedSide> sides, const DropoutRates& rates = {},
                const AttentionProbe& probe = {}) const;

  // The parts, for incremental decoding. (S,D): the encoder's output.
  Tensor encode(Context& context, const PackedSide& source, const DropoutRates& rates = {},
                const AttentionProbe& probe = {}) const;
  // (S, decoder layers * (HK + HV)): what all cross-attentions read, from the encoder's output.
  Tensor cross_keys_values(Context& context, Tensor encoded) const;
  int64_t cross_width() const { return cross_.weight.value.rows; }
  // (T,D): the decoder's output.
  Tensor decode(Context& context, const PackedSide& target, std::shared_ptr<const KeysValues> kv,
                const DropoutRates& rates = {}) const;
  // (T,Vp): logits of the decoder's output.
  Tensor logits(Context& context, Tensor decoded) const;

 private:
  ModelConfig config_;
  AttentionShape shape_;
  int64_t longest_;
  std::shared_ptr<Sinusoids> sinusoids_;  // null: positions are learned
  std::vector<Stack> stacks_;             // one for each side; the last is the decoder
  Projection cross_, output_;
};

}  // namespace tx
