// What a run says: log.jsonl, the live line, the end.
#include <cmath>
#include <cstdio>
#include <sstream>

#include "lib/train/session.h"

namespace tx {

namespace {

std::string duration(double seconds) {
  const long long s = llround(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  return text;
}

}  // namespace

// A line of log.jsonl; numbers that are not finite become null. A log that cannot be written ends
// no training: the disk may have room again when the next checkpoint is due.
void Session::log(Json line) {
  for (Json& x : line)
    if (x.is_number_float() && !std::isfinite(x.get<double>())) x = nullptr;
  const bool written = run_.append_log(line);
  if (!written && !log_failed_)
    log_.warn("cannot write " + run_.file("log.jsonl") + "; training goes on without its lines");
  log_failed_ = !written;
}

void Session::log_line() {
  const double labels = double(window_.labels), rate = double(window_.tokens) / window_.seconds;
  log(Json{{"step", step_},
           {"epoch", window_.epoch},
           {"loss", window_.loss / labels},
           {"perplexity", std::exp(window_.nll / labels)},
           {"learning_rate", record_.rate},
           {"gradient_norm", record_.gradient_norm},
           {"tokens_per_second", rate},
           {"tokens", tokens_},
           {"skipped", skipped_},
           {"seconds", seconds()}});
  if (!log_.terminal()) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "step %lld, epoch %lld: loss %.4f, perplexity %.2f, rate %.3g, norm %.3g, "
                  "%.0f tokens/s",
                  static_cast<long long>(step_), static_cast<long long>(window_.epoch + 1),
                  window_.loss / labels, std::exp(window_.nll / labels), record_.rate,
                  record_.gradient_norm, rate);
    log_.info(text);
  }
  window_ = LogWindow{};
}

void Session::show_live() const {
  if (!log_.terminal() || window_.steps == 0) return;
  const double pace = window_.seconds / double(window_.steps);
  std::string left;
  if (options_.steps > 0) left = ", " + duration(double(options_.steps - step_) * pace) + " left";
  char text[200];
  std::snprintf(text, sizeof text, "step %lld  loss %.4f  %.0f tokens/s  rate %.3g%s",
                static_cast<long long>(step_), record_.loss / double(record_.labels),
                double(window_.tokens) / window_.seconds, record_.rate, left.c_str());
  log_.live(text);
}

// By groups of kernels where the backend times them, else by the parts of a step.
void Session::report_profile() {
  const std::string groups = on(backend_, [](auto& k) { return k.profile_report(); });
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) log_.info(line);
  if (!groups.empty()) return;
  const StepTimes& t = stepper_->times();
  char text[240];
  std::snprintf(text, sizeof text, "forward %.1f s, backward %.1f s, update %.1f s of %.1f s",
                t.forward, t.backward, t.update, seconds() - seconds_before_);
  log_.info(text);
}

void Session::report_end() {
  const ModelConfig& c = parameters_->config();
  const double share =
      double(corpora_.train->tokens(0) + corpora_.train->pairs()) /
      double(corpora_.train->tokens(0) + corpora_.train->tokens(1) + 2 * corpora_.train->pairs());
  const double flops = step_flops(c, double(tokens_) * share, double(tokens_) * (1 - share));
  char text[240];
  std::snprintf(text, sizeof text,
                "%lld steps, %.4g source + target tokens, %.4g product FLOPs counted from shapes, "
                "%s; %lld updates skipped",
                static_cast<long long>(step_), double(tokens_), flops, duration(seconds()).c_str(),
                static_cast<long long>(skipped_));
  log_.info(text);
  if (options_.profile) report_profile();
}

}  // namespace tx
