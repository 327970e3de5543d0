// A stack of layers with its embedding and norms: an encoder, or a decoder.
#pragma once
#include <memory>
#include <vector>

#include "lib/model/layer.h"

namespace tx {

class Stack {
 public:
  struct Settings {
    std::string name;     // of its weights: "encoder", "decoder"
    uint32_t number = 0;  // among the model's stacks: which dropout masks are its own
    int layers = 0;
    bool cross = false;   // whether its layers attend to the output of the stack before
    Parameter embedding;  // (V,D)
    Matrix sinusoids;     // (longest, D); empty unless they are added to embeddings
    Matrix angles;        // (longest, K); empty unless positions are rotary
  };
  Stack(Parameters& parameters, const Settings& settings);

  size_t layers() const { return layers_.size(); }
  // (N,D): the output for the rows of `side`. `kv` lives as long as the context's tape. With
  // context.recompute each layer is a segment of its own.
  Tensor run(Context& context, const PackedSide& side, std::shared_ptr<const KeysValues> kv,
             const DropoutRates& rates) const;

 private:
  Tensor embed_rows(Context& context, const PackedSide& side, const DropoutMasks& masks) const;
  uint32_t number_;
  double scale_;  // of embeddings: sqrt(d_model), or 1
  Parameter embedding_, learned_positions_;
  ShardStart start_;
  Matrix positions_;
  std::vector<Layer> layers_;
  std::optional<Norm> first_norm_;  // pre-norm: what the first sub-layer reads
};

}  // namespace tx
