#include "lib/convert/families/marian_npz_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/directory.h"
#include "lib/convert/formats/tensors.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

constexpr int64_t max_text = int64_t(1) << 28;  // bytes of settings or of a vocabulary
constexpr const char* settings_array = "special:model.yml";
constexpr const char* settings_files[] = {"decoder.yml", "model.npz.decoder.yml", "config.yml",
                                          "model.npz.yml"};

using Side = MarianNpzFiles::Side;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_marian_bin_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  file.read(head.data(), 8);
  return file.good() && is_marian_bin(head);
}

// The only file of the directory whose name begins and ends so, and that `fits`; "": none.
std::string only_file(const std::string& directory, const std::string& begin,
                      const std::string& end, bool (*fits)(const std::string&) = nullptr) {
  std::string found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path(), name = last_part(path);
    if (!name.starts_with(begin) || !name.ends_with(end) || (fits && !fits(path))) continue;
    if (!found.empty())
      throw DataError(directory + " has several files " + begin + "*" + end + ": " +
                      last_part(found) + " and " + name + "; keep one");
    found = path;
  }
  return found;
}

bool is_shortlist_file(const std::string& path) { return last_part(path).starts_with("lex"); }
bool is_model_file(const std::string& path) {
  return !is_shortlist_file(path) && is_marian_bin_file(path);
}

// The paths in the settings files.
struct NamedFiles {
  std::string model, model_from;  // and the settings file that names it
  std::vector<std::string> vocabularies;
  std::string vocabularies_from;
  Json decoder = Json::object();
  std::string decoder_path;
};

std::vector<std::string> names_in(const Json& settings, const char* key, const std::string& path) {
  std::vector<std::string> names;
  const Json value = settings.value(key, Json());
  if (value.is_null()) return names;
  for (const Json& name : value) {
    if (!name.is_string()) throw DataError(path + ": " + key + " must be names of files");
    names.push_back(last_part(name.get<std::string>()));
  }
  return names;
}

NamedFiles read_named(const std::string& directory) {
  NamedFiles named;
  for (const char* file : settings_files) {
    const std::string path = directory + "/" + file;
    if (!file_exists(path)) continue;
    const Json settings = parse_flat_yaml(read_regular_file(path, max_text), path);
    if (named.decoder_path.empty() && path.ends_with("decoder.yml")) {
      named.decoder = settings;
      named.decoder_path = path;
    }
    std::vector<std::string> models = names_in(settings, "models", path);
    if (models.empty()) models = names_in(settings, "model", path);
    if (models.size() > 1)
      throw DataError(path + " names " + std::to_string(models.size()) +
                      " models: put each into a directory of its own");
    if (named.model.empty() && !models.empty()) {
      named.model = models[0];
      named.model_from = path;
    }
    const std::vector<std::string> vocabularies = names_in(settings, "vocabs", path);
    if (!named.vocabularies.empty() || vocabularies.empty()) continue;
    if (vocabularies.size() != 2)
      throw DataError(path + " names " + std::to_string(vocabularies.size()) +
                      " vocabularies; expected 2");
    named.vocabularies = vocabularies;
    named.vocabularies_from = path;
  }
  return named;
}

std::string model_path(const std::string& directory, const NamedFiles& named) {
  if (!named.model.empty() && file_exists(directory + "/" + named.model))
    return directory + "/" + named.model;
  if (file_exists(directory + "/model.npz")) return directory + "/model.npz";
  if (const std::string bin = only_file(directory, "", ".bin", is_model_file); !bin.empty())
    return bin;
  throw DataError(named.model_from + " names the model " + named.model + ", which is not in " +
                  directory);
}

