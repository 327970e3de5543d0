// make_model FILE [OPTION VALUE]...: writes a model with random weights, for tests of tools that
// read models. Options and defaults: seed (1), words (60: the size of a vocabulary w4, w5, ...),
// vocabulary (a file to use instead), d_model (32), d_ff (64), heads (4), d_k (d_model / heads),
// d_v (d_k), layers (2), max_positions (64), kind, positions, norm.
#include <cstdio>
#include <map>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/cli/options.h"

namespace {

std::shared_ptr<const tx::Vocabulary> words(int size) {
  std::string bytes = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  for (int i = tx::Vocabulary::specials; i < size; ++i) bytes += "w" + std::to_string(i) + "\n";
  return tx::parse_vocabulary(bytes, "words");
}

int run(const std::string& path, std::map<std::string, std::string> settings) {
  const auto number = [&](const char* name, int otherwise) {
    return settings.count(name) ? std::stoi(settings.at(name)) : otherwise;
  };
  const std::shared_ptr<const tx::Vocabulary> vocabulary =
      settings.count("vocabulary") ? tx::load_vocabulary(settings.at("vocabulary"))
                                   : words(number("words", 60));
  tx::ModelConfig config;
  if (settings.count("kind")) {
    config.kind.name = settings.at("kind");
    if (!config.kind.valid()) throw tx::UsageError("kind " + config.kind.name + " is none");
    config.set_kind(config.kind);
  }
  config.set_vocabularies(vocabulary->size());
  config.set_layers(number("layers", 2));
  config.d_model = number("d_model", 32);
  config.d_ff = number("d_ff", 64);
  config.heads = number("heads", 4);
  config.max_positions = number("max_positions", 64);
  config.d_k = number("d_k", 0);
  config.d_v = number("d_v", 0);
  if (settings.count("positions")) config.positions.name = settings.at("positions");
  if (settings.count("norm")) config.norm.name = settings.at("norm");
  config.resolve();
  tx::Backend backend = tx::make_backend("cpu", 1);
  tx::Parameters parameters = tx::Parameters::only_weights(backend, config, tx::DType::f32);
  parameters.initialise(uint32_t(number("seed", 1)));
  save_model(path, parameters, {vocabulary, config.sides.size()}, tx::Json::object());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("make_model", [&] {
    std::map<std::string, std::string> settings;
    for (int i = 2; i + 1 < argc; i += 2) settings[argv[i]] = argv[i + 1];
    return run(argv[1], settings);
  });
}
