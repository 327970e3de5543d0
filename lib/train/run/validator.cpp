#include "lib/train/run/validator.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lib/base/figure.h"
#include "lib/checkpoint/run_checkpoints.h"

namespace tx {

std::string Validator::criterion(const std::string& metric, const std::string& command) {
  return command.empty() ? metric : std::string(command_metric) + ": " + command;
}

std::string Validator::criterion() const {
  const std::string& metric = options_.valid_metric.front();
  if (!options_.valid_command.empty() || !is_translated(metric))
    return criterion(metric, options_.valid_command);
  const std::string lines = options_.valid_lines > 0 ? std::to_string(options_.valid_lines) : "all";
  return metric + " of " + lines + " lines";
}

const Validation* Validator::measure(int64_t step, const StepRecord& sums,
                                     const Translate& translate, bool due) {
  const double labels = double(sums.labels);
  Validation found{sums.loss / labels, sums.nll / labels, double(sums.correct) / labels, labels};
  std::vector<std::string> names;
  std::copy_if(options_.valid_metric.begin(), options_.valid_metric.end(),
               std::back_inserter(names), is_translated);
  if (!names.empty()) {
    const std::optional<std::vector<double>> scores = translate();
    if (!scores) return nullptr;
    for (size_t i = 0; i < names.size(); ++i) found.translated[names[i]] = scores->at(i);
  }
  found_ = found;
  step_ = step;
  if (options_.valid_command.empty()) update_best(step, score(found_), due);
  return &found_;
}

std::string Validator::figures(const Validation& found) const {
  std::string text = "validation loss " + figure(found.loss, 4) + ", perplexity " +
                     figure(std::exp(found.nll), 3) + ", accuracy " + figure(found.accuracy, 4);
  if (text_.words > 0)
    text += ", per word " + figure(word_perplexity(found), 3) + ", " +
            figure(bits_per_byte(found), 4) + " bits per byte";
  for (const auto& [name, score] : found.translated) text += ", " + name + " " + figure(score, 2);
  return text;
}

std::string Validator::compare_texts(const Validation& found, double train_nll) {
  constexpr double max_times = 4;
  const double times = std::exp(found.nll - train_nll);
  if (warned_ || !(times > max_times)) return "";
  warned_ = true;
  return "validation perplexity is " + figure(times, 1) +
         " times the training perplexity after so few epochs: the two texts differ. If you split "
         "a sorted text, shuffle it first (shuf)";
}

double Validator::word_perplexity(const Validation& found) const {
  return std::exp(found.nll * found.labels / double(text_.words));
}

double Validator::bits_per_byte(const Validation& found) const {
  return found.nll * found.labels / std::log(2.0) / double(text_.bytes);
}

Json Validator::report(int64_t step) const {
  Json members = Json::object();
  if (step != step_) return members;
  members["validation_loss"] = finite_or_null(found_.loss);
  members["validation_perplexity"] = finite_or_null(std::exp(found_.nll));
  members["validation_accuracy"] = found_.accuracy;
  if (text_.words > 0) {
    members["validation_word_perplexity"] = finite_or_null(word_perplexity(found_));
    members["validation_bits_per_byte"] = finite_or_null(bits_per_byte(found_));
  }
  if (!found_.translated.empty()) members["validation_lines"] = options_.valid_lines;
  for (const auto& [name, score] : found_.translated) members["validation_" + name] = score;
  return members;
}

// Lower is better. For perplexity its logarithm, which stays finite.
double Validator::score(const Validation& found) const {
  const std::string& metric = options_.valid_metric.front();
  if (metric == "loss") return found.loss;
  if (is_translated(metric)) return -found.translated.at(metric);
  return metric == "perplexity" ? found.nll : -found.accuracy;
}

void Validator::take_command_score(int64_t step, std::optional<double> score, bool due) {
  command_score_ = score;
  scored_step_ = step;
  update_best(step, score ? -*score : NAN, due);
}

// A non-finite score is never better.
void Validator::update_best(int64_t step, double score, bool due) {
  const bool better = std::isfinite(score) && (!has_best_ || score < best_score_);
  end_.reset();
  if (!due) {
    if (better) end_ = {step, score};
  } else if (better) {
    has_best_ = true;
    best_score_ = score;
    best_step_ = step;
    bad_ = 0;
  } else {
    ++bad_;
  }
}

// The reverse of score().
std::string Validator::best_text() const {
  if (best() < 0) return "";
  const double score = end_ ? end_->score : best_score_;
  const std::string& metric = options_.valid_metric.front();
  std::string text = "validation score " + figure(-score, 2);
  if (options_.valid_command.empty()) {
    if (metric == "loss") text = figure(score, 4);
    if (metric == "perplexity") text = figure(std::exp(score), 3);
    if (metric == "accuracy") text = figure(-score, 4);
    if (is_translated(metric)) text = figure(-score, 2);
    text = "validation " + metric + " " + text;
  }
  return text + " at step " + std::to_string(best());
}

Json Validator::state(int64_t step) const {
  const bool scored = step == scored_step_ && command_score_;
  Json state{{"criterion", criterion()},
             {"score", scored ? Json(*command_score_) : Json(nullptr)},
             {"best_step", best_step_},
             {"best_score", has_best_ ? Json(best_score_) : Json(nullptr)},
             {"bad_validations", bad_}};
  if (end_) state["end_score"] = end_->score;
  return state;
}

constexpr const char* in_state = "the training state";

int64_t Validator::best_of(const Json& state) {
  return state.contains("end_score") ? json_value<int64_t>(state, "step", in_state)
                                     : due_best_of(state);
}

int64_t Validator::due_best_of(const Json& state) {
  return state.at("best_score").is_null() ? -1 : json_value<int64_t>(state, "best_step", in_state);
}

void Validator::restore(const Json& state) {
  const auto before = state.at("criterion").get<std::string>();
  best_step_ = json_value<int64_t>(state, "best_step", in_state);
  has_best_ = due_best_of(state) >= 0;
  if (has_best_) best_score_ = state.at("best_score").get<double>();
  bad_ = json_value<int64_t>(state, "bad_validations", in_state);
  end_.reset();
  if (state.contains("end_score"))
    end_ = {best_of(state), json_value<double>(state, "end_score", in_state)};
  replaced_.clear();
  if (before == criterion()) return;
  if (best() >= 0 || bad_ > 0) replaced_ = before;
  best_step_ = 0;
  forget_best();
}

}  // namespace tx
