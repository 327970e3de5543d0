#include "lib/train/settings.h"

namespace tx {

StepSettings step_settings(const TrainOptions& o) {
  StepSettings s;
  s.dropout = {o.dropout, o.attention_dropout, o.relu_dropout, o.mask_seed(), nullptr};
  s.label_smoothing = o.label_smoothing;
  s.recompute = o.recompute;
  s.optimizer = o.optimizer == "sgd" ? Optimizer::sgd : Optimizer::adam;
  s.adam = {o.beta1, o.beta2, o.epsilon, o.weight_decay};
  s.clip_norm = o.clip_norm;
  if (!o.guided_alignment.empty()) {
    const auto [layer, head] = o.resolve_guided_head();
    s.guidance = {layer, head, o.guided_weight};
  }
  return s;
}

Schedule rate_schedule(const TrainOptions& o, int64_t d_model) {
  return {o.schedule, d_model, o.warmup, o.steps, o.lr, o.lr_factor};
}

FeedSettings feed_settings(const TrainOptions& o) {
  FeedSettings s;
  s.accumulate = o.accumulate;
  s.epochs = o.epochs;
  s.seed = o.seed;
  s.merge_dropout = o.bpe_dropout;
  s.masked = o.kind == ModelKind::encoder;
  s.dropout_epochs = o.bpe_dropout_epochs;
  s.shift_links = o.guided_shift;
  return s;
}

BatchRequest batch_request(const TrainOptions& o) {
  return {o.batch_tokens == "auto" ? 0 : parse_batch_tokens(o.batch_tokens), o.memory};
}

SpikeSettings spike_settings(const TrainOptions& o) {
  return {o.on_spike, o.spike_threshold, o.spike_window, o.spike_floor, o.max_skips};
}

ValidatorSettings validator_settings(const TrainOptions& o, const IdCache* text) {
  const bool counts = text && o.kind == ModelKind::decoder;  // else not every piece is asked
  return {o.patience, o.valid_metric, o.valid_command, o.valid_lines,
          counts ? text->report().text : TextTally()};
}

TranslationSettings translation_settings(const TrainOptions& o) {
  return {o.valid_metric, o.valid_src, o.valid_tgt, o.valid_lines, o.strict, o.threads};
}

ProgressSettings progress_settings(const TrainOptions& o) {
  ProgressSettings s;
  s.log_every = o.log_every;
  s.log_seconds = o.log_seconds;
  s.steps = o.steps;
  s.seconds = 60 * o.minutes;
  s.epochs = o.epochs;
  s.warmup = o.warmup;
  s.falls = o.schedule == "linear" || o.schedule == "cosine";
  s.guided = !o.guided_alignment.empty();
  const bool large = o.preset == "base" || o.preset == "big";
  s.advice = std::string(large ? "; --preset tiny takes a smaller model, and" : ";") +
             " --steps or --minutes end it earlier, also beside --resume";
  return s;
}

CheckpointSettings checkpoint_settings(const TrainOptions& o, const Json& config) {
  CheckpointSettings s{o.keep, o.save_every, o.save_minutes};
  for (const Json& former : config.value("saves_before", Json::array()))
    s.former.push_back({former.at("until").get<int64_t>(), former.at("every").get<int64_t>()});
  return s;
}

SessionSettings session_settings(const TrainOptions& o) {
  SessionSettings s;
  s.steps = o.steps;
  s.epochs = o.epochs;
  s.seconds = 60 * o.minutes;
  s.valid_every = o.valid_every;
  s.command = {o.valid_command, o.valid_timeout};
  s.init = o.init;
  s.profile = o.profile;
  return s;
}

}  // namespace tx
