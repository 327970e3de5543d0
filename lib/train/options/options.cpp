#include "lib/train/options/options.h"

#include <charconv>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/train/options/preset.h"
#include "lib/train/options/schedule.h"

namespace tx {

namespace {

const std::vector<std::string> one_text = {"--kind decoder", "--kind encoder", "--denoise"};

// One more of the model's.
void describe_kind(Options& o, std::string& kind) {
  o.add("--kind", kind, "encoder-decoder|decoder|encoder", "architecture",
        "encoder-decoder: a translation model (the paper); decoder: a language model; encoder: a "
        "masked language model. The last two train on one text, --src; see LANGUAGE MODELS.")
      .one_of(names_of<ModelKind>());
  o.at("encoder-layers").excludes({"--kind decoder"}, "it has no encoder");
  o.at("decoder-layers").excludes({"--kind encoder"}, "it has no decoder");
}

void describe_documents(Options& o, TrainOptions& t) {
  o.flag("--denoise", t.denoise, "train on --src alone by span corruption, as T5",
         "The model learns to restore the missing spans of one text; see DENOISING.")
      .excludes({"--kind decoder", "--kind encoder"}, "it needs both stacks")
      .excludes({"--bpe-dropout"}, "source and target are parts of one text");
  o.add("--documents", t.documents, "lines|paragraphs", "what counts as one document of --src",
        "lines: each line; paragraphs: the lines up to a blank line, joined by spaces.")
      .one_of({"lines", "paragraphs"})
      .needs(one_text);
  o.add("--context", t.context, "N", "maximum tokens per training sequence",
        "Longer documents are split. Each part starts with the last token of the part before, so "
        "that every token is predicted once.")
      .range(2, 1 << 20)
      .needs(one_text);
  o.flag("--cross-documents", t.cross_documents, "let sequences cross document boundaries",
         "The documents are concatenated with </s> <s> between them, and every sequence but the "
         "last has --context tokens.")
      .needs({"--kind decoder"})
      .excludes({"--bpe-dropout"}, "documents that are cut keep their usual tokens");
}

void describe_data(Options& o, TrainOptions& t) {
  o.group("Data");
  o.add("--src", t.src, "FILE", "source text, one sentence per line",
        "With --kind decoder, --kind encoder and --denoise it is the only text.");
  o.add("--tgt", t.tgt, "FILE", "target text, line by line the translation of --src");
  o.add("--valid-src", t.valid_src, "FILE", "validation source");
  o.add("--valid-tgt", t.valid_tgt, "FILE", "validation target");
  for (const char* text : {"src", "tgt", "valid-src", "valid-tgt"})
    o.at(text).input().goes_with({"--resume"});
  for (const char* side : {"tgt", "valid-tgt"}) o.at(side).excludes(one_text, "it has one text");
  o.add("--vocab", t.vocab, "FILE|words", "joint vocabulary, from tx-bpe train",
        "A subword model, a list of words, or a model or run directory, whose vocabularies are "
        "used. --vocab words takes the words of the training text, which is then read twice and "
        "must be regular files.")
      .input()
      .excludes({"--init"}, "its model brings its vocabulary")
      .excludes({"--vocab-src", "--vocab-tgt"});
  o.add("--vocab-src", t.vocab_src, "FILE", "source vocabulary");
  o.add("--vocab-tgt", t.vocab_tgt, "FILE", "target vocabulary");
  for (const char* side : {"vocab-src", "vocab-tgt"})
    o.at(side)
        .input()
        .excludes({"--init"}, "its model brings its vocabulary")
        .excludes(one_text, "it has one text, whose vocabulary is --vocab");
  o.add("--max-length", t.max_length, "N", "drop pairs with more than N tokens on a side")
      .range(1, 1 << 20)
      .excludes(one_text, "its texts are cut by --context");
  describe_documents(o, t);
  o.add("--bpe-dropout", t.bpe_dropout, "P",
        "BPE-dropout: re-segment the training text every epoch",
        "Each merge is skipped with probability P, on both sides (Provilkov et al., 2020); 0.1 is "
        "usual. Validation text and split documents keep the standard segmentation.")
      .range(0, 1);
  o.add("--bpe-dropout-epochs", t.bpe_dropout_epochs, "N", "epochs with BPE-dropout; 0: all",
        "Later epochs use the standard segmentation, which decoding uses too.")
      .at_least(0)
      .needs({"--bpe-dropout"});
  o.add("--cache", t.cache, "DIR", "directory of tokenised text, shared between runs",
        "Default: the run directory. See tx-cache(5).")
      .output();
  o.flag("--strict", t.strict, "stop at invalid UTF-8",
         "By default each invalid sequence becomes U+FFFD, with a warning that names the first "
         "line.");
}

void describe_limits(Options& o, TrainOptions& t) {
  o.group("Length and checkpoints");
  o.add("--steps", t.steps, "N", "stop after N steps; 0: no limit").at_least(0);
  o.add("--epochs", t.epochs, "N", "stop after N epochs; 0: no limit").at_least(0);
  o.add("--minutes", t.minutes, "N", "stop after N minutes; 0: no limit",
        "Without --steps the schedule is fitted to this time; see LENGTH OF A RUN.")
      .at_least(0);
  o.add("--patience", t.patience, "N", "stop after N validations without improvement; 0: never")
      .at_least(0);
  o.add("--save-every", t.save_every, "STEPS", "steps between checkpoints; 0: only --save-minutes")
      .at_least(0);
  o.add("--save-minutes", t.save_minutes, "N", "minutes between checkpoints; 0: off",
        "With --save-every these are safety copies: they are not validated, and the next "
        "checkpoint replaces them.")
      .at_least(0);
  o.add("--keep", t.keep, "N", "number of checkpoints to keep besides the best").at_least(1);
  o.add("--log-every", t.log_every, "STEPS", "steps between log records").at_least(1);
  o.add("--log-seconds", t.log_seconds, "N", "maximum seconds between progress lines; 0: no limit",
        "Applies where standard error is not a terminal; log.jsonl follows --log-every alone.")
      .at_least(0);
  for (const char* name : {"steps", "epochs", "minutes", "patience", "save-every", "save-minutes",
                           "keep", "log-every", "log-seconds"})
    o.at(name).goes_with({"--resume"});
}

void describe_run(Options& o, TrainOptions& t) {
  o.group("Run");
  o.add("-o,--out", t.out, "DIR", "run directory to create; see tx-run(5)")
      .runtime()
      .output()
      .goes_with({"--report"});
  o.add("--resume", t.resume, "DIR", "resume this run, bit-identically", "See RESUMING.")
      .runtime()
      .input()
      .is_mode("a resumed run keeps its options; tx-train(1) lists those that may change");
  o.add("--preset", t.preset, "auto|base|big|tiny|modern|toy",
        "default settings, which other options override", "See PRESETS.")
      .one_of({"auto", "base", "big", "tiny", "modern", "toy"})
      .also({fine_tuning});
  o.add("--config", t.config, "FILE", "options of another run: its directory or config.json")
      .runtime()
      .input();
  o.add("--init", t.init, "MODEL", "model to start from: its weights, shape and vocabulary",
        "See FINE-TUNING.")
      .input();
  describe_limits(o, t);
  o.group("Run");
  o.add("--seed", t.seed, "N", "random seed of weights, data order and dropout")
      .goes_with({"--replay"});
}

void describe_machine(Options& o, TrainOptions& t) {
  o.group("Machine");
  o.threads(t.threads, "Another number may change the last bits of the model.")
      .goes_with({"--resume", "--replay"});
  o.add("--tensor-parallel", t.tensor_parallel, "T", "tensor parallelism over T ranks",
        "See SEVERAL MACHINES.")
      .range(1, 1024)
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.add("--device", t.device, "auto|cpu|cuda", "where to compute",
        "With auto, the GPU if there is one.")
      .one_of({"auto", "cpu", "cuda"})
      .goes_with({"--resume", "--replay"});
  o.add("--precision", t.precision, "auto|bf16|fp32",
        "precision of activations and matrix products",
        "Weights, optimizer state and sums are always fp32. With auto, bf16 where the "
        "hardware multiplies it fast.")
      .one_of({"auto", "bf16", "fp32"})
      .goes_with({"--replay"});
  o.flag("--tune", t.tune, "time the GPU's matrix-product algorithms, use the fastest",
         "Takes some seconds at the start. A resumed run keeps the choice; another run may choose "
         "differently and then differs in the last bits.")
      .excludes({"--device cpu"});
  o.add("--memory", t.memory, "SIZE", "memory limit, e.g. 2G or 800M", "See MEMORY.")
      .goes_with({"--resume"});
  o.flag("-q,--quiet", t.quiet, "print no progress",
         "Warnings and the table of --profile are still printed.")
      .runtime()
      .goes_with({"--resume", "--replay", "--report"});
}

void describe_diagnostics(Options& o, TrainOptions& t) {
  o.group("Diagnostics and reports");
  o.flag("--describe", t.describe_only, "print the model, its memory and cost; do not train")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--parity"});
  o.flag("--profile", t.profile, "print where the time went at the end",
         "One row per kernel group, with the time that its memory traffic or arithmetic would take "
         "at the rates measured on this CPU or GPU. On a CPU \"other\" is time outside the "
         "kernels. GPU steps are slower while profiling.")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.flag("--parity", t.parity, "compare one step over devices and precisions; do not train",
         "Computes forward, backward and Adam for one batch of your text on every device and in "
         "every precision of this machine. Prints for each tensor how far its gradient (largest "
         "difference over largest magnitude, and 1 minus the cosine) and its updated weights are "
         "from the CPU in fp32. The exit status is 1 if a gradient or the loss is out of bounds.")
      .runtime()
      .goes_with({"--resume"});
  o.flag("--selftest-resume", t.selftest_resume,
         "test on your data that a killed run loses nothing",
         "Runs some seconds of this training twice in a temporary directory ($TMPDIR): once "
         "uninterrupted, once killed at several moments and resumed each time. All checkpoints "
         "must be byte-identical; otherwise the exit status is 1. The text is read several times, "
         "and --valid-command is not run.")
      .runtime()
      .excludes({"--parity", "--describe"});
  o.add("--replay", t.replay, "FILE", "rerun a recorded bad step and compare",
        "FILE is a record, or a run directory, whose newest record is used; see BAD STEPS.")
      .runtime()
      .input()
      .is_mode("a recorded step has its own options");
}

void describe_batches(Options& o, TrainOptions& t) {
  o.group("Batches").goes_with({"--replay"});
  o.add("--batch-tokens", t.batch_tokens, "N|auto", "target tokens per batch",
        "With auto, as many as fit in memory; see MEMORY. In tx-decode the option counts source "
        "tokens.");
  o.add("--accumulate", t.accumulate, "N", "batches per step: gradient accumulation")
      .range(1, 100000);
  o.flag("--recompute", t.recompute, "activation checkpointing: recompute in backward",
         "Each layer keeps its input alone. Takes less memory and about a third more time; the "
         "result is bit-identical. --describe prints the memory with and without.")
      .goes_with({"--resume"});
}

void describe_regularisation(Options& o, TrainOptions& t) {
  o.group("Regularisation").goes_with({"--replay"});
  o.add("--dropout", t.dropout, "P", "dropout of sub-layer outputs and embeddings").range(0, 0.99);
  o.add("--attention-dropout", t.attention_dropout, "P", "dropout of attention weights")
      .range(0, 0.99);
  o.add("--relu-dropout", t.relu_dropout, "P", "dropout inside the feed-forward layer")
      .range(0, 0.99);
  o.add("--label-smoothing", t.label_smoothing, "E", "label smoothing",
        "The correct token gets the probability 1 - E, each of the V - 1 others E / (V - 1).")
      .range(0, 0.99)
      .default_is("0.1; 0 when training on one text");
}

void describe_optimizer(Options& o, TrainOptions& t) {
  o.group("Optimizer").goes_with({"--replay"});
  o.add("--optimizer", t.optimizer, "adam|sgd", "optimizer").one_of({"adam", "sgd"});
  o.add("--schedule", t.schedule, "paper|inverse-sqrt|cosine|linear|constant",
        "learning-rate schedule",
        "paper: lr-factor x d-model^-0.5 x min(step^-0.5, step x warmup^-1.5). The others rise "
        "linearly to --lr during --warmup. Then inverse-sqrt falls with the inverse square root of "
        "the step, cosine and linear fall to 0 at --steps, and constant stays.")
      .one_of({"paper", "inverse-sqrt", "cosine", "linear", "constant"});
  o.add("--lr", t.lr, "RATE", "peak learning rate of all schedules but paper")
      .at_least(0)
      .excludes({"--schedule paper"},
                "scale it with --lr-factor, or choose --schedule inverse-sqrt");
  o.add("--lr-factor", t.lr_factor, "X", "factor of --schedule paper")
      .at_least(0)
      .needs({"--schedule paper"});
  o.add("--warmup", t.warmup, "STEPS", "warm-up steps").at_least(0);
  o.add("--beta1", t.beta1, "X", "Adam's beta1").range(0, 1).needs({"--optimizer adam"});
  o.add("--beta2", t.beta2, "X", "Adam's beta2").range(0, 1).needs({"--optimizer adam"});
  o.add("--epsilon", t.epsilon, "X", "Adam's epsilon").at_least(0).needs({"--optimizer adam"});
  o.add("--clip-norm", t.clip_norm, "X", "maximum gradient norm; 0: no clipping").at_least(0);
}

void describe_optimisation(Options& o, TrainOptions& t) {
  describe_batches(o, t);
  describe_regularisation(o, t);
  describe_optimizer(o, t);
  o.group("Bad steps").goes_with({"--replay"});
  o.add("--on-spike", t.on_spike, "log|skip|rewind", "what to do at a loss spike",
        "log: keep the update; skip: discard it; rewind: return to the last checkpoint of "
        "--save-every; see BAD STEPS.")
      .one_of({"log", "skip", "rewind"})
      .needs({"--spike-threshold"});
  o.add("--spike-threshold", t.spike_threshold, "X",
        "standard deviations above the mean that make a spike; 0: off")
      .at_least(0);
  o.add("--spike-window", t.spike_window, "STEPS", "steps over which mean and deviation are taken")
      .range(2, 100000)
      .needs({"--spike-threshold"});
  o.add("--spike-floor", t.spike_floor, "X",
        "minimum rise of a spike, in nats and as a share of the mean")
      .at_least(0)
      .needs({"--spike-threshold"});
  o.add("--max-skips", t.max_skips, "N", "stop after N consecutive non-finite steps; 0: never")
      .range(0, 1000000);
  for (const char* name : {"on-spike", "spike-threshold", "spike-floor", "max-skips"})
    o.at(name).goes_with({"--resume"});
  o.group("Optimizer");
  o.add("--weight-decay", t.weight_decay, "X", "decoupled weight decay of matrices, as AdamW")
      .at_least(0);
}

}  // namespace

void TrainOptions::describe(Options& o) {
  o.usage("tx-train --src FILE --tgt FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --kind decoder|encoder --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --denoise --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --resume RUN [OPTION]...");
  describe_data(o, *this);
  describe_run(o, *this);
  describe_validation(o);
  model.describe(o);
  describe_kind(o, kind.name);
  describe_optimisation(o, *this);
  describe_guidance(o);
  describe_machine(o, *this);
  describe_diagnostics(o, *this);
}

namespace {

// Numbers that no training can use: a division by 0, or steps of length 0.
void check_numbers(const TrainOptions& t, const Options& given) {
  for (const auto& [name, value] : {std::pair("--beta1", t.beta1), std::pair("--beta2", t.beta2)})
    if (value >= 1) throw UsageError(std::string(name) + ": must be at least 0 and less than 1");
  if (t.epsilon <= 0) throw UsageError("--epsilon: must be more than 0");
  if (given.given("lr") && t.lr <= 0) throw UsageError("--lr: must be more than 0");
  if (t.lr_factor <= 0) throw UsageError("--lr-factor: must be more than 0");
}

}  // namespace

void TrainOptions::resolve(const Options& options) {
  check_numbers(*this, options);
  model.apply_layers(options);
  if (preset != "auto") {  // else once it is settled
    if (!steps_by_minutes(*this, options)) fit_schedule(*this, options);
    options.check();
    check_schedule();
    guided();
  }
  check_limits();
  if (!one_text() && src.empty() != tgt.empty()) throw UsageError("--src and --tgt go together");
  if (one_text() && resume.empty() && config.empty() && !options.given("label-smoothing"))
    label_smoothing = 0;  // its perplexity is the one of the text
  resolve_validation();
  if (batch_tokens != "auto") parse_batch_tokens(batch_tokens);
  if (!memory.empty()) parse_size(memory, "--memory");
  if (threads == 0) threads = available_cpus();
  device = resolve_device(device);
  if (precision == "auto") precision = has_fast_bf16(device) ? "bf16" : "fp32";
  if (precision == "bf16" && !no_bf16_reason(device).empty())
    throw UsageError("--precision bf16: " + no_bf16_reason(device) + "; use --precision fp32");
  ModelConfig shape = model_config();  // contradictions are told before any text is read
  shape.set_vocabularies(1);
  shape.resolve();
}

ModelConfig TrainOptions::model_config() const {
  ModelConfig c = model.config;
  c.set_kind(kind);
  if (kind == ModelKind::decoder) c.sides = {model.config.sides.back()};
  return c;
}

// The options point into the sides, which stay where they are.
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
    throw UsageError("--schedule " + schedule +
                     " needs a rate: add --lr, for instance --lr 0.0005");
  if (rate_falls() && steps == 0)
    throw UsageError("--schedule " + schedule + " falls to 0 at --steps, which is 0: give --steps");
  if (schedule == "paper" && warmup == 0)
    throw UsageError("--schedule paper needs --warmup of at least 1");
}

void TrainOptions::check_limits() const {
  if (steps == 0 && epochs == 0 && minutes == 0 && patience == 0)
    throw UsageError("nothing would end this run: give --steps, --epochs, --minutes or --patience");
  if (patience > 0 && valid_src.empty() && valid_command.empty())
    throw UsageError(std::string("--patience needs --valid-src") +
                     (one_text() ? "" : " and --valid-tgt") + ", or --valid-command");
  if (patience > 0 && save_every == 0 && save_minutes == 0 && valid_every == 0)
    throw UsageError(
        "--patience counts validations, but --save-every 0 asks for no validation: give "
        "--valid-every");
}

int parse_batch_tokens(const std::string& text) {
  int tokens = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  if (error != std::errc() || end != text.data() + text.size() || tokens < 2 || tokens > 1 << 24)
    throw UsageError("--batch-tokens " + text + ": give a number from 2 to 16,777,216, or auto");
  return tokens;
}

}  // namespace tx
