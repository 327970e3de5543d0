// What a training says about itself: a line of log.jsonl, tx-run(5), every few steps; a line on
// standard error at the same steps and besides by the clock, or a live line where that is a
// terminal; once, how long the run will take; the sums at the end. It decides nothing. The lines of
// log.jsonl come at the same steps whatever the clock says, and differ between two equal runs in
// `seconds` and `tokens_per_second` alone.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// "--minutes 1.5", for messages.
std::string minutes_limit(const TrainOptions& options);

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
  using Clock = std::function<double()>;  // seconds since any moment

  // `file`: the name of log.jsonl in messages. `options` and `log` must outlive this. The first
  // line on standard error is that of the first step.
  ProgressLog(const TrainOptions& options, std::string file, Append append, const Log& log,
              Clock clock = steady_seconds);

  // A run that is resumed has taken so long already.
  void resume(double seconds) { seconds_before_ = seconds; }
  double seconds() const { return seconds_before_ + here_seconds(); }  // that the run has taken
  double here_seconds() const { return clock_() - start_; }            // those of this process
  void expect_tokens(int64_t tokens) { tokens_ = tokens; }             // of --epochs

  // Takes a step into the sums; writes the lines that are due, or shows it.
  void add(const StepDone& step);
  void flush();   // a line about the steps since the last one, if any
  void forget();  // the run goes back: those steps are not told
  // A line of log.jsonl about anything else; numbers that are not finite become null. A log that
  // cannot be written ends no training: it warns once, until a line can be written again.
  void write(Json line);
  // The last line. `flops`: of products, counted from shapes.
  void end(int64_t steps, int64_t tokens, int64_t skipped, double flops) const;

 private:
  struct Sums {
    double loss = 0, nll = 0, guided = 0, seconds = 0;
    int64_t labels = 0, guided_rows = 0, tokens = 0, steps = 0;
    void add(const StepDone& step);
    double guided_loss() const { return guided / double(guided_rows); }  // NaN without links
    double tokens_per_second() const { return double(tokens) / seconds; }
  };
  struct Outlook {  // by the limit that ends the run first
    double share = 0;
    std::string limit;           // "--minutes 15"; "": --steps
    std::optional<double> left;  // seconds; unknown at the first step
  };
  static double steady_seconds();
  std::optional<Outlook> outlook() const;
  std::string outlook_text() const;
  std::string step_text() const;
  void print(const Sums& sums);
  void show() const;
  std::string advice() const;
  void estimate();
  void warn_of_course() const;

  const TrainOptions& options_;
  int64_t tokens_ = 0;  // that end the run; 0: none do
  std::string file_;
  Append append_;
  const Log& log_;
  Clock clock_;
  double start_, seconds_before_ = 0;
  bool failed_ = false;
  Sums sums_, printed_;  // since the last line of log.jsonl; since the last on standard error
  StepDone last_;        // the last one of the sums
  // The first step of this process says little about the others: the pace is theirs.
  StepDone first_;
  double first_end_ = 0, printed_at_ = 0;
  bool begun_ = false, estimated_ = false;
};

}  // namespace tx
