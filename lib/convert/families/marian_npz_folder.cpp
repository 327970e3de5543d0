#include "lib/convert/families/marian_npz_folder.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/flat_yaml.h"
#include "lib/convert/formats/long_object.h"
#include "lib/convert/formats/numpy_file.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

constexpr int64_t max_text = int64_t(1) << 28;  // bytes of settings or of a vocabulary
constexpr const char* settings_array = "special:model.yml";
constexpr const char* settings_files[] = {"decoder.yml", "model.npz.decoder.yml", "config.yml",
                                          "model.npz.yml"};

using Side = MarianNpzFolder::Side;

// What the settings files name.
struct NamedFiles {
  std::string model, model_from;  // and the file that names it
  std::vector<std::string> vocabularies;
  std::string vocabularies_from;
};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> names_in(const Json& settings, const char* key, const std::string& path) {
  std::vector<std::string> names;
  const Json value = settings.value(key, Json());
  if (value.is_null()) return names;
  for (const Json& name : value) {
    if (!name.is_string()) throw DataError(path + ": " + key + " names something that is no file");
    names.push_back(last_part(name.get<std::string>()));
  }
  return names;
}

NamedFiles read_named(const std::string& folder) {
  NamedFiles named;
  for (const char* file : settings_files) {
    const std::string path = folder + "/" + file;
    if (!file_exists(path)) continue;
    const Json settings = parse_flat_yaml(read_regular_file(path, max_text), path);
    std::vector<std::string> models = names_in(settings, "models", path);
    if (models.empty()) models = names_in(settings, "model", path);
    if (models.size() > 1)
      throw DataError(path + " names " + std::to_string(models.size()) +
                      " models: convert each in a folder of its own");
    if (named.model.empty() && !models.empty()) {
      named.model = models[0];
      named.model_from = path;
    }
    const std::vector<std::string> vocabularies = names_in(settings, "vocabs", path);
    if (!named.vocabularies.empty() || vocabularies.empty()) continue;
    if (vocabularies.size() != 2)
      throw DataError(path + " names " + std::to_string(vocabularies.size()) +
                      " vocabularies, where a translation model has two");
    named.vocabularies = vocabularies;
    named.vocabularies_from = path;
  }
  return named;
}

std::string model_path(const std::string& folder, const NamedFiles& named) {
  if (!named.model.empty() && file_exists(folder + "/" + named.model))
    return folder + "/" + named.model;
  if (file_exists(folder + "/model.npz")) return folder + "/model.npz";
  throw DataError(named.model_from + " names the model " + named.model + ", which is not in " +
                  folder);
}

std::array<std::string, 2> vocabulary_paths(const std::string& folder, const NamedFiles& named) {
  if (named.vocabularies.empty()) {
    for (const char* name : {"/vocab.spm", "/vocab.yml"})
      if (file_exists(folder + name)) return {folder + name, folder + name};
    throw DataError(folder +
                    " has no vocabulary: neither vocab.spm nor vocab.yml, and no decoder.yml "
                    "whose vocabs names others");
  }
  std::array<std::string, 2> paths;
  for (size_t side = 0; side < 2; ++side) {
    paths[side] = folder + "/" + named.vocabularies[side];
    if (!file_exists(paths[side]))
      throw DataError(named.vocabularies_from + " names the vocabulary " +
                      named.vocabularies[side] + ", which is not in " + folder);
  }
  return paths;
}

void read_subword_model(Side& side) {
  side.subword_model = side.path;
  const PieceSplitter splitter(read_regular_file(side.path, max_text), side.path);
  side.unk = splitter.unk();
  side.eos = -1;
  for (const ListedPiece& token : splitter.tokens()) {
    const auto id = int64_t(side.tokens.size());
    if (token.control) side.controls.push_back(id);
    if (token.control && token.text == "</s>") side.eos = id;
    side.bytes |= token.byte;
    side.tokens.push_back(token.text);
  }
  if (side.eos < 0) throw DataError(side.path + " has no token </s>, which ends a line for Marian");
}

void read_list(Side& side) {
  const std::string text = read_regular_file(side.path, max_text);
  const bool json = text.find_first_not_of(" \t\r\n") != text.npos &&
                    text[text.find_first_not_of(" \t\r\n")] == '{';
  const Json pairs = json ? parse_long_object(text, side.path) : parse_flat_yaml(text, side.path);
  side.tokens = tokens_by_id(pairs, side.path);
  // Lists of Nematus call the first two otherwise.
  const auto find = [&](const char* name, const char* older, size_t at) {
    if (at < side.tokens.size() && side.tokens[at] == older) return int64_t(at);
    const auto found = std::find(side.tokens.begin(), side.tokens.end(), name);
    if (found == side.tokens.end()) throw DataError(side.path + " has no token " + name);
    return int64_t(found - side.tokens.begin());
  };
  side.eos = find("</s>", "eos", 0);
  side.unk = find("<unk>", "UNK", 1);
}

Side read_side(const std::string& folder, const std::string& path, size_t which) {
  Side side;
  side.path = path;
  if (path.ends_with(".spm")) {
    read_subword_model(side);
    return side;
  }
  if (path.ends_with(".fsv"))
    throw DataError(path + " is a factored vocabulary, which tx does not have");
  if (!path.ends_with(".yml") && !path.ends_with(".yaml") && !path.ends_with(".json"))
    throw DataError(path +
                    " is no vocabulary that is known: known are .spm, .yml, .yaml and .json");
  read_list(side);
  const std::string model = folder + (which == 0 ? "/source.spm" : "/target.spm");
  if (file_exists(model)) side.subword_model = model;
  return side;
}

// The text of an array of bytes, which ends with zeros.
std::string text_of(const ForeignTensor& t, const std::string& where) {
  if ((t.dtype != "I8" && t.dtype != "U8") || t.shape.size() != 1)
    throw DataError(where + " is no text");
  const std::string_view bytes = t.bytes.substr(0, size_t(t.elements()));
  return std::string(bytes.substr(0, bytes.find('\0')));
}

}  // namespace

bool holds_marian_npz(const std::string& folder) {
  if (file_exists(folder + "/model.npz")) return true;
  return std::any_of(std::begin(settings_files), std::end(settings_files),
                     [&](const char* name) { return file_exists(folder + "/" + name); }) &&
         read_named(folder).model.ends_with(".npz");
}

MarianNpzFolder read_marian_npz_folder(const std::string& folder) {
  const NamedFiles named = read_named(folder);
  MarianNpzFolder in;
  in.path = model_path(folder, named);
  in.where = in.path + ": " + settings_array;
  in.weights = std::make_shared<ForeignTensors>(read_npz(in.path));
  if (in.weights->find(settings_array) == nullptr)
    throw DataError(in.path + " is no model of Marian: it lacks the array " + settings_array);
  in.settings = parse_flat_yaml(text_of(in.weights->at(settings_array), in.where), in.where);
  const auto paths = vocabulary_paths(folder, named);
  for (size_t side = 0; side < 2; ++side) in.sides[side] = read_side(folder, paths[side], side);
  return in;
}

}  // namespace tx
