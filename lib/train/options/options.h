// Everything a training run is told: the options of tx-train, presets, config.json.
#pragma once
#include <string>
#include <vector>

#include "lib/cli/options.h"
#include "lib/model/config.h"

namespace tx {

// Sections of TrainOptions, for the parts that read no other option.
struct SaveOptions {
  int keep = 5;               // checkpoints of the schedule that stay beside the best
  int64_t save_every = 1000;  // steps; 0: by the clock alone
  double save_minutes = 0;    // between two saves; 0: by steps alone
};

struct ValidOptions {
  int patience = 0;  // validations in a row without a better one that end a run; 0: never
  std::vector<std::string> valid_metric;  // resolved: the names, at least one; the first decides
  std::string valid_command;              // decides in their place where it is not empty
  int64_t valid_lines = 1000;             // that bleu and chrf translate; 0: all
  int64_t valid_every = 0;                // 0: at every save
  double valid_timeout = 0;               // seconds; 0: no limit
};

struct SpikeOptions {
  std::string on_spike = "log";  // log, skip or rewind
  double spike_threshold = 6;    // standard deviations; 0: nothing is a spike
  int spike_window = 100;        // steps
  double spike_floor = 0.1;      // see SpikeDetector
  int max_skips = 20;            // steps in a row that are not finite, then the run ends; 0: never
};

struct TrainOptions : SaveOptions, ValidOptions, SpikeOptions {
  Named<ModelKind> kind = ModelKind::encoder_decoder;
  ModelOptions model;  // both sides, since options set either; model_config() is that of the kind
  std::string preset = "auto", config, resume, init, replay;

  std::vector<std::string> src, tgt, valid_src, valid_tgt;
  std::string vocab, vocab_src, vocab_tgt, cache;  // vocab: a file, or "words" of the text
  int max_length = 250, context = 512;
  std::string documents = "lines";
  bool cross_documents = false, denoise = false;
  double bpe_dropout = 0;
  int64_t bpe_dropout_epochs = 0;
  bool strict = false;
  std::string guided_alignment, guided_head;  // head: "LAYER.HEAD"; "": the last layer's first
  double guided_weight = 0.1;
  bool guided_shift = false;

  std::string out;
  int64_t steps = 100000, epochs = 0;  // 0: no limit
  double minutes = 0;
  int64_t log_every = 100;
  double log_seconds = 30;

  uint64_t seed = 1;
  int threads = 0;  // 0: what this process may use
  int tensor_parallel = 1;
  std::string device = "auto", precision = "auto";

  std::string batch_tokens = "25000";
  std::string memory;
  int accumulate = 1;
  bool recompute = false, tune = false;
  double dropout = 0.1, attention_dropout = 0, relu_dropout = 0, label_smoothing = 0.1;

  std::string optimizer = "adam", schedule = "paper";
  double lr = 0, lr_factor = 1, clip_norm = 1, weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  int64_t warmup = 4000;

  bool describe_only = false, selftest_resume = false, parity = false, profile = false,
       quiet = false;

  void describe(Options& options);
  // Fields of a preset: base, big (the paper), tiny and modern (Multi30k), toy (reverse); those of
  // auto are base's until settle_preset(), lib/train/options/preset.h. UsageError otherwise.
  void apply_preset(const std::string& name);
  // After parsing: checks what contradicts, resolves "auto".
  void resolve(const Options& options);
  // The layer and the head that --guided-alignment trains; UsageError where the model has no such.
  // Layer -1: none is trained.
  struct GuidedHead {
    int layer = -1, head = 0;
  };
  GuidedHead guided() const;
  // Whether there is one text, --src: of a decoder or an encoder alone, or to be restored.
  bool one_text() const { return denoise || kind != ModelKind::encoder_decoder; }
  ModelConfig model_config() const;
  void take_model(const ModelConfig& of);  // the options become those of this model
  bool rate_falls() const { return schedule == "linear" || schedule == "cosine"; }  // to 0
  // The most tokens of a sentence that the text can have.
  int longest_text() const { return one_text() ? context - 1 : max_length; }
  // Of weights, dropout: the seed, of a larger one than they take a mixture of all its bits.
  uint32_t mask_seed() const { return uint32_t(seed) ^ uint32_t((seed >> 32) * 0x9E3779B1u); }

 private:
  void describe_validation(Options& options);
  void describe_guidance(Options& options);
  void resolve_validation();
  void check_schedule() const;
  void check_limits() const;
};

// The number of --batch-tokens, which is not "auto"; UsageError when it is not a number.
int parse_batch_tokens(const std::string& text);
// The word behind --NAME or --NAME=word in a command line, "" when absent; --preset, --config and
// --resume change the defaults, so they are looked up before the other options are parsed.
std::string peek_option(int argc, const char* const* argv, const std::string& name);
// The command line for a model's provenance; the run directory is left out ("-o RUN"), so that the
// same run in another place writes the same bytes.
std::string command_line(int argc, const char* const* argv);

}  // namespace tx
