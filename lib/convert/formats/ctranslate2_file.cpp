// model.bin of CTranslate2, little-endian: u32 version; from 2: the class and its u32 revision; u32
// count, then variables (name, u8 rank, u32 dims; from 4: u8 dtype, u32 bytes; before: u8 bytes of
// an element, u32 elements; data); from 3: u32 count, then aliases (name, the variable that it
// stands for). A string is a u16 length that counts its NUL, then its bytes.
#include <algorithm>
#include <array>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

constexpr std::array variable_types{"F32", "I8", "I16", "I32", "F16", "BF16"};

std::string read_text(ByteReader& in) {
  const std::string_view bytes = in.take(in.number(2));
  if (bytes.empty() || bytes.back() != '\0') in.damaged("a name does not end in NUL");
  return std::string(bytes.substr(0, bytes.size() - 1));
}

void replace_part(std::string& name, const std::string& from, const std::string& to) {
  if (const size_t at = name.find(from); at != name.npos) name.replace(at, from.size(), to);
}

// The name in the newest revision. Revision 1 has the names of OpenNMT-tf.
std::string current_name(std::string name) {
  if (name.starts_with("transformer/")) {
    name.erase(0, std::string("transformer/").size());
    replace_part(name, ":0", "");
    replace_part(name, "w_embs", "embeddings/weight");
    replace_part(name, "kernel", "weight");
    replace_part(name, "LayerNorm", "layer_norm");
    replace_part(name, "dense", "projection");
    const size_t plain = name.find("conv1d/");
    replace_part(name, plain == name.npos ? "conv1d" : "conv1d/",
                 plain == name.npos ? "linear" : "linear_0/");
    if (name.find("masked_multi_head") != name.npos)
      replace_part(name, "masked_multi_head", "self_attention");
    else
      replace_part(name, "multi_head",
                   name.starts_with("encoder/") ? "self_attention" : "attention");
  }
  if (name.starts_with("encoder/embeddings/")) replace_part(name, "embeddings", "embeddings_0");
  return name;
}

ForeignTensor read_variable(ByteReader& in, uint64_t version) {
  ForeignTensor t;
  const uint64_t rank = in.number(1);
  for (uint64_t i = 0; i < rank; ++i) t.shape.push_back(int64_t(in.number(4)));
  const uint64_t type = in.number(1), size = in.number(4);
  if (version >= 4) {
    if (type >= variable_types.size()) in.damaged("it has a variable of unknown type");
    t.dtype = variable_types[type];
    t.bytes = in.take(size);
    return t;
  }
  if (type != 1 && type != 2 && type != 4) in.damaged("it has a variable of unknown type");
  t.dtype = type == 4 ? "F32" : type == 2 ? "I16" : "I8";
  t.bytes = in.take(type * size);
  return t;
}

}  // namespace

CTranslate2Model parse_ctranslate2(std::string_view bytes, const std::string& where) {
  ByteReader in(bytes, where, "a model of CTranslate2");
  const uint64_t version = in.number(4);
  if (version < 1 || version > 6)
    in.damaged("its version is " + std::to_string(version) + "; 1 to 6 are supported");
  CTranslate2Model model{"", 1, ForeignTensors(where)};
  if (version >= 2) {
    model.spec = read_text(in);
    model.revision = int64_t(in.number(4));
  }
  for (uint64_t left = in.number(4); left > 0; --left) {
    const std::string name = current_name(read_text(in));
    model.tensors.add(name, read_variable(in, version));
  }
  for (uint64_t left = version >= 3 ? in.number(4) : 0; left > 0; --left) {
    const std::string name = current_name(read_text(in));
    const std::string target = current_name(read_text(in));
    model.tensors.add(name, model.tensors.at(target));
    const ForeignTensor* const scale = model.tensors.find(target + "_scale");
    if (scale != nullptr && model.tensors.find(name + "_scale") == nullptr)
      model.tensors.add(name + "_scale", *scale);
  }
  if (!in.rest().empty()) in.damaged("bytes follow its variables");
  return model;
}

}  // namespace tx
