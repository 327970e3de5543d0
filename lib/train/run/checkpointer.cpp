#include "lib/train/run/checkpointer.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/plan/memory.h"

namespace tx {

Checkpointer::Checkpointer(const RunDirectory& run, const Parameters& parameters,
                           const Vocabularies& vocabularies, const TrainOptions& options,
                           const Json& config, Saved saved, Saver::Gather gather, Clock clock)
    : run_(run),
      parameters_(parameters),
      vocabularies_(vocabularies),
      options_(options),
      on_saved_(std::move(saved)),
      clock_(std::move(clock)),
      last_save_(clock_()),
      saver_(parameters, std::move(gather)) {
  for (const Json& former : config.value("saves_before", Json::array()))
    former_.push_back({former.at("until").get<int64_t>(), former.at("every").get<int64_t>()});
}

// By the value of --save-every that the run had at `step`.
bool Checkpointer::on_schedule(int64_t step) const {
  int64_t every = options_.save_every;
  for (const Former& former : former_) {
    if (step > former.until) continue;
    every = former.every;
    break;
  }
  return every == 0 || step % every == 0;
}

int64_t Checkpointer::newest_on_schedule(int64_t step) const {
  if (options_.save_every == 0) return -1;
  const int64_t to = (step - 1) / options_.save_every * options_.save_every;
  return to > 0 && file_exists(run_.model(to)) && file_exists(run_.state(to)) ? to : -1;
}

void Checkpointer::begin(int64_t step, Saver::Write write) {
  finish_save();
  last_save_ = clock_();
  saver_.begin(std::move(write));  // if this throws, no save is in progress
  saving_ = step;
}

void Checkpointer::save(const Content& content) {
  begin(content.step, [this, content](const Parameters& p, const OptimizerState& optimizer) {
    write_state(p, optimizer, content, write_model(p, content));
  });
  poll();
}

void Checkpointer::save_scored(const Content& content, const Score& score) {
  begin(content.step, [&](const Parameters& p, const OptimizerState& optimizer) {
    const std::string checksum = write_model(p, content);
    score([&](const Content& scored) { write_state(p, optimizer, scored, checksum); });
  });
  finish_save();
}

void Checkpointer::score_again(int64_t step, const Score& score) {
  begin(step, [&](const Parameters& p, const OptimizerState& optimizer) {
    const std::string checksum = ModelReader(run_.model(step)).checksum();
    score([&](const Content& scored) { write_state(p, optimizer, scored, checksum); });
  });
  finish_save();
}

void Checkpointer::finish_save() {
  if (saving_ < 0) return;
  const int64_t step = std::exchange(saving_, -1);
  try {
    saver_.finish();
  } catch (...) {
    if (complete_ == step)
      saved_ = step;  // only links or pruning failed
    else if (saved_ >= 0 && saved_ != step)
      run_.discard(step);
    throw;
  }
  saved_ = step;
  on_saved_(step);
}

std::string Checkpointer::finish_failed() {
  try {
    finish_save();
  } catch (const std::exception& e) {
    return std::string("; saving the checkpoint failed too: ") + e.what();
  }
  return "";
}

std::string Checkpointer::write_model(const Parameters& parameters, const Content& content) const {
  run_.claim(run_.model(content.step));
  const std::string checksum =
      save_model(run_.model(content.step), parameters, vocabularies_, content.provenance);
  failpoint("model");
  return checksum;
}

void Checkpointer::write_state(const Parameters& parameters, const OptimizerState& optimizer,
                               const Content& content, const std::string& checksum) {
  failpoint("state");
  run_.claim(run_.state(content.step));
  save_state(run_.state(content.step), parameters, optimizer, content.state, checksum);
  complete_ = content.step;
  failpoint("links");
  link_and_prune(content.step, content.best, content.good, options_.keep, content.due_best);
}

void Checkpointer::link_and_prune(int64_t step, int64_t best, int64_t good, int keep,
                                  int64_t due_best) const {
  run_.link("last", step);
  failpoint("best");
  if (best >= 0 && file_exists(run_.model(best))) run_.link("best", best);
  if (best < 0) run_.unlink("best");  // the model at the end of a run that was then extended
  failpoint("prune");
  run_.prune(keep, step, {best, due_best, run_.newest_before(good)},
             [this](int64_t at) { return on_schedule(at); });
}

// A smaller --keep waits for a new checkpoint: resuming a finished run removes nothing.
void Checkpointer::resume(int64_t step, int64_t best, int64_t good, int keep, int64_t due_best) {
  saved_ = step;
  link_and_prune(step, best, good, std::max(options_.keep, keep), due_best);
}

// A run that is killed in here resumes from a checkpoint before the spike and meets it again.
void Checkpointer::go_back(int64_t step, int64_t best) {
  saved_ = step;
  run_.link("last", step);
  if (best >= 0)
    run_.link("best", best);
  else
    run_.unlink("best");
  failpoint("rewind");
  run_.discard_after(step);
  failpoint("rewound");
}

// Counts every checkpoint kept, the best one, and the one being written. 12 bytes a parameter:
// fp32 weights and two blocks of optimizer state.
void Checkpointer::report_disk_space(const Log& log) const {
  const int count = options_.keep + 2;
  const int64_t each = parameters_.fp32_weights().cols * 12, free = free_bytes(run_.path());
  const auto size = [](int64_t bytes) { return binary_size(size_t(bytes)); };
  const std::string text = "the checkpoints in " + run_.path() + " need " + size(each * count) +
                           " (" + std::to_string(count) + " of " + size(each) + "); " + size(free) +
                           " free";
  if (free >= each * count)
    log.info(text);
  else
    log.warn(text + "; keep fewer with --keep");
}

std::string Checkpointer::resume_hint() const {
  const bool there =
      run_.held() && file_exists(run_.model(saved_)) && file_exists(run_.state(saved_));
  return "the checkpoint of step " + std::to_string(saved_) +
         (there ? " is complete; resume with: tx-train --resume " + shell_word(run_.path())
                : " is missing too: was " + run_.path() + " removed or unmounted?");
}

constexpr std::pair<Unfinished, const char*> names[] = {{Unfinished::nothing, ""},
                                                        {Unfinished::validation, "validation"},
                                                        {Unfinished::score, "score"}};

Json TrainState::to_json(const Json& parts) const {
  Json state{{"step", step}, {"skipped", skipped}, {"tokens", tokens}};
  state.update(parts);
  for (const auto& [value, name] : names)
    if (value == unfinished && *name) state["unfinished"] = name;
  return state;
}

TrainState TrainState::from_json(const Json& state, const std::string& where) {
  TrainState s;
  s.step = json_value<int64_t>(state, "step", where);
  s.skipped = json_value<int64_t>(state, "skipped", where);
  s.tokens = json_value<int64_t>(state, "tokens", where);
  const auto left = state.value("unfinished", std::string());
  for (const auto& [value, name] : names) {
    if (left != name) continue;
    s.unfinished = value;
    return s;
  }
  throw DataError(
      where + ": the run stopped with its " + left +
      " unfinished, which this version does not support: resume with the version that wrote it");
}

}  // namespace tx
