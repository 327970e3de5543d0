#include <set>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/convert/formats/pickle.h"
#include "lib/convert/formats/tensors.h"
#include "lib/convert/formats/zip.h"

namespace tx {

namespace {

using Kind = PickleValue::Kind;
using Storages = std::map<std::string, std::string_view>;  // by key

// Objects of unknown classes are skipped where nothing needs them.
[[noreturn]] void refuse_opaque(const PickleValue& value, const std::string& path) {
  throw DataError(
      path + ": its pickle refers to " + shown(value.text) +
      ", which tensors do not need: nothing was run; save the weights alone, in Python " +
      "torch.save(model.state_dict(), \"weights.pt\")");
}

const PickleValue& dict_of_tensors(const PickleValue& value, const std::string& path) {
  for (const char* key : {"model", "state_dict", "model_state_dict"}) {
    const PickleValue* inner = value.find(key);
    if (inner != nullptr && inner->kind == Kind::opaque) refuse_opaque(*inner, path);
    if (inner != nullptr && inner->kind == Kind::dict) return *inner;
  }
  if (value.kind == Kind::opaque || value.kind == Kind::name) refuse_opaque(value, path);
  if (value.kind != Kind::dict) throw DataError(path + " has no dict of tensors");
  return value;
}

void add_tensors(TorchFile& file, const Storages& storages) {
  const std::string& path = file.tensors.where();
  const PickleValue& dict = dict_of_tensors(file.content->value(), path);
  std::set<std::string> names;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue &key = *dict.items[i], &t = *dict.items[i + 1];
    if (key.kind == Kind::text && t.kind == Kind::opaque) refuse_opaque(t, path);
    if (key.kind != Kind::text || t.kind != Kind::tensor) continue;  // not a tensor
    const auto storage = storages.find(t.items[0]->text);
    if (storage == storages.end())
      throw DataError(path + " is damaged: the data of " + shown(key.text) + " is missing");
    const int64_t each = element_size(t.dtype);
    const std::string_view all = storage->second;
    const bool inside = t.integer <= int64_t(all.size()) / each;
    file.tensors.add(key.text, {t.dtype, t.shape, t.strides,
                                inside ? all.substr(size_t(t.integer * each)) : ""});
  }
}

// An archive NAME/data.pkl, NAME/data/KEY, ...
void read_archive(TorchFile& file, ArchiveMemory& memory, std::string_view bytes) {
  const std::string& path = file.tensors.where();
  const ZipArchive zip(bytes, path);
  const ZipArchive::Entry* pickle = nullptr;
  for (const auto& e : zip.entries())
    if (e.name == "data.pkl" || e.name.ends_with("/data.pkl")) pickle = &e;
  if (pickle == nullptr)
    throw DataError(path + " is not a file of torch.save(): it is a zip archive without data.pkl");
  const std::string directory = pickle->name.substr(0, pickle->name.size() - 8);
  if (const auto* order = zip.find(directory + "byteorder"); order != nullptr) {
    std::string unpacked;
    if (zip.content(*order, unpacked) != "little")
      throw DataError(path + " was written on a big-endian machine, which is not supported");
  }
  std::string unpacked;
  std::string_view program = zip.content(*pickle, unpacked);
  file.content = std::make_shared<Pickle>(program, path);
  Storages storages;
  for (const auto& e : zip.entries())
    if (e.name.starts_with(directory + "data/"))
      storages[e.name.substr(directory.size() + 5)] = zip.content(e, memory.unpacked[e.name]);
  add_tensors(file, storages);
}

// Pickles of magic number, version, machine, object, keys; then per key u64 elements and the data.
void read_pickles(TorchFile& file, std::string_view bytes) {
  const std::string& path = file.tensors.where();
  for (int i = 0; i < 2; ++i) {
    const Pickle number(bytes, path);
    const Kind kind = number.value().kind;
    if (kind == Kind::opaque || kind == Kind::name) refuse_opaque(number.value(), path);
  }
  const Pickle machine(bytes, path);
  const PickleValue* little = machine.value().find("little_endian");
  if (little != nullptr && little->integer == 0)
    throw DataError(path + " was written on a big-endian machine, which is not supported");
  file.content = std::make_shared<Pickle>(bytes, path);
  const Pickle keys(bytes, path);
  std::map<std::string, int64_t> widths;  // of the storages' elements
  const PickleValue& dict = dict_of_tensors(file.content->value(), path);
  for (const PickleValue* item : dict.items)
    if (item->kind == Kind::tensor) widths[item->items[0]->text] = element_size(item->dtype);
  Storages storages;
  for (const PickleValue* key : keys.value().items) {
    const auto width = widths.find(key->text);
    if (width == widths.end())
      throw DataError(path + " has storages that no tensor uses; use a safetensors file instead");
    const uint64_t elements = bytes.size() < 8 ? 0 : little_endian(bytes, 8);
    if (bytes.size() < 8 || elements > (bytes.size() - 8) / uint64_t(width->second))
      throw DataError(path + " is truncated");
    storages[key->text] = bytes.substr(8, elements * uint64_t(width->second));
    bytes.remove_prefix(8 + elements * uint64_t(width->second));
  }
  add_tensors(file, storages);
}

}  // namespace

TorchFile read_torch_file(const std::string& path) {
  const auto memory = std::make_shared<ArchiveMemory>(path);
  TorchFile file{ForeignTensors(path), nullptr};
  const std::string_view bytes = memory->bytes();
  if (bytes.empty()) throw DataError(path + " is empty; expected a file of torch.save()");
  if (ZipArchive::begins(bytes))
    read_archive(file, *memory, bytes);
  else if (bytes[0] == '\x80')
    read_pickles(file, bytes);
  else
    throw DataError(path +
                    " is not a file of torch.save(): it is neither a zip archive nor a pickle");
  file.tensors.keep(memory);
  return file;
}

}  // namespace tx
