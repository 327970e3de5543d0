// An .npy file: "\x93NUMPY", u8 major, u8 minor, u16 (version 1) or u32 length of the header, a
// Python dict as text: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, the elements.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"
#include "lib/convert/formats/zip.h"

namespace tx {

namespace {

const std::map<std::string_view, const char*> dtypes = {
    {"<f4", "F32"}, {"<f2", "F16"}, {"<f8", "F64"},  {"<i8", "I64"}, {"<i4", "I32"}, {"<i2", "I16"},
    {"|i1", "I8"},  {"|u1", "U8"},  {"|b1", "BOOL"}, {"<u2", "U16"}, {"<u4", "U32"}, {"<u8", "U64"},
    {"<i1", "I8"},  {"<u1", "U8"},  {"<b1", "BOOL"}};  // "<": Marian writes it for bytes too

class NpyHeader {
 public:
  NpyHeader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  ForeignTensor read() {
    ForeignTensor t;
    int seen = 0;
    expect('{');
    while (!skip('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        t.dtype = dtype(), seen |= 1;
      else if (key == "fortran_order")
        columns_ = boolean(), seen |= 2;
      else if (key == "shape")
        t.shape = shape(), seen |= 4;
      else
        refuse("malformed header");
      if (!skip(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) refuse("malformed header");
    if (columns_) strides(t);
    return t;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(where_ + " is not a supported NumPy array: " + why);
  }
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  bool skip(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!skip(c)) refuse("malformed header");
  }
  std::string_view quoted() {
    expect('\'');
    const size_t end = rest_.find('\'');
    if (end == rest_.npos) refuse("malformed header");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string dtype() {
    skip_spaces();
    if (!rest_.starts_with('\'')) refuse("structured dtypes are not supported");
    const std::string_view name = quoted();
    const auto at = dtypes.find(name);
    if (at == dtypes.end())
      refuse("unsupported dtype " + to_text(Json(std::string(name.substr(0, 20)))));
    return at->second;
  }
  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    refuse("malformed header");
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!skip(')')) {
      sizes.push_back(size());
      if (!skip(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  int64_t size() {
    skip_spaces();
    const size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0 || digits > 15) refuse("malformed header");
    const int64_t value = std::stoll(std::string(rest_.substr(0, digits)));
    rest_.remove_prefix(digits);
    return value;
  }
  // Column-major strides. An overflow becomes -1, which ForeignTensors::add() refuses.
  static void strides(ForeignTensor& t) {
    int64_t stride = 1;
    for (const int64_t d : t.shape) {
      t.strides.push_back(stride);
      if (__builtin_mul_overflow(stride, d, &stride)) stride = -1;
    }
  }

  std::string_view rest_;
  const std::string& where_;
  bool columns_ = false;
};

}  // namespace

ForeignTensor parse_npy(std::string_view bytes, const std::string& where) {
  const auto cut_off = [&] { return DataError(where + " is not a NumPy array, or is truncated"); };
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) throw cut_off();
  const int version = bytes[6];
  if (version < 1 || version > 3)
    throw DataError(where + " has version " + std::to_string(version) +
                    " of NumPy's format; versions 1 to 3 are supported");
  const size_t width = version == 1 ? 2 : 4, begin = 8 + width;
  if (bytes.size() < begin) throw cut_off();
  const uint64_t length = little_endian(bytes.substr(8), width);
  if (length > bytes.size() - begin) throw cut_off();
  ForeignTensor t = NpyHeader(bytes.substr(begin, length), where).read();
  t.bytes = bytes.substr(begin + length);
  return t;
}

ForeignTensors read_npz(const std::string& path) {
  const auto archive = std::make_shared<ArchiveMemory>(path);
  if (!ZipArchive::begins(archive->bytes()))
    throw DataError(path + " is not an .npz archive: it is not a zip file");
  const ZipArchive zip(archive->bytes(), path);
  ForeignTensors tensors(path);
  for (const auto& e : zip.entries()) {
    std::string name = e.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    const std::string where = path + ": " + shown(name);
    tensors.add(name, parse_npy(zip.content(e, archive->unpacked[e.name]), where));
  }
  tensors.keep(archive);
  return tensors;
}

}  // namespace tx
