// The shape of a model: what its file stores and what its options say (tx-paper(7),
// section 3 and Table 3).
#pragma once
#include <cstdint>
#include <string>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/cli/options.h"

namespace tx {

struct ModelConfig {
  std::string kind = "encoder-decoder";
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  int encoder_layers = 6, decoder_layers = 6;
  int d_model = 512, d_ff = 2048, heads = 8;
  int d_k = 0, d_v = 0;                // 0 until resolve(): d_model / heads, d_k
  std::string activation = "relu";     // relu, gelu
  std::string norm = "post";           // post (the paper), pre
  std::string positions = "sinusoid";  // sinusoid, learned
  int max_positions = 1024;            // rows of learned positions
  std::string tie = "all";             // all, target, none
  bool attention_bias = false;         // models of other toolkits have them
  double norm_epsilon = 1e-6;

  // Fills d_k and d_v and checks everything; UsageError names the options and the nearest legal
  // value.
  void resolve();
  bool pre_norm() const { return norm == "pre"; }
  bool learned_positions() const { return positions == "learned"; }
  Activation activation_kind() const {
    return activation == "gelu" ? Activation::gelu : Activation::relu;
  }
  Json to_json() const;
  static ModelConfig from_json(const Json& json, const std::string& where);  // DataError
};

// The options that shape a model (--layers, --d-model, ...). `layers` is the option --layers: when
// not 0 it sets both stacks; call apply_layers() after parsing, which leaves it 0.
struct ModelOptions {
  ModelConfig config;
  int layers = 0;
  void describe(Options& options);
  void apply_layers(const Options& options);
};

}  // namespace tx
