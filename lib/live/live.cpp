#include "lib/live/live.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <sstream>

#include "lib/attention/output.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/transfer.h"
#include "lib/page/page.h"
#include "lib/subword/languages.h"
#include "lib/text/corpus.h"

namespace tx {

namespace {

// Files of lib/live/page, or of another directory, in this order; without their endings.
const std::vector<std::string> engine_scripts = {"weights",    "sentencepiece", "tokens", "vectors",
                                                 "kernels",    "positions",     "engine", "search",
                                                 "translator", "probe",         "worker"};
const std::vector<std::string> page_scripts = {"lib/attention/page/attention",
                                               "lib/attention/page/lines",
                                               "lib/attention/page/matrix",
                                               "lib/attention/page/steps",
                                               "terms",
                                               "client",
                                               "model",
                                               "changes",
                                               "text",
                                               "heads",
                                               "hand",
                                               "values",
                                               "compare",
                                               "tour",
                                               "guide",
                                               "app"};
const std::vector<std::string> page_styles = {"lib/attention/page/attention", "live"};

constexpr int64_t alignment = 8;  // of arrays in the weights, for typed arrays in JavaScript
int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
int64_t base64_size(int64_t bytes) { return (bytes + 2) / 3 * 4; }

std::vector<std::string> page_files(const std::vector<std::string>& names, const char* ending) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back((name.find('/') == name.npos ? "lib/live/page/" : "") + name + ending);
  return out;
}

void append(std::string& bytes, const void* data, size_t count) {
  bytes.append(static_cast<const char*>(data), count);
}

// The languages of the training text, such as en and de: the endings of --src and
// --tgt in its provenance, tx-model(5), if both have two letters; otherwise empty.
Json languages_of(const Json& provenance) {
  Json out = Json::array();
  std::string source, target;
  // tx-avg keeps the provenance of its inputs as "common".
  for (const Json* origin = &provenance; origin->is_object() && source.empty();) {
    const Json recorded = origin->value("command", Json());
    std::istringstream command(recorded.is_string() ? recorded.get<std::string>() : "");
    for (std::string word; command >> word;) {
      if (word == "--src") command >> source;
      if (word == "--tgt") command >> target;
    }
    if (!origin->contains("common")) break;
    origin = &origin->at("common");
  }
  for (std::string path : {source, target}) {
    for (const char* packed : {".gz", ".zst"})
      if (path.ends_with(packed)) path.resize(path.size() - std::strlen(packed));
    const std::string ending = path.substr(path.rfind('.') + 1);
    const bool letters = ending.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == ending.npos;
    if (path.find('.') == path.npos || !letters || ending.size() != 2) return Json::array();
    out.push_back(ending);
  }
  return out;
}

// A model and the layout of its weights in the page.
class LiveModel {
 public:
  LiveModel(const std::string& path, const DumpOptions& options)
      : name_(path), file_(path), int8_(options.weights == "int8") {
    refuse_languages(file_.vocabularies(), "--live", path);
    if (!file_.config().source_eos || !file_.config().source_bos)
      throw DataError("--live: the texts of " + path + " lack <s> or </s>, which the page adds");
    if (file_.config().decoder_memory == DecoderMemory::ssru)
      throw DataError(
          "--live: " + path +
          " has a recurrent decoder (--decoder-memory ssru), which the page cannot run; "
          "--html shows its encoder and cross-attention");
    if (const char* option = file_.config().exotic())
      throw DataError("--live: " + path + " has " + option + ", which the page cannot run");
    for (size_t side = 0; side < file_.vocabularies().size(); ++side)
      if (const MappedTokens* content = file_.vocabularies()[side].mapped();
          content && has_tokenizer(*content))
        throw DataError("--live: the vocabulary of " + path +
                        " is from a tokenizer.json, which the page cannot read");
    if (!int8_ && file_.has_int8())
      throw UsageError("--weights f16: " + path +
                       " holds 8-bit weights; give --weights int8, or the model it was made from");
    for (const ParameterEntry& e : file_.table()) place(e);
  }

