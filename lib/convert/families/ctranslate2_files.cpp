#include "lib/convert/families/ctranslate2_files.h"

#include <algorithm>
#include <map>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/checkpoint/transfer.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

constexpr int64_t max_text = int64_t(1) << 28;  // bytes of a vocabulary or configuration

}  // namespace

CTranslate2Files::CTranslate2Files(const std::string& path) : path_(path) {
  if (!is_directory(path)) {
    memory_ = std::make_shared<ArchiveMemory>(path);
    archive_.emplace(memory_->bytes(), path);
    const std::string model = "/model/model.bin";
    for (const ZipArchive::Entry& e : archive_->entries())
      if (e.name.ends_with(model)) folder_ = e.name.substr(0, e.name.size() - model.size() + 1);
    if (folder_.empty()) throw DataError(path + " has no folder with model/model.bin");
  }
  settings_ = object("config.json");
  std::shared_ptr<const void> owner;
  const std::string_view bytes = model_bytes(owner);
  auto model = std::make_shared<CTranslate2Model>(parse_ctranslate2(bytes, where("model.bin")));
  model->tensors.keep(owner);
  model_ = model;
  used_.emplace(model_->tensors);
  const std::string& spec = model_->spec;
  if (spec == "TransformerDecoderSpec")
    stacks_ = {"decoder"};
  else if (!spec.empty() && spec != "TransformerSpec" && spec != "TransformerBase" &&
           spec != "TransformerBig")
    refuse("its class is " + shown(spec) + "; only translation and language models are supported");
}

void CTranslate2Files::refuse(const std::string& why) const {
  throw DataError(where("model.bin") + ": " + why);
}

// The model's own files are in model/, those of the package beside it.
std::string CTranslate2Files::inside(const std::string& name) const {
  const std::string in_model = folder_ + "model/" + name;
  return archive_->find(in_model) ? in_model : folder_ + name;
}

bool CTranslate2Files::has(const std::string& name) const {
  return archive_ ? archive_->find(inside(name)) != nullptr : file_exists(where(name));
}

std::string CTranslate2Files::text(const std::string& name) const {
  if (!archive_) return read_regular_file(where(name), max_text);
  std::string unpacked;
  const ZipArchive::Entry& entry = *archive_->find(inside(name));
  if (entry.size > uint64_t(max_text)) throw DataError(where(name) + " is too large");
  return std::string(archive_->content(entry, unpacked));
}

// `owner` receives what the bytes belong to.
std::string_view CTranslate2Files::model_bytes(std::shared_ptr<const void>& owner) const {
  if (!archive_) {
    const auto file = std::make_shared<MappedFile>(where("model.bin"));
    owner = file;
    return {file->data(), size_t(file->size())};
  }
  owner = memory_;
  const std::string name = inside("model.bin");
  return archive_->content(*archive_->find(name), memory_->unpacked[name]);
}

Json CTranslate2Files::object(const std::string& name) const {
  if (!has(name)) return Json::object();
  Json json = parse_json(text(name), where(name));
  if (!json.is_object()) throw DataError(where(name) + " is not a JSON object");
  return json;
}

// One token a line, or a list in JSON.
double CTranslate2Files::scalar(const std::string& stack, const std::string& name,
                                double otherwise) {
  const std::string key = used_->any_of({stack + "/" + name, name});
  if (key.empty()) return otherwise;
  used_->ignore(key);
  const ForeignTensor& t = model_->tensors.at(key);
  if (t.elements() != 1) refuse(key + " is not one number");
  if (t.dtype == "F32") {
    float value = 0;
    to_floats(t.bytes.data(), t.dtype, 1, &value);
    return double(value);
  }
  const auto width = size_t(element_size(t.dtype));
  if (t.dtype[0] != 'I') refuse(key + " is not a whole number");
  const auto bits = int64_t(little_endian(t.bytes, width)) << (64 - 8 * width);
  return double(bits >> (64 - 8 * width));
}
void CTranslate2Files::read_vocabularies() {
  const auto find = [&](const std::string& name) -> std::string {
    for (const char* end : {".json", ".txt"})
      if (has(name + end)) return name + end;
    return "";
  };
  const std::string joint = find(only_decoder() ? "vocabulary" : "shared_vocabulary");
  shared_ = !joint.empty();
  for (size_t i = 0; i < stacks_.size(); ++i) {
    const std::string name = only_decoder() ? "vocabulary"
                             : i == 0       ? "source_vocabulary"
                                            : "target_vocabulary";
    Side& side = sides_.emplace_back();
    side.file = shared_ ? joint : find(name);
    if (side.file.empty())
      throw DataError(where(name) + ".json or .txt is missing" +
                      (only_decoder() ? "" : ", and so is shared_vocabulary"));
    side.tokens = listed_tokens(text(side.file), where(side.file));
    read_special(side, i == 0 && !shared_);
    orders_.emplace_back(side.tokens, side.special, where(side.file),
                         side.own_start ? Start::own : Start::copied);
  }
}

