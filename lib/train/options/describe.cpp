// The options of tx-train: names, help texts, ranges and exclusions.
#include "lib/base/split.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/train/options/options.h"

namespace tx {
namespace {

const std::vector<Condition> one_text = {{"--kind", "decoder"}, {"--kind", "encoder"}, "--denoise"};

// --kind, in the group of the model's options.
void describe_kind(Options& o, Named<ModelKind>& kind) {
  o.add("--kind", kind, "architecture",
        "encoder-decoder: a translation model (the paper); decoder: a language model; encoder: a "
        "masked language model. The last two train on one text, --src; see LANGUAGE MODELS.");
  o.at("encoder-layers").excludes({{"--kind", "decoder"}}, "it has no encoder");
  o.at("decoder-layers").excludes({{"--kind", "encoder"}}, "it has no decoder");
  o.at("decoder-memory")
      .excludes({{"--kind", "decoder"}, {"--kind", "encoder"}}, "it has no cross-attention");
}

void describe_documents(Options& o, TrainOptions& t) {
  o.flag("--denoise", t.denoise, "train on --src alone by span corruption, as T5",
         "The model learns to restore the missing spans of one text; see tx-train-methods(7).")
      .excludes({{"--kind", "decoder"}, {"--kind", "encoder"}}, "it needs an encoder and a decoder")
      .excludes({"--bpe-dropout"}, "source and target are parts of one text");
  o.add("--documents", t.documents, "what counts as one document of --src",
        "lines: each line; paragraphs: the lines up to a blank line, joined by spaces.")
      .needs(one_text);
  o.add("--context", t.context, "N", "maximum tokens per training sequence",
        "Longer documents are split. Each part starts with the last token of the part before, so "
        "that every token is predicted once.")
      .range(2, 1 << 20)
      .needs(one_text);
  o.flag("--cross-documents", t.cross_documents, "let sequences cross document boundaries",
         "The documents are concatenated with </s> <s> between them, and every sequence but the "
         "last has --context tokens.")
      .needs({{"--kind", "decoder"}})
      .excludes({"--bpe-dropout"},
                "documents longer than --context keep the standard segmentation");
}

void describe_data(Options& o, TrainOptions& t) {
  o.group("Data");
  o.add("--src", t.src, "FILE", "source text, one sentence per line",
        "With --kind decoder, --kind encoder and --denoise it is the only text.");
  o.add("--tgt", t.tgt, "FILE", "target text; line N translates line N of --src");
  o.add("--valid-src", t.valid_src, "FILE", "validation source");
  o.add("--valid-tgt", t.valid_tgt, "FILE", "validation target");
  for (const char* text : {"src", "tgt", "valid-src", "valid-tgt"})
    o.at(text).input().goes_with({"--resume"});
  for (const char* side : {"tgt", "valid-tgt"})
    o.at(side).excludes(one_text, "it trains on one text");
  o.add("--vocab", t.vocab, "FILE|words", "joint vocabulary, from tx-bpe train",
        "A subword model, a list of words, or a model or run directory, whose vocabularies are "
        "used. --vocab words takes the words of the training text, which is then read twice and "
        "must be regular files.")
      .input()
      .excludes({"--init"}, "the vocabulary of its model is used")
      .excludes({"--vocab-src", "--vocab-tgt"});
  o.add("--vocab-src", t.vocab_src, "FILE", "source vocabulary");
  o.add("--vocab-tgt", t.vocab_tgt, "FILE", "target vocabulary");
  for (const char* side : {"vocab-src", "vocab-tgt"})
    o.at(side)
        .input()
        .excludes({"--init"}, "the vocabulary of its model is used")
        .excludes(one_text, "it trains on one text; give its vocabulary with --vocab");
  o.add("--max-length", t.max_length, "N", "drop pairs with more than N tokens on a side")
      .range(1, 1 << 20)
      .excludes(one_text, "its documents are split by --context");
  describe_documents(o, t);
  o.add("--bpe-dropout", t.bpe_dropout, "P",
        "BPE-dropout: re-segment the training text every epoch",
        "Each merge is skipped with probability P, on both sides (Provilkov et al., 2020); 0.1 is "
        "usual. Validation text, and documents longer than --context, keep the standard "
        "segmentation.")
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
  o.flag("--log-gradients", t.log_gradients, "log the gradient norm of each layer",
         "In log.jsonl, every --log-every steps; --report plots it.");
  o.add("--log-seconds", t.log_seconds, "N", "maximum seconds between progress lines; 0: no limit",
        "Applies if standard error is not a terminal; log.jsonl depends only on --log-every.")
      .at_least(0);
  for (const char* name : {"steps", "epochs", "minutes", "patience", "save-every", "save-minutes",
                           "keep", "log-every", "log-gradients", "log-seconds"})
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
  o.add("--preset", t.preset.name, "auto|base|big|small|tiny|modern|toy",
        "default settings, which other options override",
        "See PRESETS. --preset NAME --help shows the defaults of preset NAME; without it they are "
        "those of base.")
      .one_of({"auto", "base", "big", "small", "tiny", "modern", "toy"})
      .also({name_of_value(Preset::fine_tuning)});
  o.add("--config", t.config, "FILE", "options of another run: its directory or config.json")
      .runtime()
      .input();
  o.add("--init", t.init, "MODEL", "model to start from: its weights, shape and vocabulary",
        "See FINE-TUNING.")
      .input();
  o.add("--add-tokens", t.add_tokens, "FILE", "tokens to add to the vocabulary, one per line",
        "Text is split at them first, the longest match; in a list of words they are words. The "
        "rows of a token start as the mean of those of the tokens that it was split into before.")
      .input()
      .needs({"--init"});
  o.add("--add-language", t.add_language, "TAG=FROM", "add the token TAG, with the rows of FROM",
        "Example: \"<2nl>=<2de>\". In a converted multilingual model, TAG also takes the place of "
        "FROM as the language that is set.")
      .needs({"--init"});
  o.flag("--freeze-old-tokens", t.freeze_old_tokens, "train no rows of the tokens that --init has",
         "The rows of the embeddings and the output layer; the layers are trained.")
      .needs({"--add-tokens", "--add-language"})
      .excludes({"--tensor-parallel"});
  describe_limits(o, t);
  o.group("Run");
  o.add("--seed", t.seed, "N", "random seed of weights, data order and dropout")
      .goes_with({"--replay"});
}

void describe_machine(Options& o, TrainOptions& t) {
  o.group("Machine");
  o.threads(t.threads, "Changing it may change the last bits of the model.")
      .goes_with({"--resume", "--replay"});
  o.add("--tensor-parallel", t.tensor_parallel, "T", "tensor parallelism over T ranks",
        "See tx-train-methods(7).")
      .range(1, 1024)
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.add("--device", t.device, "where to compute", "With auto, the GPU if there is one.")
      .goes_with({"--resume", "--replay"});
  o.add("--precision", t.precision.name, "auto|bf16|fp32",
        "precision of activations and matrix products",
        "Weights, optimizer state and sums are always fp32. With auto, bf16 where "
        "the device multiplies it faster than fp32; --version prints the choice.")
      .one_of({"auto", "bf16", "fp32"})
      .goes_with({"--replay"});
  o.flag("--tune", t.tune, "time the GPU's matrix-product algorithms, use the fastest",
         "Takes some seconds at the start. A resumed run keeps the choice; another run may choose "
         "differently and then differs in the last bits.")
      .excludes({{"--device", "cpu"}});
  o.add("--memory", t.memory, "SIZE", "memory limit, e.g. 2G or 800M", "See MEMORY.")
      .goes_with({"--resume"});
  o.flag("-q,--quiet", t.quiet, "print no progress",
         "Warnings and the table of --profile are still printed.")
      .runtime()
      .goes_with({"--resume", "--replay", "--report"});
}

void describe_diagnostics(Options& o, TrainOptions& t) {
  o.group("Diagnostics and reports");
  o.flag("--describe", t.describe_only, "print the model, its memory and cost; do not train",
         "See DESCRIBING A MODEL.")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--parity"});
  o.flag("--profile", t.profile, "print the time of each kernel group at the end",
         "Each row also has the time that the group's memory traffic or arithmetic would take "
         "at the rates measured on this CPU or GPU. On a CPU \"other\" is time outside the "
         "kernels. GPU steps are slower while profiling.")
      .runtime()
      .goes_with({"--resume"})
      .excludes({"--describe", "--parity", "--selftest-resume"});
  o.flag("--parity", t.parity, "compare one step over devices and precisions; do not train",
         "Computes forward, backward and update of one batch of your text on every device and in "
         "every precision of this machine. Prints for each tensor how far its gradient (largest "
         "difference over largest magnitude, and 1 minus the cosine) and its updated weights are "
         "from the CPU in fp32. The exit status is 1 if a gradient or the loss exceeds its bound.")
      .runtime()
      .goes_with({"--resume"});
  o.flag("--selftest-resume", t.selftest_resume,
         "test on your data that killed runs resume bit-identically",
         "Runs some seconds of this training twice in a temporary directory ($TMPDIR): once "
         "uninterrupted, once killed several times and resumed each time. All checkpoints "
         "must be byte-identical; otherwise the exit status is 1. The text is read several times, "
         "and --valid-command is not run.")
      .runtime()
      .excludes({"--parity", "--describe"});
  o.add("--replay", t.replay, "FILE", "rerun a recorded bad step and compare",
        "FILE is a record, or a run directory, whose newest record is used.")
      .runtime()
      .input()
      .is_mode("a recorded step has its own options");
}

void describe_batches(Options& o, TrainOptions& t) {
  o.group("Batches").goes_with({"--replay"});
  o.add("--batch-tokens", t.batch_tokens.text, "N|auto", "target tokens per batch",
        "With auto, as many as fit in memory; see MEMORY. In tx-decode the option counts source "
        "tokens.");
  o.add("--accumulate", t.accumulate, "N", "batches per step: gradient accumulation")
      .range(1, 100000);
  o.flag("--recompute", t.recompute, "activation checkpointing: recompute in backward",
         "Stores only the input of each layer. Needs less memory and about a third more time; the "
         "result is bit-identical. --describe prints the memory with and without it.")
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
  o.add("--consistency", t.consistency,
        "compute each batch twice and penalise different predictions",
        "simcut: the second pass lacks the embeddings of random tokens, and the loss gains "
        "--consistency-weight times KL(first || second) (Gao et al., 2022). rdrop: the passes "
        "differ by dropout, and the loss is the sum of both, plus the weight times the mean of the "
        "two divergences (Liang et al., 2021). A step takes about twice as long.")
      .excludes({"--guided-alignment"});
  o.add("--consistency-weight", t.consistency_weight, "X", "weight of the divergence")
      .range(0.001, 1000)
      .needs({{"--consistency", "simcut"}, {"--consistency", "rdrop"}});
  o.add("--cutoff", t.cutoff, "P", "share of the embeddings that --consistency simcut omits")
      .range(0, 0.99)
      .needs({{"--consistency", "simcut"}});
}

void describe_optimizer(Options& o, TrainOptions& t) {
  o.group("Optimizer").goes_with({"--replay"});
  o.add("--optimizer", t.optimizer, "optimizer",
        "muon: the matrices of the layers move along their momentum, made orthogonal (Jordan et "
        "al., 2024), everything else by Adam.");
  o.add("--schedule", t.schedule, "learning-rate schedule",
        "paper: lr-factor x d-model^-0.5 x min(step^-0.5, step x warmup^-1.5). The others rise "
        "linearly to --lr during --warmup. Then inverse-sqrt falls with the inverse square root of "
        "the step, cosine and linear fall to 0 at --steps, and constant stays.");
  o.add("--lr", t.lr, "RATE", "peak learning rate of all schedules but paper")
      .at_least(0)
      .excludes({{"--schedule", "paper"}},
                "scale it with --lr-factor, or choose --schedule inverse-sqrt");
  if (t.lr == 0) o.at("lr").default_is("");
  o.add("--lr-factor", t.lr_factor, "X", "factor of --schedule paper")
      .at_least(0)
      .needs({{"--schedule", "paper"}});
  o.add("--warmup", t.warmup, "STEPS", "warm-up steps").at_least(0);
  o.add("--beta1", t.beta1, "X", "Adam's beta1")
      .range(0, 1)
      .needs({{"--optimizer", "adam"}, {"--optimizer", "muon"}});
  o.add("--beta2", t.beta2, "X", "Adam's beta2")
      .range(0, 1)
      .needs({{"--optimizer", "adam"}, {"--optimizer", "muon"}});
  o.add("--epsilon", t.epsilon, "X", "Adam's epsilon")
      .at_least(0)
      .needs({{"--optimizer", "adam"}, {"--optimizer", "muon"}});
  o.add("--momentum", t.momentum, "X", "momentum of the matrices under Muon")
      .range(0, 0.9999)
      .needs({{"--optimizer", "muon"}});
  o.add("--clip-norm", t.clip_norm, "X", "maximum gradient norm; 0: no clipping").at_least(0);
}

void describe_optimisation(Options& o, TrainOptions& t) {
  describe_batches(o, t);
  describe_regularisation(o, t);
  describe_optimizer(o, t);
  o.group("Bad steps").goes_with({"--replay"});
  o.add("--on-spike", t.on_spike, "what to do at a loss spike",
        "log: keep the update; skip: discard it; rewind: return to the last checkpoint of "
        "--save-every.")
      .needs({"--spike-threshold"});
  o.add("--spike-threshold", t.spike_threshold, "X",
        "loss spike: X standard deviations above the mean; 0: off")
      .at_least(0);
  o.add("--spike-window", t.spike_window, "STEPS",
        "steps over which mean and deviation are computed")
      .range(2, 100000)
      .needs({"--spike-threshold"});
  o.add("--spike-floor", t.spike_floor, "X",
        "minimum rise of a spike, in nats and as a fraction of the mean")
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

void TrainOptions::describe_validation(Options& o) {
  o.group("Validation").goes_with({"--resume"});
  o.add("--valid-every", valid_every, "STEPS",
        "steps between validations; 0: at every --save-every",
        "A new best model is saved immediately, independently of --save-every.")
      .at_least(0)
      .needs({"--valid-src"});
  o.add("--valid-metric", valid_metric, joined(validation_metrics(), "|"),
        "metric that selects the best model",
        "It also decides for --patience and tx-avg --best. With several metrics, separated by "
        "commas, the first decides and the others are logged. loss: the training loss, with label "
        "smoothing; perplexity: without smoothing, it may rise while a smoothed model still "
        "improves; accuracy: fraction of target tokens predicted correctly; bleu and chrf: scores "
        "of greedy translations.")
      .default_is(validation_metrics().front())
      .list_of(validation_metrics())
      .needs({"--valid-src"});
  o.add("--valid-lines", valid_lines, "N", "lines translated for bleu and chrf; 0: all",
        "The first N lines of the files, including those that --max-length drops.")
      .at_least(0)
      .needs({{"--valid-metric", "bleu"}, {"--valid-metric", "chrf"}});
  o.add("--valid-command", valid_command, "COMMAND",
        "shell command that prints the score of the model in $MODEL",
        "Its score replaces --valid-metric; see VALIDATION.")
      .may_be_empty();
  o.add("--valid-timeout", valid_timeout, "SECONDS", "time limit of --valid-command; 0: none")
      .at_least(0)
      .needs({"--valid-command"});
}

void TrainOptions::describe_guidance(Options& o) {
  o.group("Guided alignment");
  o.add("--guided-alignment", guided_alignment, "FILE",
        "word alignments of the training text, to train one attention head",
        "One line per pair in Pharaoh format, e.g. 0-0 1-2; see tx-train-methods(7).")
      .input()
      .goes_with({"--resume"})
      .excludes({{"--kind", "decoder"}, {"--kind", "encoder"}}, "it has no cross-attention")
      .excludes({"--denoise"}, "one text has no word alignments");
  o.add("--guided-head", guided_head, "LAYER.HEAD", "the cross-attention head to train",
        "Layers and heads count from 0. Default: head 0 of the last layer.")
      .needs({"--guided-alignment"});
  o.add("--guided-weight", guided_weight, "X", "weight of the alignment loss")
      .at_least(0)
      .needs({"--guided-alignment"});
  o.flag("--guided-shift", guided_shift, "train the decoder position that reads the target token",
         "By default the position that predicts the token is trained.")
      .needs({"--guided-alignment"});
}

void TrainOptions::describe(Options& o) {
  o.usage("tx-train --src FILE --tgt FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --kind decoder|encoder --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --denoise --src FILE --vocab FILE [OPTION]... -o RUN");
  o.usage("tx-train --resume RUN [OPTION]...");
  describe_data(o, *this);
  describe_run(o, *this);
  describe_validation(o);
  describe_model(o, model, layers);
  describe_kind(o, kind);
  describe_optimisation(o, *this);
  describe_guidance(o);
  describe_machine(o, *this);
  describe_diagnostics(o, *this);
  o.usual(
      "src tgt valid-src valid-tgt vocab max-length out resume preset init seed steps epochs "
      "minutes patience save-every valid-every valid-metric layers d-model heads kind batch-tokens "
      "dropout lr threads device precision describe quiet");
}

}  // namespace tx
