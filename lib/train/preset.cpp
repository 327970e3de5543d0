#include "lib/train/preset.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/data/packing.h"
#include "lib/data/pair_dropout.h"
#include "lib/train/plan.h"

namespace tx {

namespace {

TrainOptions with_preset(const std::string& name) {
  TrainOptions options;
  options.apply_preset(name);
  return options;
}

// 1234567 as "1,234,567".
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(size_t(i), 1, ',');
  return digits;
}

// Product FLOPs of a whole run with a preset on this text.
double run_flops(const std::string& preset, const TextSize& text) {
  TrainOptions o = with_preset(preset);
  if (text.pieces.size() == 1) o.kind = ModelKind::decoder;
  ModelConfig model = o.model_config();
  model.set_vocabularies(8000);
  model.resolve();
  const double target = double(o.steps) * parse_batch_tokens(o.batch_tokens);
  std::vector<double> tokens;
  for (const int64_t side : text.pieces)
    tokens.push_back(target * double(side) / double(text.target()));
  return step_flops(model, tokens);
}

// With room for what BPE-dropout makes of the longest sentences.
bool holds_longest(const std::string& preset, const Corpora& corpora) {
  const int batch = parse_batch_tokens(with_preset(preset).batch_tokens);
  const std::vector<int> capacities = batch_capacities(corpora.train_lengths(), batch);
  for (const PairLengths& text : corpora.lengths())
    for (int side = 0; side < text.sides(); ++side)
      if (PairDropout::most_growth * text.longest(side) + 2 > capacities[size_t(side)])
        return false;
  return true;
}

}  // namespace

PresetChoice choose_preset(const TextSize& text, const std::string& device) {
  const std::string has = "; this text has " + grouped(text.target());
  if (text.target() < toy_pieces && text.fits_toy)
    return {"toy", "for less than " + grouped(toy_pieces) + text.unit() + has};
  if (text.target() < base_pieces)
    return {"tiny", "for less than " + grouped(base_pieces) + text.unit() + has};
  if (device == "cuda")
    return {"base", "for " + grouped(base_pieces) + text.unit() + " or more on a GPU" + has};
  const double times = run_flops("base", text) / run_flops("tiny", text);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return {"tiny", "as there is no GPU" + has + ", but --preset base takes about " +
                      grouped(int64_t(std::round(times / digits) * digits)) +
                      " times the arithmetic"};
}

bool preset_is_open(const TrainOptions& options, const Options& given) {
  if (options.preset != "auto" || !options.config.empty() || !options.resume.empty() ||
      !options.init.empty())
    return false;
  const std::vector<std::string> sizes{"layers", "encoder-layers", "decoder-layers", "d-model",
                                       "d-ff",   "heads",          "kv-heads",       "d-k",
                                       "d-v"};
  return std::none_of(sizes.begin(), sizes.end(),
                      [&](const std::string& name) { return given.given(name); });
}

void settle_preset(TrainOptions& options, Options& given, const Corpora& corpora, const Log& log) {
  const PairLengths text = corpora.train_lengths();
  TextSize size{{}, holds_longest("toy", corpora)};
  for (int side = 0; side < text.sides(); ++side) size.pieces.push_back(text.rows(side));
  const PresetChoice choice = choose_preset(size, options.device);
  TrainOptions start = with_preset(choice.name);
  Options defaults("", "");
  start.describe(defaults);
  given.from_json(defaults.to_json(), "preset " + choice.name);
  options.preset = choice.name;
  options.resolve(given);
  log.info("preset " + choice.name + ", " + choice.why + "; --preset takes another");
}

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
  } else if (name == "tiny" || name == "modern") {
    c.norm = NormPosition::pre;  // after 450 steps half the validation perplexity of post-norm
    c.set_layers(4);
    c.d_model = 128;
    c.d_ff = 256;
    c.heads = 4;
    dropout = 0.3;
    batch_tokens = "2048";
    schedule = "inverse-sqrt";
    lr = 0.0035;
    warmup = 2000;
    steps = 12000;
    save_every = 212;  // about an epoch of Multi30k
    keep = 10;
    if (name == "tiny") return;
    c.norm_type = NormType::rms;
    c.positions = PositionEncoding::rotary;
    c.activation = Activation::swiglu;
    c.feed_forward_bias = false;
    c.kv_heads = 2;
    c.scaled_init = true;
    schedule = "cosine";
    lr = 0.005;
    warmup = 800;
    steps = 7000;
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
  } else if (name != "base") {
    throw UsageError("--preset " + name + ": choose auto, base, big, tiny, modern or toy");
  }
}

}  // namespace tx
