#include "lib/model/config.h"

#include <algorithm>
#include <functional>
#include <set>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/split.h"

namespace tx {

namespace {

// The number nearest to `wanted`, from 1 to `max`, that `fits`; 1 if there is none.
int nearest(int wanted, int max, const std::function<bool(int)>& fits) {
  for (int distance = 0; distance < wanted + max; ++distance)
    for (const int n : {wanted - distance, wanted + distance})
      if (n >= 1 && n <= max && fits(n)) return n;
  return 1;
}

void check_min(const char* option, int64_t value, int64_t min) {
  if (value < min)
    throw UsageError(std::string(option) + " " + std::to_string(value) + ": must be at least " +
                     std::to_string(min));
}

}  // namespace

void ModelConfig::set_kind(ModelKind which) {
  kind = which;
  sides.resize(which == ModelKind::encoder_decoder ? 2 : 1);
}

void ModelConfig::resolve() {
  TX_ASSERT(sides.size() == (kind == ModelKind::encoder_decoder ? 2u : 1u));
  check_min("--d-model", d_model, 2);
  check_min("--d-ff", d_ff, 0);
  check_min("--heads", heads, 1);
  for (size_t side = 0; side < sides.size(); ++side)
    check_min(names(side).layers_option, sides[side].layers, 1);
  const auto fit = [&](int width, int count) {  // without --d-k
    return width % 2 == 0 && width % count == 0 && (!rotary() || width / count % 2 == 0);
  };
  if (d_model % 2 != 0) {
    int even = d_model + 1;
    while (d_k == 0 && !fit(even, heads)) ++even;
    throw UsageError("--d-model " + std::to_string(d_model) +
                     ": must be even, since positions are pairs of sine and cosine; use " +
                     std::to_string(even));
  }
  if (d_k == 0) {
    const auto fits = [&](int n) {
      return fit(d_model, n) && (kv_heads == 0 || n % kv_heads == 0);
    };
    if (d_model % heads != 0)
      throw UsageError("--heads " + std::to_string(heads) + " does not divide --d-model " +
                       std::to_string(d_model) + ": use --heads " +
                       std::to_string(nearest(heads, d_model, fits)) + ", or give --d-k");
    d_k = d_model / heads;
  }
  if (d_v == 0) d_v = d_k;
  check_min("--d-k", d_k, 1);
  check_min("--d-v", d_v, 1);
  if (heads % key_heads() != 0)
    throw UsageError(
        "--kv-heads " + std::to_string(kv_heads) + " does not divide --heads " +
        std::to_string(heads) + ": use --kv-heads " +
        std::to_string(nearest(kv_heads, heads, [&](int n) { return heads % n == 0; })));
  kv_heads = key_heads();
  if (decoder_memory != DecoderMemory::attention && kind != ModelKind::encoder_decoder)
    throw UsageError("--decoder-memory " + decoder_memory.name + ": a model of kind " + kind.name +
                     " has no cross-attention");
  if (output_layer && (kind != ModelKind::encoder || gated()))
    throw UsageError("--output-layer is for models of --kind encoder without gates");
  check_positions();
  for (const SideConfig& side : sides)
    if (shares_embeddings() && side.vocabulary != target().vocabulary)
      throw UsageError("--tie " + tie.name +
                       " needs one vocabulary for both sides, but the source has " +
                       std::to_string(side.vocabulary) + " and the target " +
                       std::to_string(target().vocabulary) + " tokens: use --tie target");
}

void ModelConfig::check_positions() const {
  if (rotary() && d_k % 2 != 0)
    throw UsageError("--positions rotary rotates pairs of features: --d-k " + std::to_string(d_k) +
                     " must be even");
  for (const double x : {rotary_base, rotary_factor, rotary_low, rotary_high, norm_epsilon})
    if (!(x > 0 && x < 1e12))
      throw UsageError("norm_epsilon and the settings of rotary positions must be above 0, not " +
                       to_text(Json(x)));
  if (rotary_scaling == RotaryScaling::ntk && d_k == 2)
    throw UsageError("--rotary-scaling ntk needs a --d-k above 2");
  if (rotary_scaling == RotaryScaling::llama3 && rotary_high <= rotary_low)
    throw UsageError("rotary_high must be above rotary_low");
  if (relative() &&
      (distance_buckets < 4 || distance_buckets > max_buckets || distance_buckets % 4 != 0 ||
       distance_reach <= distance_buckets / 2 || distance_reach > 1 << 20))
    throw UsageError("distance_buckets must be a multiple of 4 up to " +
                     std::to_string(max_buckets) + ", and distance_reach above its half");
  if (learned_positions() && position_offset >= max_positions)
    throw UsageError("--max-positions " + std::to_string(max_positions) + ": must be above " +
                     std::to_string(position_offset) + ", the position of the first token");
}

int64_t ModelConfig::layers() const {
  int64_t sum = 0;
  for (const SideConfig& side : sides) sum += side.layers;
  return sum;
}

int64_t ModelConfig::max_tokens() const {
  int64_t max = 0;
  for (const SideConfig& side : sides) max = std::max(max, side.vocabulary);
  return max;
}

void ModelConfig::set_vocabularies(int64_t size) {
  set_vocabularies(std::vector<int64_t>(sides.size(), size));
}

void ModelConfig::set_vocabularies(const std::vector<int64_t>& sizes) {
  TX_ASSERT(sizes.size() == sides.size());
  for (size_t side = 0; side < sides.size(); ++side) sides[side].vocabulary = sizes[side];
}

void ModelConfig::set_layers(int count) {
  for (SideConfig& side : sides) side.layers = count;
}

namespace {

// All fields, or the rare ones alone.
Json fields_of(const ModelConfig& config, bool only_rare) {
  Json json = Json::object();
  visit_fields(config, [&](const ConfigField& field, const auto& value) {
    if (only_rare && !field.rare) return;
    if constexpr (requires { value.name; })
      json[field.key] = value.name;
    else
      json[field.key] = value;
  });
  return json;
}

}  // namespace

Json ModelConfig::to_json() const {
  static const Json defaults = fields_of(ModelConfig(), true);
  Json json = fields_of(*this, false);
  for (const auto& [key, value] : defaults.items())
    if (json[key] == value) json.erase(key);
  return json;
}

namespace {

std::string damaged_config(const std::string& where) {
  return where + ": the model's configuration is damaged";
}

DataError damaged(const std::string& where, const std::string& why) {
  return DataError(damaged_config(where) + ": " + why);
}

// Sets the fields of a configuration from a file's JSON.
class FieldReader {
 public:
  FieldReader(const Json& json, const std::string& where) : json_(json), where_(where) {}

