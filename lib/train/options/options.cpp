#include "lib/train/options/options.h"

#include <charconv>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/base/memory.h"
#include "lib/base/workers.h"
#include "lib/train/options/preset.h"
#include "lib/train/options/schedule.h"

namespace tx {

namespace {

const std::vector<std::string> one_text = {"--kind decoder", "--kind encoder", "--denoise"};

// One more of the model's.
void describe_kind(Options& o, std::string& kind) {
  o.add(
       "--kind", kind, "encoder-decoder|decoder|encoder", "which stacks the model has",
       "encoder-decoder translates, as the paper's model does. decoder is a language model, which "
       "continues a text. encoder is a masked language model, which sees all of a text and guesses "
       "pieces that are hidden. The last two are trained on one text, --src.")
      .one_of(names_of<ModelKind>());
  o.at("encoder-layers").excludes({"--kind decoder"}, "it has no encoder");
  o.at("decoder-layers").excludes({"--kind encoder"}, "it has no decoder");
}

void describe_documents(Options& o, TrainOptions& t) {
  o.flag("--denoise", t.denoise, "learn from one text, to restore spans taken out of it",
         "Span corruption (Raffel et al., 2020): of the pieces of --src 15 % are taken out, in "
         "spans of 3 on average. Pieces <extra_id_0>, <extra_id_1> and on stand in their places, "
         "and the output lists these, each with its span. The vocabulary gets 100 of them where "
         "it has none.")
      .excludes({"--kind decoder", "--kind encoder"}, "it needs both stacks")
      .excludes({"--bpe-dropout"}, "source and target are parts of one text");
  o.add("--documents", t.documents, "lines|paragraphs", "what a document of --src is",
        "lines: each line. paragraphs: lines up to a blank one, joined by spaces.")
      .one_of({"lines", "paragraphs"})
      .needs(one_text);
  o.add("--context", t.context, "N", "the most pieces that the model reads at once",
        "Longer documents are cut into parts of N, each of which begins with the last piece of the "
        "part before; every piece is predicted once.")
      .range(2, 1 << 20)
      .needs(one_text);
  o.flag("--cross-documents", t.cross_documents, "let parts go on across ends of documents",
         "Documents follow one another, </s> <s> between them, and every part but the last has "
         "--context pieces.")
      .needs({"--kind decoder"})
      .excludes({"--bpe-dropout"}, "documents that are cut keep their usual pieces");
}

void describe_data(Options& o, TrainOptions& t) {
  o.group("Data");
  o.add("--src", t.src, "FILE", "source text, one sentence a line",
        "With --kind decoder, --kind encoder and --denoise it is the only text. "
        "May be gzip-compressed, a FIFO or a process substitution; it is read once.");
  o.add("--tgt", t.tgt, "FILE", "target text, line by line beside the source");
  o.add("--valid-src", t.valid_src, "FILE", "source text for validation");
  o.add("--valid-tgt", t.valid_tgt, "FILE", "target text for validation");
  for (const char* text : {"src", "tgt", "valid-src", "valid-tgt"})
    o.at(text).input().goes_with({"--resume"});
  for (const char* side : {"tgt", "valid-tgt"}) o.at(side).excludes(one_text, "it has one text");
  o.add("--vocab", t.vocab, "FILE|words", "vocabulary of both sides: a file of tx-bpe train",
        "A subword model or a list of words; or a model or a run directory, whose vocabularies are "
        "taken. The word words stands for the words of the training "
        "text, which is read twice then: it must be regular files.")
      .input()
      .excludes({"--init"}, "its model brings its vocabulary")
      .excludes({"--vocab-src", "--vocab-tgt"});
  o.add("--vocab-src", t.vocab_src, "FILE", "vocabulary of the source");
  o.add("--vocab-tgt", t.vocab_tgt, "FILE", "vocabulary of the target");
  for (const char* side : {"vocab-src", "vocab-tgt"})
    o.at(side)
        .input()
        .excludes({"--init"}, "its model brings its vocabulary")
        .excludes(one_text, "it has one text, whose vocabulary is --vocab");
  o.add("--max-length", t.max_length, "N", "the most pieces of a side; longer pairs are dropped")
      .range(1, 1 << 20)
      .excludes(one_text, "its texts are cut by --context");
  describe_documents(o, t);
  o.add("--bpe-dropout", t.bpe_dropout, "P",
        "cut training text anew each epoch, without some merges",
        "BPE-dropout (Provilkov et al., 2020) on both sides: each possible merge is left out with "
        "probability P, so that the model meets the same words in other pieces; 0.1 is usual. "
        "Validation text keeps its usual pieces.")
      .range(0, 1);
  o.add("--bpe-dropout-epochs", t.bpe_dropout_epochs, "N",
        "leave merges out in the first N epochs; 0: in all",
        "What is translated later is cut in the usual way: epochs without BPE-dropout at the end, "
        "while the learning rate falls, make the model sure of it.")
      .at_least(0)
      .needs({"--bpe-dropout"});
  o.add("--cache", t.cache, "DIR", "where text is kept as ids, shared between runs",
        "See tx-cache(5). Default: in the run directory.")
      .output();
  o.flag("--strict", t.strict, "stop at invalid UTF-8",
         "Otherwise each ill-formed sequence is replaced by U+FFFD, with a warning.");
}

void describe_run(Options& o, TrainOptions& t) {
  o.group("Run");
  o.add(
       "--preset", t.preset, "auto|base|big|tiny|modern|toy",
       "start from these settings; options win",
       "base and big are the paper's; tiny suits Multi30k, modern is tiny with later blocks and a "
       "rate that falls to 0 in fewer steps, toy suits the reverse task. auto chooses by "
       "text and device, is base where an option sets the size of the model, and with --init takes "
       "settings for fine-tuning.")
      .one_of({"auto", "base", "big", "tiny", "modern", "toy"})
      .also({fine_tuning});
  o.add("--config", t.config, "FILE",
        "start from the options of another run: its directory or config.json")
      .runtime()
      .input();
  o.add("-o,--out", t.out, "DIR", "run directory to create; see tx-run(5)")
      .runtime()
      .output()
      .goes_with({"--report"});
  o.add("--resume", t.resume, "DIR", "go on with this run, to the bytes of a run never stopped")
      .runtime()
      .input()
      .is_mode("a resumed run keeps its options; tx-train(1) lists those that may change");
  o.flag("--selftest-resume", t.selftest_resume,
         "show on your data that a killed run loses nothing",
         "Some seconds of this training are run twice in a temporary directory ($TMPDIR): once "
         "without a stop, once killed at places of a save and at other moments and resumed each "
         "time. The checkpoints are compared byte for byte; exit status 0: the same. "
         "--valid-command is left out; the text is read several times.")
      .runtime()
      .excludes({"--parity", "--describe"});
  o.add("--replay", t.replay, "FILE", "run a recorded step again and compare; see tx-run(5)",
        "Of a run directory the newest record is taken.")
      .runtime()
      .input()
      .is_mode("a recorded step has its own options");
  o.add("--init", t.init, "MODEL", "start from this model's weights, vocabulary and shape",
        "Without --preset batches, rate and steps are those for fine-tuning, chosen by the size of "
        "the text.")
      .input();
  o.add("--steps", t.steps, "N", "end after N steps; 0: no limit",
        "Fewer steps than the preset's shorten its warm-up, unless --warmup is given.")
      .at_least(0);
  o.add("--epochs", t.epochs, "N", "end after N epochs; 0: no limit").at_least(0);
  o.add("--minutes", t.minutes, "N", "end after N minutes; 0: no limit",
        "Without --steps the number of steps that fit is measured at the start, and the schedule "
        "ends with them.")
      .at_least(0);
  o.add("--patience", t.patience, "N", "end after N validations without a better one; 0: never")
      .at_least(0);
  o.add("--save-every", t.save_every, "STEPS", "save a checkpoint; 0: by time alone").at_least(0);
  o.add(
       "--save-minutes", t.save_minutes, "N",
       "save a checkpoint every N minutes; 0: by steps alone",
       "Beside --save-every such a checkpoint is for safety: it is not validated, and the next one "
       "by steps replaces it.")
      .at_least(0);
  o.add("--keep", t.keep, "N", "checkpoints to keep beside the best").at_least(1);
  o.add("--log-every", t.log_every, "STEPS", "steps between lines of the log").at_least(1);
  o.add("--log-seconds", t.log_seconds, "N", "print a line at least this often; 0: by steps alone",
        "On standard error, where that is not a terminal. The log in the run directory keeps to "
        "--log-every.")
      .at_least(0);
  for (const char* name : {"steps", "epochs", "minutes", "patience", "save-every", "save-minutes",
                           "keep", "log-every", "log-seconds"})
    o.at(name).goes_with({"--resume"});
  o.add("--seed", t.seed, "N", "seed of weights, order and dropout").goes_with({"--replay"});
}

void describe_machine(Options& o, TrainOptions& t) {
  o.group("Machine");
  o.threads(t.threads, "Another number may change the last bits of the model.")
      .goes_with({"--resume", "--replay"});
  o.add(
       "--tensor-parallel", t.tensor_parallel, "T", "lay each layer on so many ranks, in parts",
       "Of every layer each of T ranks has some heads and columns, and of vocabularies some pieces "
       "(Shoeybi et al., 2019). The ranks, which mpirun starts, are T or a multiple of it, and T "
       "divides --heads, --kv-heads and --d-ff.")
      .range(1, 1024)
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.add("--device", t.device, "auto|cpu|cuda", "where to compute",
        "auto takes the GPU where there is one.")
      .one_of({"auto", "cpu", "cuda"})
      .goes_with({"--resume", "--replay"});
  o.add("--precision", t.precision, "auto|bf16|fp32", "of activations and products",
        "bf16 keeps fp32 weights, moments and sums. auto takes bf16 where the hardware has it.")
      .one_of({"auto", "bf16", "fp32"})
      .goes_with({"--replay"});
  o.flag("--tune", t.tune, "on a GPU, choose the algorithms of products by timing them",
         "Faster steps after some seconds at the start. Resumed, a run keeps what was chosen; "
         "another run may choose differently, and differ in last bits.")
      .excludes({"--device cpu"});
  o.add("--memory", t.memory, "SIZE", "limit for the plan, as 2G or 800M",
        "With --batch-tokens auto the largest batch that fits is taken.")
      .goes_with({"--resume"});
  o.flag("--describe", t.describe_only, "print the model, its memory and its cost; train nothing")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--parity"});
  o.flag("--parity", t.parity, "compare one step on every device and precision; train nothing",
         "Forward, backward and Adam of one batch of your text on the CPU in fp32, and in bf16 and "
         "on the GPU where they can be had: how far each gradient and each weight is off. The last "
         "line is the verdict; exit status 1 where a gradient or the loss is out of its bounds.")
      .runtime()
      .goes_with({"--resume"});
  o.flag("--profile", t.profile, "print where the time went at the end",
         "By groups of kernels, each beside the time that its memory traffic or arithmetic would "
         "take at the rates measured on that CPU or GPU; on a CPU \"other\" is the time outside of "
         "kernels. Steps are slower under it on a GPU.")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.flag("-q,--quiet", t.quiet, "no progress on standard error",
         "Warnings and what --profile measured are printed.")
      .runtime()
      .goes_with({"--resume", "--replay", "--report"});
}

void describe_optimisation(Options& o, TrainOptions& t) {
  o.group("Optimisation").goes_with({"--replay"});
  o.add("--batch-tokens", t.batch_tokens, "N|auto", "target pieces of a batch",
        "The source side's room is this times the corpus's ratio. In translation the same name "
        "counts the source side, which is known there.");
  o.add("--accumulate", t.accumulate, "N", "batches of a step").range(1, 100000);
  o.flag("--recompute", t.recompute, "keep less for the backward pass and compute it again",
         "Each layer keeps its input alone; less memory, about a third more time, the same bytes. "
         "--describe tells the memory with and without.")
      .goes_with({"--resume"});
  o.add("--dropout", t.dropout, "P", "on sub-layers and embeddings").range(0, 0.99);
  o.add("--attention-dropout", t.attention_dropout, "P", "on attention weights").range(0, 0.99);
  o.add("--relu-dropout", t.relu_dropout, "P", "inside the feed-forward layer").range(0, 0.99);
  o.add("--label-smoothing", t.label_smoothing, "E",
        "share of the labels' probability given to other words",
        "The label gets 1 - E, every other word E / (V - 1).")
      .range(0, 0.99)
      .default_is("0.1; 0 with --kind decoder or encoder");
  o.add("--optimizer", t.optimizer, "adam|sgd", "optimiser").one_of({"adam", "sgd"});
  o.add("--schedule", t.schedule, "paper|inverse-sqrt|cosine|linear|constant", "learning rate",
        "paper: factor x d_model^-0.5 x min(step^-0.5, step x warmup^-1.5). The others warm up "
        "linearly to --lr, then fall as the inverse square root of the step, as a cosine or "
        "linearly to 0 at --steps, or stay.")
      .one_of({"paper", "inverse-sqrt", "cosine", "linear", "constant"});
  o.add("--lr", t.lr, "RATE", "highest rate of the schedules other than paper")
      .at_least(0)
      .excludes({"--schedule paper"},
                "scale it with --lr-factor, or choose --schedule inverse-sqrt");
  o.add("--lr-factor", t.lr_factor, "X", "factor of the paper's schedule")
      .at_least(0)
      .needs({"--schedule paper"});
  o.add("--warmup", t.warmup, "STEPS", "steps of rising rate").at_least(0);
  o.add("--beta1", t.beta1, "X", "decay of Adam's first moment")
      .range(0, 1)
      .needs({"--optimizer adam"});
  o.add("--beta2", t.beta2, "X", "decay of Adam's second moment")
      .range(0, 1)
      .needs({"--optimizer adam"});
  o.add("--epsilon", t.epsilon, "X", "Adam's epsilon").at_least(0).needs({"--optimizer adam"});
  o.add("--clip-norm", t.clip_norm, "X", "largest norm of the gradient; 0: no limit").at_least(0);
  o.add(
       "--on-spike", t.on_spike, "log|skip|rewind", "what to do about a loss spike",
       "log: the step counts. skip: its update is left out. rewind: training goes back to the "
       "newest checkpoint by --save-every and on from there with the text that follows; before the "
       "first, the update is left out. Each is recorded, see tx-run(5).")
      .one_of({"log", "skip", "rewind"})
      .needs({"--spike-threshold"});
  o.add("--spike-threshold", t.spike_threshold, "X",
        "standard deviations above the mean from which on a loss is a spike; 0: never")
      .at_least(0);
  o.add("--spike-window", t.spike_window, "STEPS", "steps that mean and deviation are taken over")
      .range(2, 100000)
      .needs({"--spike-threshold"});
  o.add("--spike-floor", t.spike_floor, "X",
        "a spike lies at least X nats, and X times the mean, above the mean",
        "Where losses hardly spread, a few standard deviations are noise.")
      .at_least(0)
      .needs({"--spike-threshold"});
  o.add("--max-skips", t.max_skips, "N", "end after N steps in a row that are not finite; 0: never",
        "The exit status is 1, and the last good checkpoint is kept and named.")
      .range(0, 1000000);
  for (const char* name : {"on-spike", "spike-threshold", "spike-floor", "max-skips"})
    o.at(name).goes_with({"--resume"});
  o.add("--weight-decay", t.weight_decay, "X", "decoupled weight decay of matrices").at_least(0);
}

}  // namespace

void TrainOptions::describe(Options& o) {
  o.usage("tx-train --src FILE --tgt FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --kind decoder|encoder --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --denoise --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --resume RUN [--steps N]");
  describe_data(o, *this);
  describe_run(o, *this);
  describe_validation(o);
  model.describe(o);
  describe_kind(o, kind.name);
  describe_optimisation(o, *this);
  describe_guidance(o);
  describe_machine(o, *this);
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
