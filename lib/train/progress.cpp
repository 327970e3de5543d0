#include "lib/train/progress.h"

#include <cmath>
#include <cstdio>

#include "lib/base/figure.h"

namespace tx {

namespace {

std::string duration(double seconds) {
  const long long s = llround(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  return text;
}

}  // namespace

ProgressLog::ProgressLog(const ProgressSettings& settings, std::string file, Append append,
                         const Log& log)
    : settings_(settings), file_(std::move(file)), append_(std::move(append)), log_(log) {}

double ProgressLog::here_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double ProgressLog::seconds() const { return seconds_before_ + here_seconds(); }

void ProgressLog::write(Json line) {
  for (Json& x : line)
    if (x.is_number_float()) x = finite_or_null(x.get<double>());
  const bool written = append_(line);
  if (!written && !failed_)
    log_.warn("cannot write " + file_ + "; training goes on without its lines");
  failed_ = !written;
}

void ProgressLog::add(const StepDone& step) {
  last_ = step;
  sums_.steps += 1;
  sums_.tokens += step.tokens;
  sums_.seconds += step.seconds;
  if (std::isfinite(step.record.loss)) {
    sums_.loss += step.record.loss;
    sums_.nll += step.record.nll;
    sums_.labels += step.record.labels;
  }
  if (settings_.log_every > 0 && step.record.step % settings_.log_every == 0) flush();
  show();
}

void ProgressLog::flush() {
  if (sums_.steps == 0) return;
  const StepRecord& record = last_.record;
  const double labels = double(sums_.labels), rate = tokens_per_second();
  write(Json{{"step", record.step},
             {"epoch", last_.epoch},
             {"loss", sums_.loss / labels},
             {"perplexity", std::exp(sums_.nll / labels)},
             {"learning_rate", record.rate},
             {"gradient_norm", record.gradient_norm},
             {"tokens_per_second", rate},
             {"tokens", last_.total_tokens},
             {"skipped", last_.skipped},
             {"seconds", seconds()}});
  if (!log_.terminal()) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "step %lld, epoch %lld: loss %s, perplexity %s, rate %.3g, norm %.3g, "
                  "%.0f tokens/s",
                  static_cast<long long>(record.step), static_cast<long long>(last_.epoch + 1),
                  figure(sums_.loss / labels, 4).c_str(),
                  figure(std::exp(sums_.nll / labels), 2).c_str(), record.rate,
                  std::abs(record.gradient_norm), rate);  // a NaN may have a sign
    log_.info(text);
  }
  forget();
}

void ProgressLog::show() const {
  if (!log_.terminal() || sums_.steps == 0) return;
  const StepRecord& record = last_.record;
  const double pace = sums_.seconds / double(sums_.steps);
  std::string left;
  if (settings_.steps > 0)
    left = ", " + duration(double(settings_.steps - record.step) * pace) + " left";
  char text[200];
  std::snprintf(text, sizeof text, "step %lld  loss %s  %.0f tokens/s  rate %.3g%s",
                static_cast<long long>(record.step),
                figure(record.loss / double(record.labels), 4).c_str(), tokens_per_second(),
                record.rate, left.c_str());
  log_.live(text);
}

void ProgressLog::end(int64_t steps, int64_t tokens, int64_t skipped, double flops) const {
  char text[240];
  std::snprintf(text, sizeof text,
                "%lld steps, %.4g source + target tokens, %.4g product FLOPs counted from shapes, "
                "%s; %lld update%s skipped",
                static_cast<long long>(steps), double(tokens), flops, duration(seconds()).c_str(),
                static_cast<long long>(skipped), skipped == 1 ? "" : "s");
  log_.info(text);
}

}  // namespace tx