  template <class T>
  void operator()(const ConfigField& field, T& value) {
    known_.insert(field.key);
    if (!json_.contains(field.key)) return;
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, int64_t>)
      value = size<T>(field);
    else if constexpr (requires { value.name; })
      set_name(field.key, value);
    else
      value = json_value<T>(json_, field.key, damaged_config(where_));
  }
  void refuse_unknown_keys() const {
    for (const auto& [key, value] : json_.items())
      if (known_.count(key) == 0)
        throw DataError(where_ + ": the model's configuration has the key \"" + key +
                        "\", which tx " TX_VERSION " does not support; use a newer tx");
  }

 private:
  template <class T>
  T size(const ConfigField& field) const {
    constexpr int64_t max = int64_t(1) << 24;  // keeps every product of sizes far from overflow
    try {
      return T(whole_number(json_, field.key, int64_t(field.min), max));
    } catch (const DataError& e) {
      throw damaged(where_, e.what());
    }
  }

  template <class E>
  void set_name(const char* key, Named<E>& value) {
    value.name = json_value<std::string>(json_, key, damaged_config(where_));
    if (value.valid()) return;
    throw DataError(where_ + ": unknown " + key + " " + shown(value.name) +
                    " in the model's configuration");
  }
  const Json& json_;
  const std::string& where_;
  std::set<std::string> known_;
};

}  // namespace

ModelConfig ModelConfig::from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) throw damaged(where, "it is not a JSON object");
  ModelConfig c;
  FieldReader reader(json, where);
  try {
    visit_fields(c, [&](const ConfigField& field, auto& value) {
      reader(field, value);
      if constexpr (std::is_same_v<decltype(value), Named<ModelKind>&>) c.set_kind(value);
    });
    reader.refuse_unknown_keys();
    for (const SideConfig& side : c.sides)
      if (side.vocabulary == 0) throw damaged(where, "it has no vocabulary size");
    c.resolve();
  } catch (const UsageError& e) {
    throw DataError(where + ": " + e.what());
  }
  return c;
}

namespace {

// Adds the option of a field.
class FieldDescriber {
 public:
  explicit FieldDescriber(Options& options) : options_(options) {}

  template <class T>
  void operator()(const ConfigField& f, T& value) {
    if (f.option == nullptr) return;
    if (f.ablation) options_.group("Ablations");
    if constexpr (std::is_same_v<T, bool>)
      options_.flag(f.option, value, f.help, f.long_help);
    else if constexpr (requires { value.name; })
      options_.add(f.option, value, f.help, f.long_help);
    else
      options_.add(f.option, value, f.unit, f.help, f.long_help).range(f.min, f.max);
  }

 private:
  Options& options_;
};

}  // namespace

void describe_model(Options& options, ModelConfig& config, int& layers) {
  options.group("Model");
  options.add("--layers", layers, "N", "layers of each stack")
      .range(1, 1000)
      .default_is(std::to_string(config.sides.front().layers));
  visit_fields(config, FieldDescriber(options));
  options.group("Model");  // after the ablations
  options.at("d-k").default_is("d-model / heads");
  options.at("d-v").default_is("d-k");
  options.at("kv-heads").default_is("heads");
  options.at("window").default_is("all");
  for (const char* name : {"rotary-base", "rotary-scaling"})
    options.at(name).needs({{"--positions", "rotary"}});
  options.at("rotary-factor")
      .needs({{"--rotary-scaling", "linear"},
              {"--rotary-scaling", "ntk"},
              {"--rotary-scaling", "llama3"}});
  options.at("max-positions").needs({{"--positions", "learned"}});
  options.at("attention-output-bias").needs({{"--attention-bias"}});
}

}  // namespace tx
