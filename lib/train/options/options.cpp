#include "lib/train/options/options.h"

#include <utility>

#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/base/split.h"

namespace tx {

void TrainOptions::apply_preset(Preset which) {
  ModelConfig& c = model;
  preset = which;
  if (which == Preset::big) {
    c.d_model = 1024;
    c.d_ff = 4096;
    c.heads = 16;
    dropout = 0.3;
    steps = 300000;
    keep = 20;
  } else if (which == Preset::small || which == Preset::tiny || which == Preset::modern) {
    c.set_layers(4);
    c.d_model = 128;
    c.d_ff = 256;
    c.heads = 4;
    dropout = 0.3;
    schedule = Schedule::inverse_sqrt;
    warmup = 2000;
    keep = 10;
    if (which == Preset::small) {  // otherwise as the paper
      batch_tokens = 4096;
      accumulate = 2;
      lr = 0.005;
      steps = 8000;
      save_every = 200;
      return;
    }
    c.norm = NormPosition::pre;  // after 450 steps half the validation perplexity of post-norm
    batch_tokens = 2048;
    lr = 0.0035;
    steps = 12000;
    save_every = 212;  // about an epoch of Multi30k
    if (which == Preset::tiny) return;
    c.norm_type = NormType::rms;
    c.positions = PositionEncoding::rotary;
    c.activation = Activation::swiglu;
    c.feed_forward_bias = false;
    c.kv_heads = 2;
    c.scaled_init = true;
    optimizer = Optimizer::muon;
    lr = 0.01;
    weight_decay = 0.2;
    dropout = 0.2;
    schedule = Schedule::cosine;
    warmup = 800;
    steps = 3500;
    save_every = 53;  // the learning rate of the last 10 is low, so that their average is good
    valid_every = 212;
  } else if (which == Preset::toy) {
    c.set_layers(2);
    c.d_model = 64;
    c.d_ff = 256;
    c.heads = 4;
    c.norm = NormPosition::pre;
    c.activation = Activation::gelu;
    dropout = 0;
    batch_tokens = 448;
    schedule = Schedule::linear;
    lr = 0.003;
    warmup = 100;
    steps = 960;
    save_every = 240;
    valid_every = 0;
  } else if (which == Preset::fine_tuning) {
    batch_tokens = 2048;
    schedule = Schedule::linear;
    lr = 0.001;
    warmup = 100;
    steps = 1000;
    save_every = 100;
  }
}

ModelConfig TrainOptions::model_config() const {
  ModelConfig c = model;
  c.set_kind(kind);
  if (kind == ModelKind::decoder) c.sides = {model.sides.back()};
  return c;
}

void TrainOptions::take_model(const ModelConfig& of) {
  model = of;
  model.set_kind(ModelKind::encoder_decoder);
  model.sides = {of.sides.front(), of.sides.back()};
  kind = of.kind;
}

int BatchTokens::number(int automatic) const {
  if (text == "auto") return automatic;
  int tokens = 0;
  if (!parse_number(text, tokens) || tokens < 2 || tokens > 1 << 24)
    throw UsageError("--batch-tokens " + text + ": give a number from 2 to 16,777,216, or auto");
  return tokens;
}

TrainOptions::GuidedHead TrainOptions::guided() const {
  if (guided_alignment.empty()) return {};
  const int layers = model.target().layers, heads = model.heads;
  if (guided_head.empty()) return {layers - 1, 0};
  uint32_t layer = 0, head = 0;
  std::string_view rest = guided_head;
  const bool layer_given = take_number(rest, layer) && rest.starts_with('.');
  if (layer_given) rest.remove_prefix(1);
  if (!layer_given || !take_number(rest, head) || !rest.empty())
    throw UsageError("--guided-head " + guided_head + ": give LAYER.HEAD, such as " +
                     std::to_string(layers - 1) + ".0");
  const auto check = [&](uint32_t number, int count, const char* things) {
    if (number < uint32_t(count)) return;
    throw UsageError("--guided-head " + guided_head + ": the model has no such " + things +
                     "; choose one from 0 to " + std::to_string(count - 1));
  };
  check(layer, layers, "layer");
  check(head, heads, "head");
  return {int(layer), int(head)};
}

std::string peek_option(int argc, const char* const* argv, const std::string& name) {
  const std::string word = "--" + name;
  std::string value;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--") break;
    if (arg == word && i + 1 < argc) value = argv[i + 1];
    if (arg.compare(0, word.size() + 1, word + "=") == 0) value = arg.substr(word.size() + 1);
  }
  return value;
}

std::string command_line(int argc, const char* const* argv) {
  std::string line = "tx-train";
  bool names_run = false;  // the next word
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (std::exchange(names_run, false)) {
      line += " RUN";
      continue;
    }
    for (; arg.starts_with("-q") && arg.size() > 2; arg.erase(1, 1)) line += " -q";  // -qo RUN
    names_run = arg == "-o" || arg == "--out";
    if (arg.starts_with("--out="))
      line += " --out=RUN";
    else if (arg.starts_with("-o") && arg.size() > 2)
      line += " -oRUN";
    else
      line += " " + shell_word(arg);
  }
  return line;
}

}  // namespace tx