// `source`: the side has a vocabulary of its own, from which nothing is output.
void CTranslate2Files::read_special(Side& side, bool source) {
  const FamilyConfig config(settings_, where("config.json"));
  const auto text = [&](const char* key, const std::string& otherwise) {
    return config.has(key) ? config.text(key) : otherwise;
  };
  const auto id = [&](const std::string& token) {
    return std::ranges::find(side.tokens, token) - side.tokens.begin();
  };
  const std::string unk = text("unk_token", "<unk>"), eos = text("eos_token", "</s>"),
                    bos = text("bos_token", "<s>");
  const bool starts_with_bos = scalar("", "with_target_bos", 1) != 0;
  scalar("", "user_decoder_start_tokens", 0);
  const std::string start = text("decoder_start_token", starts_with_bos ? bos : eos);
  const bool no_start = only_decoder() || scalar("decoder", "start_from_zero_embedding", 0) != 0;
  if (id(unk) == std::ssize(side.tokens)) side.tokens.push_back(unk);
  side.theirs = std::ssize(side.tokens);
  if (id(eos) == side.theirs) refuse("its vocabulary has no token " + shown(eos));
  SpecialIds& s = side.special;
  s = {std::min(id("<blank>"), id("<pad>")), id(unk), source ? id(bos) : id(start), id(eos)};
  if (no_start || s.pad == side.theirs) {
    std::string pad = "<pad>";
    while (id(pad) < side.theirs) pad += '_';
    s.pad = side.theirs;
    side.tokens.push_back(pad);
  }
  if (no_start || s.start >= side.theirs) s.start = s.pad;
  side.own_start = s.start != s.pad && s.start != s.unk && s.start != s.eos;
}

Vocabularies CTranslate2Files::vocabularies() const {
  std::vector<Vocabularies::Pointer> all;
  for (size_t side = 0; side < sides_.size(); ++side) all.push_back(vocabulary(side));
  return Vocabularies(std::move(all));
}

Vocabularies::Pointer CTranslate2Files::vocabulary(size_t side) const {
  std::string file;
  for (const char* name : {"sentencepiece.model", side == 0 ? "source.spm" : "target.spm"})
    if (file.empty() && has(name)) file = name;
  const std::vector<std::string>& ours = orders_[side].tokens();
  if (file.empty()) return parse_vocabulary(word_list(ours), where(sides_[side].file));
  std::string bytes = text(file);
  const std::vector<ListedPiece> pieces = PieceSplitter(bytes, where(file)).tokens();
  if (std::ranges::equal(pieces, ours, {}, &ListedPiece::text) && pieces[Vocabulary::pad].control &&
      pieces[Vocabulary::eos].control)
    return parse_vocabulary(std::move(bytes), where(file));
  MappedTokens content = orders_[side].content();
  content.bytes = std::ranges::any_of(pieces, &ListedPiece::byte);
  content.model = std::move(bytes);
  return parse_vocabulary(mapped_bytes(content), where(file));
}

std::optional<LexicalTable> CTranslate2Files::shortlist() const {
  if (only_decoder() || !has("vmap.txt")) return std::nullopt;
  std::map<std::string, int> ids[2];  // ours
  for (size_t side = 0; side < 2; ++side)
    for (size_t id = 0; id < sides_[side].tokens.size(); ++id)
      ids[side].emplace(sides_[side].tokens[id], orders_[side].id(int64_t(id)));
  LexicalTable table;
  table.of_source.resize(size_t(orders_[0].size()));
  for (const std::string& line : listed_tokens(text("vmap.txt"), where("vmap.txt"))) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) throw DataError(where("vmap.txt") + " has a line without a tab");
    const auto source = ids[0].find(line.substr(0, std::min(tab, line.find(' '))));
    if (tab > 0 && (source == ids[0].end() || source->second < 0)) continue;
    std::vector<LexicalTable::Entry>& list =
        tab == 0 ? table.frequent : table.of_source[size_t(source->second)];
    for (const std::string& token : split_at(line.substr(tab + 1), ' ')) {
      const auto target = ids[1].find(token);
      if (target != ids[1].end() && target->second > Vocabulary::bos)
        list.push_back({target->second, 1 / double(list.size() + 1)});
    }
  }
  return table;
}

Json CTranslate2Files::package() const {
  const Json all = object("metadata.json");
  Json out = Json::object();
  for (const char* key : {"name", "from_code", "from_name", "to_code", "to_name", "license",
                          "package_version", "argos_version"})
    if (all.contains(key) && all[key].is_string()) out[key] = all[key];
  return out;
}

}  // namespace tx
