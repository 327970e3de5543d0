#include "lib/train/run/checkpointer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"

namespace tx {

Checkpointer::Checkpointer(const RunDirectory& run, const Parameters& parameters,
                           const Vocabularies& vocabularies, const SaveOptions& options,
                           const Json& config, Saved saved, Saver::Gather gather, Clock clock)
    : run_(run),
      parameters_(parameters),
      vocabularies_(vocabularies),
      options_(options),
      tell_saved_(std::move(saved)),
      clock_(std::move(clock)),
      last_save_(clock_()),
      saver_(parameters, std::move(gather)) {
  for (const Json& former : config.value("saves_before", Json::array()))
    former_.push_back({former.at("until").get<int64_t>(), former.at("every").get<int64_t>()});
}

double Checkpointer::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool Checkpointer::overdue() const {
  return options_.save_minutes > 0 && clock_() - last_save_ >= 60 * options_.save_minutes;
}

bool Checkpointer::due(int64_t step) const {
  return options_.save_every > 0 ? step % options_.save_every == 0 : overdue();
}

// Whether --save-every asked for a checkpoint at `step`, when the run was there.
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
  saver_.begin(std::move(write));  // where this throws, no save is under way
  saving_ = step;
}

void Checkpointer::save(const Content& content) {
  begin(content.step, [this, content](const Parameters& p, const Moments& moments) {
    write_state(p, moments, content, write_model(p, content));
  });
  poll();
}

void Checkpointer::save_scored(const Content& content, const Score& score) {
  begin(content.step, [&](const Parameters& p, const Moments& moments) {
    const std::string checksum = write_model(p, content);
    score([&](const Content& scored) { write_state(p, moments, scored, checksum); });
  });
  finish_save();
}

void Checkpointer::score_again(int64_t step, const Score& score) {
  begin(step, [&](const Parameters& p, const Moments& moments) {
    const std::string checksum = ModelReader(run_.model(step)).checksum();
    score([&](const Content& scored) { write_state(p, moments, scored, checksum); });
  });
  finish_save();
}

void Checkpointer::poll() {
  if (saver_.done()) finish_save();
}

void Checkpointer::finish_save() {
  if (saving_ < 0) return;
  const int64_t step = std::exchange(saving_, -1);
  try {
    saver_.finish();
  } catch (...) {
    if (whole_ == step)
      saved_ = step;  // what failed came behind it
    else if (saved_ >= 0 && saved_ != step)
      run_.discard(step);
    throw;
  }
  saved_ = step;
  tell_saved_(step);
}

std::string Checkpointer::finish_failed() {
  try {
    finish_save();
  } catch (const std::exception& e) {
    return std::string("; saving the checkpoint failed, too: ") + e.what();
  }
  return "";
}

std::string Checkpointer::write_model(const Parameters& parameters, const Content& content) const {
  const std::string checksum =
      save_model(run_.model(content.step), parameters, vocabularies_, content.provenance);
  failpoint("model");
  return checksum;
}

void Checkpointer::write_state(const Parameters& parameters, const Moments& moments,
                               const Content& content, const std::string& checksum) {
  failpoint("state");
  save_state(run_.state(content.step), parameters, moments, content.state, checksum);
  whole_ = content.step;
  failpoint("links");
  prune(content.step, content.best, content.good, options_.keep);
}

// Links, then pruning.
void Checkpointer::prune(int64_t step, int64_t best, int64_t good, int keep) const {
  run_.link("last", step);
  failpoint("best");
  if (best >= 0 && file_exists(run_.model(best))) run_.link("best", best);
  failpoint("prune");
  run_.prune(keep, step, {best, run_.newest_before(good)},
             [this](int64_t at) { return on_schedule(at); });
}

// What --keep asks for now comes with the first new checkpoint: a run that has nothing to do loses
// nothing.
void Checkpointer::resume(int64_t step, int64_t best, int64_t good, int keep) {
  saved_ = step;
  prune(step, best, good, std::max(options_.keep, keep));
}

// Killed anywhere in here, the run goes on from a checkpoint before the spike and meets it again.
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

// Every checkpoint kept, the best, and the one being written.
void Checkpointer::tell_room(const Log& log) const {
  const int count = options_.keep + 2;
  const int64_t each = parameters_.master().cols * 12, free = free_bytes(run_.path());
  const auto mebibytes = [](int64_t bytes) { return figure(double(bytes) / (1 << 20), 1); };
  const std::string text = "the checkpoints of " + run_.path() + " will need " +
                           mebibytes(each * count) + " MiB (" + std::to_string(count) + " of " +
                           mebibytes(each) + " MiB), " + mebibytes(free) + " MiB are free";
  if (free >= each * count)
    log.info(text);
  else
    log.warn(text + "; --keep lowers it");
}

std::string Checkpointer::way_back() const {
  const bool there = file_exists(run_.model(saved_)) && file_exists(run_.state(saved_));
  return "the checkpoint of step " + std::to_string(saved_) +
         (there ? " is whole; go on from it with: tx-train --resume " + run_.path()
                : " is gone too: " + run_.path() + " vanished, or is no longer mounted");
}

}  // namespace tx
