// The logs of a run: log.jsonl, tx-run(5), at multiples of --log-every; standard error at the same
// steps and every --log-seconds, or a live line on a terminal; once, an estimate of when the run
// will end; totals at the end. Equal runs differ only in `seconds` and `tokens_per_second`.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kernels/view.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// "--minutes 1.5", for messages.
std::string minutes_limit(const TrainOptions& options);

struct StepDone {
  StepRecord record;
  int64_t epoch = 0;         // from 0
  int64_t tokens = 0;        // source and target tokens of the step
  double seconds = 0;        // duration of the step
  int64_t total_tokens = 0;  // of the run, including this step
  int64_t skipped = 0;       // updates that the run skipped
  Json gradient_norms;       // of --log-gradients, by layer; null in steps without it
};

class ProgressLog {
 public:
  // Writes a line of log.jsonl; false if that failed.
  using Append = std::function<bool(const Json& line)>;
  using Clock = std::function<double()>;  // seconds, from any origin

  // `file`: the name of log.jsonl in messages. `options` and `log` must outlive this.
  ProgressLog(const TrainOptions& options, std::string file, Append append, const Log& log,
              Clock clock = steady_seconds);

  // Counts time from `start` of the clock, instead of from the construction.
  void begin(double start) { start_ = start; }
  // Adds the time that a resumed run took before it was stopped.
  void resume(double seconds) { seconds_before_ = seconds; }
  double seconds() const { return seconds_before_ + here_seconds(); }  // of the whole run
  double here_seconds() const { return clock_() - start_; }            // of this process
  void expect_tokens(int64_t tokens) { tokens_ = tokens; }             // that --epochs reads

  // Adds a step to the averages and prints the lines that are due.
  void add(const StepDone& step);
  void flush();  // a line about the steps since the last one, if any
  // Discards the steps since the last line: the run returns to a checkpoint.
  void forget() { sums_ = printed_ = Sums{}; }
  // Writes any other line of log.jsonl; non-finite numbers become null. If that fails, the run
  // continues; only the first of several consecutive failures is reported.
  void write(Json line);
  // The totals. `flops`: of matrix products, counted from shapes.
  void end(int64_t steps, int64_t tokens, int64_t skipped, double flops);

 private:
  struct Sums {
    double loss = 0, nll = 0, guided = 0, consistency = 0, seconds = 0;
    int64_t labels = 0, guided_rows = 0, tokens = 0, steps = 0;
    void add(const StepDone& step);
    double guided_loss() const { return guided / double(guided_rows); }  // NaN without links
    double tokens_per_second() const { return double(tokens) / seconds; }
  };
  struct Outlook {  // for the limit that ends the run first
    double share = 0;
    std::string limit;           // "--minutes 15"; "": --steps
    std::optional<double> left;  // seconds; unknown at the first step
  };
  std::optional<Outlook> outlook() const;
  std::string outlook_text() const;
  std::string step_text() const;
  void print(const Sums& sums);
  void show() const;
  std::string advice() const;
  void estimate();
  void warn_of_course(int64_t last, bool over);

  const TrainOptions& options_;
  int64_t tokens_ = 0;  // after which --epochs ends the run; 0: no limit
  std::string file_;
  Append append_;
  const Log& log_;
  Clock clock_;
  double start_, seconds_before_ = 0;
  bool failed_ = false;
  Sums sums_, printed_;  // since the last line of log.jsonl; since the last on standard error
  StepDone last_;        // the last one of the sums
  // Not counted in the pace: the first step includes setup.
  StepDone first_;
  double first_end_ = 0, printed_at_ = 0;
  bool begun_ = false, estimated_ = false, warned_ = false;
};

}  // namespace tx
