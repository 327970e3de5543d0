// make_model FILE [OPTION VALUE]...: writes a model with random weights, for tests of tools that
// read models. Options and defaults: seed (1), words (60: the size of a vocabulary w4, w5, ...),
// vocabulary (a file to use instead), layers (2), noise (0: the largest random number added to
// biases and gains), and the keys of a configuration: d_model (32), d_ff (64), heads (4),
// max_positions (64).
#include <cstdio>
#include <map>
#include <random>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/cli/options.h"

namespace {

std::shared_ptr<const tx::Vocabulary> words(int size) {
  std::string bytes = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  for (int i = tx::Vocabulary::specials; i < size; ++i) bytes += "w" + std::to_string(i) + "\n";
  return tx::parse_vocabulary(bytes, "words");
}

using Settings = std::map<std::string, std::string>;

std::string take(Settings& settings, const char* name, const char* otherwise) {
  const auto found = settings.extract(name);
  return found ? found.mapped() : otherwise;
}

tx::ModelConfig configuration(Settings& settings, int64_t vocabulary) {
  tx::ModelConfig shape;
  shape.kind.name = take(settings, "kind", "encoder-decoder");
  if (!shape.kind.valid()) throw tx::UsageError("kind " + shape.kind.name + " is none");
  shape.set_kind(shape.kind);
  const int layers = std::stoi(take(settings, "layers", "2"));
  tx::Json json = {{"kind", shape.kind.name},
                   {"d_model", 32},
                   {"d_ff", 64},
                   {"heads", 4},
                   {"max_positions", 64}};
  for (size_t side = 0; side < shape.sides.size(); ++side) {
    json[shape.names(side).vocabulary_key] = vocabulary;
    json[shape.names(side).layers_key] = layers;
  }
  for (const auto& [key, text] : settings) {
    const tx::Json value = tx::Json::parse(text, nullptr, false);  // or a name
    json[key] = value.is_discarded() ? tx::Json(text) : value;
  }
  return tx::ModelConfig::from_json(json, "make_model");
}

void add_noise(tx::Parameters& parameters, double largest, uint32_t seed) {
  std::mt19937 random(seed);
  for (const tx::ParameterEntry& e : parameters.table()) {
    if (!e.vector) continue;
    std::vector<float> row(size_t(e.cols));
    const tx::Matrix at = parameters.fp32_weights(e);
    parameters.backend()->download(row.data(), at.data, row.size() * 4);
    for (float& x : row) x += float(largest * (double(random()) / (1u << 31) - 1));
    parameters.backend()->upload(at.data, row.data(), row.size() * 4);
  }
}

int run(const std::string& path, Settings settings) {
  const auto seed = uint32_t(std::stoi(take(settings, "seed", "1")));
  const double noise = std::stod(take(settings, "noise", "0"));
  const int size = std::stoi(take(settings, "words", "60"));
  const std::string file = take(settings, "vocabulary", "");
  const std::shared_ptr<const tx::Vocabulary> vocabulary =
      file.empty() ? words(size) : tx::load_vocabulary(file);
  const tx::ModelConfig config = configuration(settings, vocabulary->size());
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Parameters parameters = tx::Parameters::only_weights(backend, config, tx::DType::f32);
  parameters.initialise(seed);
  if (noise > 0) add_noise(parameters, noise, seed);
  save_model(path, parameters, {vocabulary, config.sides.size()}, tx::Json::object());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("make_model", [&] {
    Settings settings;
    for (int i = 2; i + 1 < argc; i += 2) settings[argv[i]] = argv[i + 1];
    return run(argv[1], settings);
  });
}
