// The tensors of a foreign model, whatever their file format.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/int8.h"
#include "lib/base/json.h"

namespace tx {

// Consecutive elements of a row that are quantised together, as in GGUF.
struct QuantisedBlock {
  const char* name;
  int64_t elements, bytes;
  void (*read)(const char* block, float* to);
};

// A view of a tensor in memory that something else owns.
struct ForeignTensor {
  std::string dtype;  // as safetensors names it: "F32", "F16", "BF16", "F64", "I64", ...; or empty
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;           // in elements; empty: row-major
  std::string_view bytes;                 // from its first element on
  const QuantisedBlock* block = nullptr;  // then row-major rows of whole blocks
  int64_t elements() const;
};

class ForeignTensors {
 public:
  explicit ForeignTensors(std::string where) : where_(std::move(where)) {}
  const std::string& where() const { return where_; }  // for messages

  // DataError: elements lie outside `bytes`, or the name exists.
  void add(const std::string& name, ForeignTensor tensor);
  void keep(std::shared_ptr<const void> bytes) { kept_.push_back(std::move(bytes)); }
  const std::map<std::string, ForeignTensor>& all() const { return tensors_; }
  const ForeignTensor* find(const std::string& name) const;  // null if absent
  const ForeignTensor& at(const std::string& name) const;    // DataError that names it

  // The tensor as rows of floats; a vector {n} is one row. DataError: not floating-point, or
  // another shape (leading dimensions of 1 are ignored). This object must outlive the rows.
  WeightRows rows(const std::string& name, const std::vector<int64_t>& shape) const;
  // The same of a matrix that may have 8 or 16 bits: these are divided by NAME_scale, one number or
  // one for each row. Strides are ignored.
  WeightRows scaled_rows(const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  std::string where_;
  std::map<std::string, ForeignTensor> tensors_;
  std::vector<std::shared_ptr<const void>> kept_;
};

float from_half(uint16_t bits);  // IEEE 754 binary16

// The number in the first `width` (at most 8) bytes of `bytes`.
inline uint64_t little_endian(std::string_view bytes, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | uint8_t(bytes[i]);
  return value;
}

// Reads a file of numbers from its beginning. DataError: "WHERE is damaged or not WHAT: WHY".
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& where, const char* what)
      : rest_(bytes), where_(where), what_(what) {}
  std::string_view take(uint64_t count);  // DataError: truncated
  uint64_t number(size_t width) { return little_endian(take(width), width); }
  std::string_view rest() const { return rest_; }
  [[noreturn]] void damaged(const std::string& why) const;

 private:
  std::string_view rest_;
  const std::string& where_;
  const char* what_;
};

// The reverse.
inline std::string little_endian_bytes(uint64_t value, size_t width) {
  std::string bytes;
  for (size_t i = 0; i < width; ++i, value >>= 8) bytes += char(value);
  return bytes;
}

// The array in an .npy file (versions 1 to 3), a view into `bytes`. DataError that begins with
// `where`: damaged, or elements other than little-endian numbers. Nothing is unpickled.
ForeignTensor parse_npy(std::string_view bytes, const std::string& where);

// The arrays of an .npz archive, by name without ".npy".
ForeignTensors read_npz(const std::string& path);

// The variables of a model.bin of CTranslate2, as views into `bytes`: versions 1 to 6, with the
// names of the newest. DataError that begins with `where`: damaged.
struct CTranslate2Model {
  std::string spec;  // "TransformerSpec"
  int64_t revision;
  ForeignTensors tensors;  // an alias is a further tensor of the same bytes
};
CTranslate2Model parse_ctranslate2(std::string_view bytes, const std::string& where);

// A GGUF file: its keys, lists as arrays, and its tensors as views into `bytes`, of their usual
// shapes, which GGUF reverses. DataError that begins with `where`: damaged, or an unknown type.
struct GgufFile {
  Json keys = Json::object();
  ForeignTensors tensors;
};
GgufFile parse_gguf(std::string_view bytes, const std::string& where);

// The items of a .bin of Marian, as views into `bytes`. Matrices of intgemm8 are I8 with
// NAME_scale, those that it keeps transposed as (out, in). DataError that begins with `where`:
// damaged.
ForeignTensors parse_marian_bin(std::string_view bytes, const std::string& where);
bool is_marian_bin(std::string_view bytes);  // by its first 8 bytes

// A binary shortlist of Marian: for each source token target tokens, the most probable first.
// DataError that begins with `where`: damaged.
struct MarianShortlist {
  uint64_t first = 0;  // the ids below it are allowed everywhere
  std::vector<std::vector<uint32_t>> best;
};
MarianShortlist parse_marian_shortlist(std::string_view bytes, const std::string& where);
std::string bytes_of(const MarianShortlist& shortlist);

class Pickle;

// Files of torch.save(): since 1.6 a zip archive of a pickle and its storages; before, pickles.
struct TorchFile {
  ForeignTensors tensors;  // the file's dict, or its "model", "state_dict" or "model_state_dict"
  std::shared_ptr<const Pickle> content;  // the whole object
};

// Maps the file. DataError: damaged, or a pickle with more than tensors and settings.
TorchFile read_torch_file(const std::string& path);

}  // namespace tx
