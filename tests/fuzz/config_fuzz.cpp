// Untrusted JSON: tx-train's --config, and the configuration inside a model.
#include "lib/base/json.h"
#include "lib/model/config.h"
#include "lib/train/plan/resolve.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

namespace {

tx::ModelConfig model() {
  tx::ModelConfig config;
  config.set_vocabularies(11);
  config.resolve();
  return config;
}

}  // namespace

std::vector<std::string> seeds() {
  tx::TrainOptions settings;
  tx::Options options("tx-train", "");
  settings.describe(options);
  return {tx::to_text(options.to_json()), tx::to_text(model().to_json()),
          R"({"seed":7,"src":["a","b"],"tgt":["c","d"],"dropout":1e-1,"tie":"all"})"};
}

void run(std::string_view bytes) {
  const tx::Json json = tx::parse_json(bytes, "config");
  require(tx::parse_json(tx::to_text(json), "again") == json, "JSON comes back");
  if (json.is_object() && json.contains("d_model") && !json.contains("steps")) {
    const tx::ModelConfig config = tx::ModelConfig::from_json(json, "config");
    const tx::Json back = config.to_json();
    require(tx::ModelConfig::from_json(back, "again").to_json() == back, "it comes back");
    return;
  }
  tx::TrainOptions settings;
  tx::Options options("tx-train", "");
  settings.describe(options);
  options.from_json(json, "config");
  tx::resolve(settings, options);
}

}  // namespace tx_fuzz
