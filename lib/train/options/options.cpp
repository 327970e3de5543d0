#include "lib/train/options/options.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/base/split.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/train/options/schedule.h"
#include "lib/train/options/settle.h"

namespace tx {

void TrainOptions::apply_preset(const std::string& name) {
  ModelConfig& c = model.config;
  preset = name;
  if (name == "auto") return;
  if (name == "big") {
    c.d_model = 1024;
    c.d_ff = 4096;
    c.heads = 16;
    dropout = 0.3;
    steps = 300000;
    keep = 20;
  } else if (name == "small" || name == "tiny" || name == "modern") {
    c.set_layers(4);
    c.d_model = 128;
    c.d_ff = 256;
    c.heads = 4;
    dropout = 0.3;
    schedule = "inverse-sqrt";
    warmup = 2000;
    keep = 10;
    if (name == "small") {  // otherwise as the paper
      batch_tokens = "4096";
      accumulate = 2;
      lr = 0.005;
      steps = 8000;
      save_every = 200;
      return;
    }
    c.norm = NormPosition::pre;  // after 450 steps half the validation perplexity of post-norm
    batch_tokens = "2048";
    lr = 0.0035;
    steps = 12000;
    save_every = 212;  // about an epoch of Multi30k
    if (name == "tiny") return;
    c.norm_type = NormType::rms;
    c.positions = PositionEncoding::rotary;
    c.activation = Activation::swiglu;
    c.feed_forward_bias = false;
    c.kv_heads = 2;
    c.scaled_init = true;
    optimizer = "muon";
    lr = 0.01;
    weight_decay = 0.2;
    dropout = 0.2;
    schedule = "cosine";
    warmup = 800;
    steps = 3500;
    save_every = 53;  // the learning rate of the last 10 is low, so that their average is good
    valid_every = 212;
  } else if (name == "toy") {
    c.set_layers(2);
    c.d_model = 64;
    c.d_ff = 256;
    c.heads = 4;
    c.norm = NormPosition::pre;
    c.activation = Activation::gelu;
    dropout = 0;
    batch_tokens = "448";
    schedule = "linear";
    lr = 0.003;
    warmup = 100;
    steps = 960;
    save_every = 240;
    valid_every = 0;
  } else if (name == fine_tuning) {
    batch_tokens = "2048";
    schedule = "linear";
    lr = 0.001;
    warmup = 100;
    steps = 1000;
    save_every = 100;
  } else if (name != "base") {
    throw UsageError("--preset " + name + ": choose auto, base, big, small, tiny, modern or toy");
  }
}

namespace {

// Rejects values that would divide by 0 or make every update 0.
void check_numbers(const TrainOptions& t, const Options& given) {
  for (const auto& [name, value] : {std::pair("--beta1", t.beta1), std::pair("--beta2", t.beta2)})
    if (value >= 1) throw UsageError(std::string(name) + " must be at least 0 and less than 1");
  if (t.epsilon <= 0) throw UsageError("--epsilon must be greater than 0");
  if (given.given("lr") && t.lr <= 0) throw UsageError("--lr must be greater than 0");
  if (t.lr_factor <= 0) throw UsageError("--lr-factor must be greater than 0");
}

// The names in "loss" and "accuracy,loss", in order; the parser has checked them.
std::vector<std::string> split_metrics(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts)
    for (const std::string& name : split_at(text, ',')) {
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw UsageError("--valid-metric: " + name + " is given twice");
      names.push_back(name);
    }
  return names;
}

}  // namespace

void TrainOptions::resolve(const Options& options) {
  check_numbers(*this, options);
  model.apply_layers(options);
  if (preset != "auto") {  // auto: after settle_preset() has chosen one
    if (!steps_by_minutes(*this, options)) fit_schedule(*this, options);
    options.check();
    check_schedule();
    guided();
  }
  check_limits();
  if (!one_text() && src.empty() != tgt.empty()) throw UsageError("--src and --tgt go together");
  if (one_text() && !options.chosen("label-smoothing"))
    label_smoothing = 0;  // the loss is then the cross-entropy of the text
  resolve_validation();
  if (batch_tokens != "auto") parse_batch_tokens(batch_tokens);
  if (!memory.empty()) parse_size(memory, "--memory");
  if (threads == 0) threads = available_cpus();
  device = resolve_device(device);
  if (precision == "auto") precision = name_of_value(auto_precision(device).dtype);
  ModelConfig shape = model_config();  // throws for contradictions before any text is read
  shape.set_vocabularies(1);
  shape.resolve();
}

ModelConfig TrainOptions::model_config() const {
  ModelConfig c = model.config;
  c.set_kind(kind);
  if (kind == ModelKind::decoder) c.sides = {model.config.sides.back()};
  return c;
}

// Copies into the existing sides, since options hold pointers to them.
void TrainOptions::take_model(const ModelConfig& of) {
  std::vector<SideConfig> sides = std::move(model.config.sides);
  for (size_t side = 0; side < sides.size(); ++side)
    sides[side] = of.sides[std::min(side, of.sides.size() - 1)];
  model.config = of;
  model.config.set_kind(ModelKind::encoder_decoder);
  model.config.sides = std::move(sides);
  kind = of.kind;
}

void TrainOptions::check_schedule() const {
  if (schedule != "paper" && lr <= 0)
    throw UsageError("--schedule " + schedule + " needs --lr, for instance --lr 0.0005");
  if (rate_falls() && steps == 0)
    throw UsageError("--steps 0 cannot be used with --schedule " + schedule +
                     ", whose rate reaches 0 at the last step: use another, such as --schedule "
                     "constant");
  if (schedule == "paper" && warmup == 0)
    throw UsageError("--schedule paper needs a --warmup of at least 1");
}

void TrainOptions::check_limits() const {
  if (steps == 0 && epochs == 0 && minutes == 0 && patience == 0)
    throw UsageError("this run would never end: give --steps, --epochs, --minutes or --patience");
  if (patience > 0 && valid_src.empty() && valid_command.empty())
    throw UsageError(std::string("--patience needs --valid-src") +
                     (one_text() ? "" : " and --valid-tgt") + ", or --valid-command");
  if (patience > 0 && compared_every() == 0 && save_minutes == 0)
    throw UsageError(
        std::string("--patience counts validations, but with --save-every 0 there are none") +
        (valid_command.empty() ? ": give --valid-every" : " by --valid-command"));
}

int parse_batch_tokens(const std::string& text) {
  int tokens = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  if (error != std::errc() || end != text.data() + text.size() || tokens < 2 || tokens > 1 << 24)
    throw UsageError("--batch-tokens " + text + ": give a number from 2 to 16,777,216, or auto");
  return tokens;
}

void TrainOptions::resolve_validation() {
  if (!one_text() && valid_src.empty() != valid_tgt.empty())
    throw UsageError("--valid-src and --valid-tgt go together");
  valid_metric = split_metrics(valid_metric);
  if (valid_metric.empty()) valid_metric = {validation_metrics().front()};
  for (const std::string& metric : valid_metric)
    if (one_text() && is_translated(metric))
      throw UsageError("--valid-metric " + metric + " cannot be used with " +
                       (denoise
                            ? "--denoise: there are no translations"
                            : "--kind " + kind.name + ": only encoder-decoder models translate"));
}

TrainOptions::GuidedHead TrainOptions::guided() const {
  if (guided_alignment.empty()) return {};
  const int layers = model.config.target().layers, heads = model.config.heads;
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