  const std::string& name() const { return name_; }
  const ModelReader& file() const { return file_; }
  int64_t weight_bytes() const { return bytes_; }  // before base64

  Json description() const {
    return {{"name", name_},
            {"kind", file_.config().kind.name},
            {"checksum", file_.checksum()},
            {"precision", int8_ ? "int8" : "f16"},
            {"config", file_.config().to_json()},
            {"languages", languages_of(file_.provenance())},
            {"vocabularies", vocabularies()},
            {"tensors", tensors_}};
  }
  std::string weights() const {
    std::string out;
    out.reserve(size_t(bytes_));
    for (const ParameterEntry& e : file_.table()) {
      if (type(e) == "int8")
        append_int8(out, e);
      else
        append_floats(out, e);
      file_.finished(e);
    }
    TX_ASSERT(int64_t(out.size()) == bytes_);
    return out;
  }

 private:
  std::string type(const ParameterEntry& e) const {
    if (e.vector || e.lookup) return "f32";
    return int8_ ? "int8" : "f16";
  }
  void place(const ParameterEntry& e) {
    const std::string kind = type(e);
    const int64_t size = kind == "int8" ? 1 : kind == "f16" ? 2 : 4;
    Json& tensor = tensors_[e.name];
    tensor["shape"] = e.vector ? Json{e.cols} : Json{e.rows, e.cols};
    tensor["type"] = kind;
    tensor["at"] = bytes_;
    bytes_ += aligned(e.rows * e.cols * size);
    if (kind != "int8") return;
    tensor["scales_at"] = bytes_;
    bytes_ += aligned(e.rows * 4);
  }
  void append_int8(std::string& out, const ParameterEntry& e) const;
  void append_floats(std::string& out, const ParameterEntry& e) const;
  void check_finite(const float* values, int64_t count, const ParameterEntry& e) const;
  Json vocabularies() const;

  std::string name_;
  ModelReader file_;
  bool int8_;
  int64_t bytes_ = 0;
  Json tensors_ = Json::object();
};

void append_padding(std::string& out) { out.resize(size_t(aligned(int64_t(out.size())))); }

void LiveModel::check_finite(const float* values, int64_t count, const ParameterEntry& e) const {
  if (std::all_of(values, values + count, [](float x) { return std::isfinite(x); })) return;
  throw DataError(name_ + " is damaged: " + e.name + " has a weight that is not a finite number");
}

// Quantised like the weights of tx-decode --precision int8; those of an int8 file are not changed.
void LiveModel::append_int8(std::string& out, const ParameterEntry& e) const {
  std::vector<float> scales(size_t(e.padded_rows));
  std::vector<uint8_t> group(size_t(int8_group_bytes(e.cols)));
  std::vector<float> mapped_scales;
  const Int8Weights mapped =
      file_.has_int8() ? mapped_int8(file_.file(), {&e, 1}, mapped_scales) : Int8Weights{};
  const WeightRows rows = file_.rows(e);
  for (int64_t g = 0; g < int8_groups(e.rows); ++g) {
    const int64_t first = g * kInt8Group, count = std::min(kInt8Group, e.rows - first);
    const uint8_t* from = group.data();
    if (mapped.groups)
      from = mapped.groups + g * int8_group_bytes(e.cols);
    else
      quantise_group(rows, g, group.data(), scales.data() + first);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t i = 0; i < e.cols; ++i)
        out += char(from[i / 4 * 4 * kInt8Group + 4 * r + i % 4] - 128);
  }
  append_padding(out);
  check_finite(mapped.groups ? mapped.scales : scales.data(), e.rows, e);
  append(out, mapped.groups ? mapped.scales : scales.data(), size_t(e.rows) * 4);
  append_padding(out);
}