std::array<std::string, 2> vocabulary_paths(const std::string& directory, const NamedFiles& named) {
  if (named.vocabularies.empty()) {
    const std::string source = only_file(directory, "srcvocab", ".spm"),
                      target = only_file(directory, "trgvocab", ".spm");
    if (!source.empty() && !target.empty()) return {source, target};
    std::string both = only_file(directory, "vocab", ".spm");
    if (both.empty() && file_exists(directory + "/vocab.yml")) both = directory + "/vocab.yml";
    if (!both.empty()) return {both, both};
    throw DataError(directory +
                    " has no vocabulary: no vocab*.spm, no vocab.yml and no vocabs in decoder.yml");
  }
  std::array<std::string, 2> paths;
  for (size_t side = 0; side < 2; ++side) {
    paths[side] = directory + "/" + named.vocabularies[side];
    if (!file_exists(paths[side]))
      throw DataError(named.vocabularies_from + " names the vocabulary " +
                      named.vocabularies[side] + ", which is not in " + directory);
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
  if (side.eos < 0) throw DataError(side.path + " has no token </s>");
}

void read_list(Side& side) {
  const std::string text = read_regular_file(side.path, max_text);
  const bool json = text.find_first_not_of(" \t\r\n") != text.npos &&
                    text[text.find_first_not_of(" \t\r\n")] == '{';
  const Json pairs = json ? parse_json(text, side.path) : parse_flat_yaml(text, side.path);
  side.tokens = tokens_by_id(pairs, side.path);
  // Nematus has other names for the first two.
  const auto find = [&](const char* name, const char* older, size_t at) {
    if (at < side.tokens.size() && side.tokens[at] == older) return int64_t(at);
    const auto found = std::find(side.tokens.begin(), side.tokens.end(), name);
    if (found == side.tokens.end()) throw DataError(side.path + " has no token " + name);
    return int64_t(found - side.tokens.begin());
  };
  side.eos = find("</s>", "eos", 0);
  side.unk = find("<unk>", "UNK", 1);
}

Side read_side(const std::string& directory, const std::string& path, size_t which) {
  Side side;
  side.path = path;
  if (path.ends_with(".spm")) {
    read_subword_model(side);
    return side;
  }
  if (path.ends_with(".fsv"))
    throw DataError(path + " is a factored vocabulary, which is not supported");
  if (!path.ends_with(".yml") && !path.ends_with(".yaml") && !path.ends_with(".json"))
    throw DataError(path + " is not a supported vocabulary: expected .spm, .yml, .yaml or .json");
  read_list(side);
  const std::string model = directory + (which == 0 ? "/source.spm" : "/target.spm");
  if (file_exists(model)) side.subword_model = model;
  return side;
}

// The text in an array of bytes, up to the first zero.
std::string text_of(const ForeignTensor& t, const std::string& where) {
  if ((t.dtype != "I8" && t.dtype != "U8") || t.shape.size() != 1)
    throw DataError(where + " is not text");
  const std::string_view bytes = t.bytes.substr(0, size_t(t.elements()));
  return std::string(bytes.substr(0, bytes.find('\0')));
}

ForeignTensors read_tensors(const std::string& path) {
  if (path.ends_with(".npz")) return read_npz(path);
  const auto file = std::make_shared<MappedFile>(path);
  ForeignTensors tensors = parse_marian_bin({file->data(), size_t(file->size())}, path);
  tensors.keep(file);
  return tensors;
}

}  // namespace

bool holds_marian(const std::string& directory) {
  if (file_exists(directory + "/model.npz")) return true;
  if (!only_file(directory, "", ".bin", is_model_file).empty()) return true;
  return std::any_of(std::begin(settings_files), std::end(settings_files),
                     [&](const char* name) { return file_exists(directory + "/" + name); }) &&
         read_named(directory).model.ends_with(".npz");
}

MarianNpzFiles read_marian_npz(const std::string& directory) {
  const NamedFiles named = read_named(directory);
  MarianNpzFiles in;
  in.path = model_path(directory, named);
  in.where = in.path + ": " + settings_array;
  in.decoder = named.decoder;
  in.decoder_path = named.decoder_path;
  in.weights = std::make_shared<ForeignTensors>(read_tensors(in.path));
  if (in.weights->find(settings_array) == nullptr)
    throw DataError(in.path + " is not a Marian model: it has no array " + settings_array);
  in.settings = parse_flat_yaml(text_of(in.weights->at(settings_array), in.where), in.where);
  in.shortlist = only_file(directory, "lex", ".bin");
  const auto paths = vocabulary_paths(directory, named);
  for (size_t side = 0; side < 2; ++side) in.sides[side] = read_side(directory, paths[side], side);
  return in;
}

}  // namespace tx
