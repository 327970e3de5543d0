#include "lib/convert/families/layers.h"

#include "lib/base/error.h"

namespace tx {

namespace {

// `name` with the first of the parts that it holds replaced.
template <size_t N>
std::string replaced(std::string name, const std::pair<const char*, const char*> (&parts)[N]) {
  for (const auto& [from, to] : parts) {
    const size_t at = name.find(from);
    if (at == name.npos) continue;
    return name.replace(at, std::string(from).size(), to);
  }
  return name;
}

}  // namespace

std::string bart_name(const std::string& ours) {
  static const std::pair<const char*, const char*> parts[] = {
      {".self_attn_norm.", ".self_attn_layer_norm."},
      {".cross_attn_norm.", ".encoder_attn_layer_norm."},
      {".ffn_norm.", ".final_layer_norm."},
      {".cross_attn.", ".encoder_attn."},
      {".ffn.in_proj.", ".fc1."},
      {".ffn.out_proj.", ".fc2."},
      {"coder.norm.", "coder.layer_norm."}};
  return "model." + replaced(ours, parts);
}

std::string llama_name(const std::string& ours) {
  static const std::pair<const char*, const char*> parts[] = {
      {".self_attn.out_proj.", ".self_attn.o_proj."},
      {".self_attn_norm.", ".input_layernorm."},
      {".ffn_norm.", ".post_attention_layernorm."},
      {".ffn.gate_proj.", ".mlp.gate_proj."},
      {".ffn.in_proj.", ".mlp.up_proj."},
      {".ffn.out_proj.", ".mlp.down_proj."},
      {".embedding.", ".embed_tokens."}};
  if (ours == "output.weight") return "lm_head.weight";
  if (ours == "embedding.weight") return "model.embed_tokens.weight";
  return "model" + replaced(ours, parts).substr(ours.find('.'));
}

WeightRows WeightMap::take(const std::string& theirs, const std::vector<int64_t>& shape) {
  used_.insert(theirs);
  return from_.rows(theirs, shape);
}

std::string WeightMap::any_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (from_.find(name) != nullptr) return name;
  return "";
}

void WeightMap::check_all_used() const {
  for (const auto& [name, tensor] : from_.all())
    if (used_.count(name) == 0)
      throw DataError(from_.where() + " holds the tensor " + name.substr(0, 100) +
                      ", which belongs to a part that tx does not have");
}

}  // namespace tx
