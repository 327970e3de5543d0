#include "lib/train/run/progress.h"

#include <algorithm>
#include <cmath>

#include "lib/base/figure.h"

namespace tx {

constexpr double day = 24 * 3600;

std::string minutes_limit(const TrainOptions& options) {
  return formatted("--minutes %.4g", options.minutes);
}

ProgressLog::ProgressLog(const TrainOptions& options, std::string file, Append append,
                         const Log& log, Clock clock)
    : options_(options),
      file_(std::move(file)),
      append_(std::move(append)),
      log_(log),
      clock_(std::move(clock)),
      start_(clock_()) {}

void ProgressLog::write(Json line) {
  for (Json& x : line)
    if (x.is_number_float()) x = finite_or_null(x.get<double>());
  const bool written = append_(line);
  if (!written && !failed_) log_.warn("cannot write " + file_ + "; training continues without it");
  failed_ = !written;
}

void ProgressLog::Sums::add(const StepDone& step) {
  steps += 1;
  tokens += step.tokens;
  seconds += step.seconds;
  if (!std::isfinite(step.record.loss)) return;
  loss += step.record.loss;
  nll += step.record.nll;
  labels += step.record.labels;
  guided += step.record.guided;
  guided_rows += step.record.guided_rows;
  consistency += step.record.consistency;
}

void ProgressLog::add(const StepDone& step) {
  last_ = step;
  sums_.add(step);
  printed_.add(step);
  const bool first = !begun_;
  if (first) {
    begun_ = true;
    first_ = step;
    first_end_ = printed_at_ = clock_();
  }
  estimate();
  if (options_.log_every > 0 && step.record.step % options_.log_every == 0)
    flush();
  else if (options_.log_seconds > 0 && (first || clock_() - printed_at_ >= options_.log_seconds))
    print(printed_);
  show();
}

void ProgressLog::flush() {
  if (sums_.steps == 0) return;
  const double labels = double(sums_.labels);
  Json line{{"step", last_.record.step},
            {"epoch", last_.epoch + 1},
            {"loss", sums_.loss / labels},
            {"perplexity", std::exp(sums_.nll / labels)},
            {"learning_rate", last_.record.rate},
            {"gradient_norm", last_.record.gradient_norm},
            {"tokens_per_second", sums_.tokens_per_second()},
            {"tokens", last_.total_tokens},
            {"skipped", last_.skipped},
            {"seconds", seconds()}};
  if (!options_.guided_alignment.empty()) line["guided_loss"] = sums_.guided_loss();
  if (options_.passes() > 1) line["consistency_loss"] = sums_.consistency / labels;
  if (!last_.gradient_norms.is_null()) line["gradient_norms"] = last_.gradient_norms;
  write(line);
  if (printed_.steps > 0) print(sums_);  // else --log-seconds has printed this step already
  sums_ = Sums{};
}

std::optional<ProgressLog::Outlook> ProgressLog::outlook() const {
  const int64_t steps = last_.record.step - first_.record.step;
  const double spent = clock_() - first_end_;
  std::optional<Outlook> nearest;
  const auto consider = [&](double done, double limit, double since_first, std::string name) {
    if (limit <= 0) return;
    Outlook o{std::min(1.0, done / limit), std::move(name), {}};
    if (steps > 0 && since_first > 0) o.left = std::max(0.0, limit - done) * spent / since_first;
    if (!nearest || (o.left && nearest->left ? *o.left < *nearest->left : o.share > nearest->share))
      nearest = o;
  };
  consider(double(last_.record.step), double(options_.steps), double(steps), "");
  consider(double(last_.total_tokens), double(tokens_),
           double(last_.total_tokens - first_.total_tokens),
           "--epochs " + std::to_string(options_.epochs));
  consider(seconds(), 60 * options_.minutes, spent, minutes_limit(options_));
  return nearest;
}

// "; 12.5 % done, 1:05:10 left" or "; 71.0 % of --minutes 1, ..."; "" without a limit.
std::string ProgressLog::outlook_text() const {
  const std::optional<Outlook> o = outlook();
  if (!o) return "";
  return formatted("; %.1f %% ", 100 * o->share) + (o->limit.empty() ? "done" : "of " + o->limit) +
         (o->left ? ", " + duration(*o->left) + " left" : std::string());
}

std::string ProgressLog::step_text() const {
  const std::string step = "step " + std::to_string(last_.record.step);
  const std::optional<Outlook> o = outlook();
  return o && o->limit.empty() ? step + " of " + std::to_string(options_.steps) : step;
}

// On a terminal the live line replaces this one.
void ProgressLog::print(const Sums& sums) {
  if (!log_.terminal()) {
    const double labels = double(sums.labels);
    const std::string text =
        formatted(", epoch %lld: loss %s, perplexity %s, rate %.3g, norm %.3g, %.0f tokens/s",
                  static_cast<long long>(last_.epoch + 1), figure(sums.loss / labels, 4).c_str(),
                  figure(std::exp(sums.nll / labels), 2).c_str(), last_.record.rate,
                  std::abs(last_.record.gradient_norm),  // else "-nan"
                  sums.tokens_per_second());
    std::string terms;
    if (!options_.guided_alignment.empty())
      terms += ", guided loss " + figure(sums.guided_loss(), 4);
    if (options_.passes() > 1)
      terms += ", consistency loss " + figure(sums.consistency / labels, 4);
    log_.info(step_text() + text + terms + outlook_text());
  }
  printed_ = Sums{};
  printed_at_ = clock_();
}

void ProgressLog::show() const {
  if (!log_.terminal()) return;
  const StepRecord& record = last_.record;
  const std::string text = formatted(
      "  loss %s  %.0f tokens/s  rate %.3g", figure(record.loss / double(record.labels), 4).c_str(),
      (sums_.steps > 0 ? sums_.tokens_per_second() : double(last_.tokens) / last_.seconds),
      record.rate);
  log_.live(step_text() + outlook_text() + text);  // a narrow terminal cuts the end
}

// For a run of more than a day.
std::string ProgressLog::advice() const {
  const bool large = options_.preset == Preset::base || options_.preset == Preset::big;
  return std::string(large ? "; train a smaller model with --preset tiny, or" : ";") +
         " end it earlier with --steps or --minutes, also with --resume";
}

// Logs once, after a few seconds of steps, when the run will end.
void ProgressLog::estimate() {
  constexpr double min_seconds = 5, min_reported = 60;
  if (estimated_ || clock_() - first_end_ < min_seconds) return;
  const std::optional<Outlook> o = outlook();
  if (!o || !o->left) return;
  estimated_ = true;
  const double pace = (clock_() - first_end_) / double(last_.record.step - first_.record.step);
  const double more = (60 * options_.minutes - seconds()) / pace;
  warn_of_course(last_.record.step + std::max<int64_t>(0, int64_t(more)), false);
  const std::string text = "at this speed the run will end in about " + about(*o->left);
  if (*o->left >= day)
    log_.warn(text + advice());
  else if (*o->left >= min_reported)
    log_.info(text);
}

// Warns, once, if --minutes ends or ended (`over`) the run at step `last`, inside its schedule.
void ProgressLog::warn_of_course(int64_t last, bool over) {
  if (warned_ || options_.minutes <= 0 || (options_.steps > 0 && last >= options_.steps)) return;
  const std::string end =
      minutes_limit(options_) +
      (over ? " ended this run at step " : " will end this run at about step ") +
      std::to_string(last);
  if (last <= options_.warmup)
    log_.warn(end + ", before the end of its warm-up of " + counted(options_.warmup, "step") +
              ": the learning rate only rises; give a smaller --warmup");
  else if (options_.rate_falls() && double(last) < 0.9 * double(options_.steps))
    log_.warn(end + ", but the learning rate reaches 0 only at step " +
              std::to_string(options_.steps) +
              (over ? ": resume it with more --minutes" : ": give fewer --steps"));
  else
    return;
  warned_ = true;
}

void ProgressLog::end(int64_t steps, int64_t tokens, int64_t skipped, double flops) {
  if (seconds() >= 60 * options_.minutes) warn_of_course(steps, true);
  log_.info(counted(steps, "step") + ", " + counted(tokens, "token") +
            formatted(", %.4g product FLOPs counted from shapes, ", flops) + duration(seconds()) +
            "; " + counted(skipped, "update") + " skipped");
}

}  // namespace tx
