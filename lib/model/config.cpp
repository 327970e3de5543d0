#include "lib/model/config.h"

#include "lib/base/error.h"
#include "lib/base/whole_number.h"

namespace tx {

namespace {

// The number of heads nearest to `heads` that divides d_model.
int nearest_divisor(int d_model, int heads) {
  for (int distance = 0; distance < d_model; ++distance) {
    if (heads > distance && d_model % (heads - distance) == 0) return heads - distance;
    if (heads + distance <= d_model && d_model % (heads + distance) == 0) return heads + distance;
  }
  return 1;
}

void check_least(const char* option, int64_t value, int64_t least) {
  if (value < least)
    throw UsageError(std::string(option) + " " + std::to_string(value) + ": must be at least " +
                     std::to_string(least));
}

}  // namespace

void ModelConfig::resolve() {
  check_least("--d-model", d_model, 2);
  check_least("--d-ff", d_ff, 1);
  check_least("--heads", heads, 1);
  check_least("--encoder-layers", encoder_layers, 1);
  check_least("--decoder-layers", decoder_layers, 1);
  if (d_model % 2 != 0)
    throw UsageError("--d-model " + std::to_string(d_model) +
                     ": positions come in pairs of sine and cosine; the nearest even value is " +
                     std::to_string(d_model + 1));
  if (d_k == 0) {
    if (d_model % heads != 0)
      throw UsageError("--heads " + std::to_string(heads) + " does not divide --d-model " +
                       std::to_string(d_model) + ": use --heads " +
                       std::to_string(nearest_divisor(d_model, heads)) + ", or give --d-k");
    d_k = d_model / heads;
  }
  if (d_v == 0) d_v = d_k;
  check_least("--d-k", d_k, 1);
  check_least("--d-v", d_v, 1);
  if (tie == "all" && source_vocabulary != target_vocabulary)
    throw UsageError("--tie all needs one vocabulary for both sides, but the source has " +
                     std::to_string(source_vocabulary) + " and the target " +
                     std::to_string(target_vocabulary) + " pieces: use --tie target");
}

Json ModelConfig::to_json() const {
  return Json{{"kind", kind},
              {"source_vocabulary", source_vocabulary},
              {"target_vocabulary", target_vocabulary},
              {"encoder_layers", encoder_layers},
              {"decoder_layers", decoder_layers},
              {"d_model", d_model},
              {"d_ff", d_ff},
              {"heads", heads},
              {"d_k", d_k},
              {"d_v", d_v},
              {"activation", activation},
              {"norm", norm},
              {"positions", positions},
              {"max_positions", max_positions},
              {"tie", tie},
              {"attention_bias", attention_bias},
              {"norm_epsilon", norm_epsilon}};
}

ModelConfig ModelConfig::from_json(const Json& json, const std::string& where) {
  ModelConfig c;
  constexpr int64_t most = int64_t(1) << 24;  // keeps every product of sizes far from overflow
  const auto size = [&](const char* key) { return int(whole_number(json, key, 1, most)); };
  try {
    c.kind = json.at("kind").get<std::string>();
    c.source_vocabulary = size("source_vocabulary");
    c.target_vocabulary = size("target_vocabulary");
    c.encoder_layers = size("encoder_layers");
    c.decoder_layers = size("decoder_layers");
    c.d_model = size("d_model");
    c.d_ff = size("d_ff");
    c.heads = size("heads");
    c.d_k = size("d_k");
    c.d_v = size("d_v");
    c.activation = json.at("activation").get<std::string>();
    c.norm = json.at("norm").get<std::string>();
    c.positions = json.at("positions").get<std::string>();
    c.max_positions = size("max_positions");
    c.tie = json.at("tie").get<std::string>();
    c.attention_bias = json.at("attention_bias").get<bool>();
    c.norm_epsilon = json.at("norm_epsilon").get<double>();
  } catch (const Json::exception& e) {
    throw DataError(where + ": the model's configuration is damaged: " + e.what());
  } catch (const DataError& e) {
    throw DataError(where + ": the model's configuration is damaged: " + e.what());
  }
  const auto bad = [&](const std::string& key, const std::string& value) {
    throw DataError(where + ": unknown " + key + " '" + value + "' in the model's configuration");
  };
  if (c.kind != "encoder-decoder")
    throw DataError(where + ": a model of kind '" + c.kind + "'; this tool needs encoder-decoder");
  if (c.activation != "relu" && c.activation != "gelu") bad("activation", c.activation);
  if (c.norm != "post" && c.norm != "pre") bad("norm", c.norm);
  if (c.positions != "sinusoid" && c.positions != "learned") bad("positions", c.positions);
  if (c.tie != "all" && c.tie != "target" && c.tie != "none") bad("tie", c.tie);
  try {
    c.resolve();
  } catch (const UsageError& e) {
    throw DataError(where + ": " + e.what());
  }
  return c;
}

void ModelOptions::describe(Options& options) {
  options.group("Model");
  options.add("--layers", layers, "N", "layers of both stacks").range(1, 1000).default_is("6");
  options.add("--encoder-layers", config.encoder_layers, "N", "layers of the encoder")
      .range(1, 1000);
  options.add("--decoder-layers", config.decoder_layers, "N", "layers of the decoder")
      .range(1, 1000);
  options.add("--d-model", config.d_model, "N", "width of embeddings and layers").range(2, 65536);
  options.add("--d-ff", config.d_ff, "N", "inner width of the feed-forward layer")
      .range(1, 1 << 20);
  options.add("--heads", config.heads, "N", "attention heads").range(1, 65535);
  options.add("--d-k", config.d_k, "N", "width of a head's queries and keys")
      .range(1, 65536)
      .default_is("d-model / heads");
  options.add("--d-v", config.d_v, "N", "width of a head's values")
      .range(1, 65536)
      .default_is("d-k");
  options
      .add("--activation", config.activation, "relu|gelu", "activation of the feed-forward layer")
      .one_of({"relu", "gelu"});
  options
      .add("--norm-position", config.norm, "post|pre",
           "layer norm after (the paper) or before a sub-layer")
      .one_of({"post", "pre"})
      .was("--norm");
  options.add("--positions", config.positions, "sinusoid|learned", "position encoding")
      .one_of({"sinusoid", "learned"});
  options.add("--max-positions", config.max_positions, "N", "longest sentence of learned positions")
      .range(1, 1 << 20)
      .needs({"--positions learned"});
  options
      .add("--tie", config.tie, "all|target|none",
           "share embeddings: all three, target and output, none",
           "One matrix serves the source embedding, the target embedding and the output "
           "projection (section 3.4 of the paper); separate vocabularies need target or none.")
      .one_of({"all", "target", "none"});
  options.flag("--attention-bias", config.attention_bias, "biases in the attention projections");
}

void ModelOptions::apply_layers(const Options& options) {
  if (layers == 0) return;
  if (options.given("layers") && options.given("encoder-layers") && options.given("decoder-layers"))
    throw UsageError("--layers does not go with both --encoder-layers and --decoder-layers");
  if (!options.given("encoder-layers")) config.encoder_layers = layers;
  if (!options.given("decoder-layers")) config.decoder_layers = layers;
  layers = 0;  // said by the two from here on, also in config.json
}

}  // namespace tx