void LiveModel::append_floats(std::string& out, const ParameterEntry& e) const {
  const WeightRows rows = file_.rows(e);
  const bool half = type(e) == "f16";
  std::vector<float> row(size_t(e.cols));
  for (int64_t r = 0; r < e.rows; ++r) {
    rows.read(r, 1, row.data());
    check_finite(row.data(), e.cols, e);
    if (!half) append(out, row.data(), row.size() * 4);
    for (size_t i = 0; half && i < row.size(); ++i) {
      const uint16_t bits = to_half(row[i]);
      if ((bits & 0x7FFF) == 0x7C00)
        throw DataError(name_ + ": " + e.name + " has a weight that f16 cannot represent, " +
                        std::to_string(row[i]) + ": give --weights int8");
      append(out, &bits, 2);
    }
  }
  append_padding(out);
}

Json LiveModel::vocabularies() const {
  const Vocabularies& all = file_.vocabularies();
  Json out = Json::array();
  for (size_t side = 0; side < (all.shared() ? 1 : all.size()); ++side)
    out.push_back({{"kind", all[side].kind()},
                   {"hash", all[side].hash()},
                   {"bytes", base64(all[side].bytes())}});
  return out;
}

constexpr size_t max_example = 2000;  // the page accepts as many UTF-16 units

// The lines that are not blank.
Json read_examples(const DumpOptions& options, const Log& log) {
  Json out = Json::array();
  if (options.files.empty()) return out;
  TextReader in(options.files, options.strict);
  for (std::string line; in.next(line);) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (out.size() == max_live_examples)
      throw DataError(in.place(in.line_number()) + ": the page shows at most " +
                      std::to_string(max_live_examples) +
                      " examples: select some lines, for example with head -n " +
                      std::to_string(max_live_examples));
    if (line.size() > max_example)
      throw DataError(in.place(in.line_number()) + ": an example has at most " +
                      grouped(double(max_example)) + " bytes");
    out.push_back(line);
  }
  for (const std::string& warning : in.warnings()) log.warn(warning);
  return out;
}

void check_limit(int64_t bytes, const DumpOptions& options) {
  if (bytes <= options.page_limit()) return;
  const int64_t mb = 1'000'000, needed = (bytes + mb - 1) / mb;
  throw UsageError("the page needs " + std::to_string(needed) + " MB, more than --html-limit " +
                   std::to_string(options.page_limit() / mb) + ": increase it, or use " +
                   (options.weights == "f16" ? "--weights int8" : "a smaller model"));
}

std::string footer(const std::deque<LiveModel>& models) {
  std::string out = made_by("tx-attn-dump") + ", page format " + std::to_string(live_page_format);
  for (const LiveModel& model : models) {
    const Vocabularies& all = model.file().vocabularies();
    out += ", model " + model.name() + ", vocabulary " + all.source().hash();
    if (!all.shared()) out += " and " + all.target().hash();
  }
  return out;
}

}  // namespace

void write_live_page(const DumpOptions& options, const Log& log) {
  if (options.translator.models.size() > max_live_models)
    throw UsageError("--model is given " + std::to_string(options.translator.models.size()) +
                     " times, but a page compares at most " + std::to_string(max_live_models) +
                     " models");
  std::deque<LiveModel> models;
  int64_t weights = 0;
  for (const std::string& path : options.translator.models) {
    const LiveModel& model = models.emplace_back(path, options);
    weights += base64_size(model.weight_bytes());
    const std::string kind = model.file().config().kind.name;
    const std::string first = models.front().file().config().kind.name;
    if (kind != first)
      throw UsageError("--live compares models of one kind: " + models.front().name() +
                       " is of kind " + first + ", " + path + " of kind " + kind);
  }
  Json data = {{"format", live_page_format},
               {"models", Json::array()},
               {"examples", read_examples(options, log)}};
  for (const LiveModel& model : models) data["models"].push_back(model.description());
  PageSpec page;
  page.title = "Live Transformer";
  page.footer = footer(models);
  page.styles = page_files(page_styles, ".css");
  page.scripts = page_files(page_scripts, ".js");
  page.worker = page_files(engine_scripts, ".js");
  const std::string json = to_text(data);
  check_limit(weights + int64_t(html_page(page, json).size()), options);
  for (const LiveModel& model : models)
    page.texts.emplace_back("weights-" + std::to_string(page.texts.size()),
                            base64(model.weights()));
  write_atomically(options.html, html_page(page, json));
}

}  // namespace tx
