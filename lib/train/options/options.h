// The options of tx-train, which are also the settings of a run and of config.json.
#pragma once
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "lib/cli/options.h"
#include "lib/model/config.h"

namespace tx {

enum class Preset { automatic, base, big, small, tiny, modern, toy, fine_tuning };
enum class Optimizer { adam, sgd, muon };
enum class Schedule { paper, inverse_sqrt, cosine, linear, constant };
enum class SecondPass { none, simcut, rdrop };  // of --consistency
enum class OnSpike { log, skip, rewind };
enum class DocumentUnit { lines, paragraphs };

template <>
inline constexpr const char* name_table<Preset>[] = {"auto", "base",   "big", "small",
                                                     "tiny", "modern", "toy", "fine-tune"};
template <>
inline constexpr const char* name_table<Optimizer>[] = {"adam", "sgd", "muon"};
template <>
inline constexpr const char* name_table<Schedule>[] = {"paper", "inverse-sqrt", "cosine", "linear",
                                                       "constant"};
template <>
inline constexpr const char* name_table<SecondPass>[] = {"none", "simcut", "rdrop"};
template <>
inline constexpr const char* name_table<OnSpike>[] = {"log", "skip", "rewind"};
template <>
inline constexpr const char* name_table<DocumentUnit>[] = {"lines", "paragraphs"};

// The value of --batch-tokens: "25000", or "auto".
struct BatchTokens {
  BatchTokens(int tokens) : text(std::to_string(tokens)) {}
  int number(int automatic = 0) const;  // UsageError if it is neither a number nor auto
  std::string text;
};

struct TrainOptions {
  Named<ModelKind> kind = ModelKind::encoder_decoder;
  ModelConfig model;  // both sides, since options set either; see model_config()
  int layers = 0;     // of both stacks; 0 after resolve(), which moves it to `model`
  Named<Preset> preset = Preset::automatic;
  std::string config, resume, init, replay;
  std::string add_tokens;                 // a file
  std::vector<std::string> add_language;  // "TAG=FROM"
  bool freeze_old_tokens = false;

  std::vector<std::string> src, tgt, valid_src, valid_tgt;
  std::string vocab, vocab_src, vocab_tgt, cache;  // vocab: a file, or "words"
  int max_length = 250, context = 512;
  Named<DocumentUnit> documents = DocumentUnit::lines;
  bool cross_documents = false, denoise = false;
  double bpe_dropout = 0;
  int64_t bpe_dropout_epochs = 0;
  bool strict = false;
  std::string guided_alignment, guided_head;  // head: "LAYER.HEAD"; "": head 0 of the last layer
  double guided_weight = 0.1;
  bool guided_shift = false;

  std::string out;
  int64_t steps = 100000, epochs = 0;  // 0: no limit
  double minutes = 0;
  int keep = 5;               // checkpoints kept besides the best
  int64_t save_every = 1000;  // steps; 0: only save_minutes
  double save_minutes = 0;    // minutes between saves; 0: only save_every
  int64_t log_every = 100;
  bool log_gradients = false;
  double log_seconds = 30;

  int patience = 0;  // validations without improvement before a run ends; 0: never
  std::vector<std::string> valid_metric;  // not empty after resolve(); the first selects the best
  std::string valid_command;              // selects it instead, if not empty
  int64_t valid_lines = 1000;             // translated for bleu and chrf; 0: all
  int64_t valid_every = 0;                // 0: at every save
  double valid_timeout = 0;               // seconds; 0: no limit

  Named<OnSpike> on_spike = OnSpike::log;
  double spike_threshold = 6;  // standard deviations; 0: off
  int spike_window = 100;      // steps
  double spike_floor = 0.1;    // see SpikeDetector
  int max_skips = 20;          // consecutive non-finite steps before a run ends; 0: never

  uint64_t seed = 1;
  int threads = 0;  // 0: as many as this process may use
  int tensor_parallel = 1;
  Named<Device> device = Device::automatic;
  Named<Precision> precision = Precision::automatic;

  BatchTokens batch_tokens = 25000;
  std::string memory;
  int accumulate = 1;
  bool recompute = false, tune = false;
  double dropout = 0.1, attention_dropout = 0, relu_dropout = 0, label_smoothing = 0.1;
  Named<SecondPass> consistency = SecondPass::none;
  double consistency_weight = 3, cutoff = 0.05;

  Named<Optimizer> optimizer = Optimizer::adam;
  Named<Schedule> schedule = Schedule::paper;
  double lr = 0, lr_factor = 1, clip_norm = 1, weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, momentum = 0.95;
  int64_t warmup = 4000;

  bool describe_only = false, selftest_resume = false, parity = false, profile = false,
       quiet = false;

  void describe(Options& options);
  // Sets the fields of a preset: base, big (the paper), small, tiny and modern (Multi30k), toy
  // (reverse), fine_tuning (a run with --init and no --preset). automatic keeps those of base until
  // settle_preset().
  void apply_preset(Preset which);
  // What --guided-alignment trains (layer -1: nothing); UsageError if the model does not have it.
  struct GuidedHead {
    int layer = -1, head = 0;
  };
  GuidedHead guided() const;
  bool adds_tokens() const { return !add_tokens.empty() || !add_language.empty(); }
  // Whether --src is the only text: --kind decoder, --kind encoder and --denoise.
  bool one_text() const { return denoise || kind != ModelKind::encoder_decoder; }
  ModelConfig model_config() const;
  void take_model(const ModelConfig& of);  // sets the options to the shape of this model
  int passes() const { return consistency == SecondPass::none ? 1 : 2; }  // over a training batch
  Consistency consistency_term() const {
    return {passes() == 1 ? 0 : consistency_weight, consistency == SecondPass::rdrop};
  }
  // Steps between comparisons of models, which --patience counts; 0: none at fixed steps.
  int64_t compared_every() const {
    return valid_command.empty() && valid_every > 0 ? valid_every : save_every;
  }
  bool rate_falls() const {  // to 0
    return schedule == Schedule::linear || schedule == Schedule::cosine;
  }
  // The maximum length of a sentence in the text, in tokens.
  int longest_text() const { return one_text() ? context - 1 : max_length; }
  // The seed of weights and dropout: --seed folded to 32 bits.
  uint32_t mask_seed() const { return uint32_t(seed) ^ uint32_t((seed >> 32) * 0x9E3779B1u); }

 private:
  void describe_validation(Options& options);
  void describe_guidance(Options& options);
};

// The value of --NAME, "" if absent, before parsing: --preset changes the defaults of others.
std::string peek_option(int argc, const char* const* argv, const std::string& name);
// The command line for provenance, with "RUN" for the directory: files do not depend on its name.
std::string command_line(int argc, const char* const* argv);

}  // namespace tx
