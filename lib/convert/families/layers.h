// Names of weights as Hugging Face calls them: of an encoder and a decoder in the models that
// descend from BART (Marian, M2M-100), of a decoder alone in those that descend from Llama.
#pragma once
#include <set>
#include <string>

#include "lib/convert/families/family.h"

namespace tx {

// "model.encoder.layers.0.fc1.weight" for "encoder.layers.0.ffn.in_proj.weight". Of weights of a
// stack alone, not of embeddings.
std::string bart_name(const std::string& ours);

// "model.layers.0.mlp.up_proj.weight" for "decoder.layers.0.ffn.in_proj.weight", as in Llama; of
// all weights of a decoder.
std::string llama_name(const std::string& ours);

// Collects the weights of a configuration's table, and knows which foreign tensors were used.
class WeightMap {
 public:
  // Both must outlive what weights() gives.
  explicit WeightMap(const ForeignTensors& from) : from_(from) {}
  // Their tensor of this shape, which counts as used.
  WeightRows take(const std::string& theirs, const std::vector<int64_t>& shape);
  // The first of these names that is there; "" when none is.
  std::string any_of(const std::vector<std::string>& names) const;
  // A tensor that says nothing new.
  void ignore(const std::string& theirs) { used_.insert(theirs); }
  // DataError that names a tensor that was not used: the model has a part that tx does not know.
  void check_all_used() const;

 private:
  const ForeignTensors& from_;
  std::set<std::string> used_;
};

}  // namespace tx
