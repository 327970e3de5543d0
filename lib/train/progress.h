// What a training says about itself: a line of log.jsonl, tx-run(5), and a line on standard error
// every few steps, a live line where standard error is a terminal, the sums at the end. It decides
// nothing: what it measures of time goes into lines and nowhere else.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/base/log.h"

namespace tx {

struct ProgressSettings {
  int64_t log_every = 100;  // steps between two lines; 0: only the last one
  int64_t steps = 0;        // where the run ends; 0: that is not known
};

// A step that counted.
struct StepDone {
  StepRecord record;
  int64_t epoch = 0;         // from 0
  int64_t tokens = 0;        // source and target tokens of the step
  double seconds = 0;        // that the step took
  int64_t total_tokens = 0;  // of the run, this step among them
  int64_t skipped = 0;       // updates that the run left out
};

class ProgressLog {
 public:
  // Writes a line of log.jsonl; false where it could not.
  using Append = std::function<bool(const Json& line)>;

  // `file`: the name of log.jsonl in messages. `log` must outlive this.
  ProgressLog(const ProgressSettings& settings, std::string file, Append append, const Log& log);

  // A run that is resumed has taken so long already.
  void resume(double seconds) { seconds_before_ = seconds; }
  double seconds() const;       // that the run has taken, over all its processes
  double here_seconds() const;  // those of this process

  // Takes a step into the sums; writes its line where one is due, else shows it.
  void add(const StepDone& step);
  void flush();                      // a line about the steps since the last one, if any
  void forget() { sums_ = Sums{}; }  // the run goes back: those steps are not told
  // A line of log.jsonl about anything else; numbers that are not finite become null. A log that
  // cannot be written ends no training: it warns once, until a line can be written again.
  void write(Json line);
  // The last line. `flops`: of products, counted from shapes.
  void end(int64_t steps, int64_t tokens, int64_t skipped, double flops) const;

 private:
  struct Sums {  // since the last line
    double loss = 0, nll = 0, seconds = 0;
    int64_t labels = 0, tokens = 0, steps = 0;
  };
  void show() const;
  double tokens_per_second() const { return double(sums_.tokens) / sums_.seconds; }

  ProgressSettings settings_;
  std::string file_;
  Append append_;
  const Log& log_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_before_ = 0;
  bool failed_ = false;
  Sums sums_;
  StepDone last_;  // the last one of the sums
};

}  // namespace tx
