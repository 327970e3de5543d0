#include "lib/train/validator.h"

#include <cmath>

namespace tx {

std::unique_ptr<Packer> Validator::packer(const IdCache& text, const std::vector<int>& capacities) {
  PackerOptions packing;
  packing.capacities = capacities;
  packing.batch_tokens = capacities.back();
  packing.shuffle = false;
  packing.epochs = 1;
  return std::make_unique<Packer>(text, packing);
}

const Validation& Validator::measure(int64_t step, Packer& text, const Evaluate& evaluate) {
  StepRecord sums;
  for (Batch batch; text.next(batch);) evaluate(batch, sums);
  const double labels = double(sums.labels);
  found_ = {sums.loss / labels, sums.nll / labels, double(sums.correct) / labels};
  step_ = step;
  return found_;
}

void Validator::consider(int64_t step, double score) {
  if (std::isfinite(score) && (!has_best_ || score < best_score_)) {
    has_best_ = true;
    best_score_ = score;
    best_step_ = step;
    bad_ = 0;
  } else {
    ++bad_;
  }
}

void Validator::forget_best() {
  has_best_ = false;
  bad_ = 0;
}

Json Validator::state() const {
  return Json{{"best_step", best_step_},
              {"best_score", has_best_ ? Json(best_score_) : Json(nullptr)},
              {"bad_validations", bad_}};
}

void Validator::restore(const Json& state) {
  best_step_ = state.at("best_step").get<int64_t>();
  has_best_ = !state.at("best_score").is_null();
  if (has_best_) best_score_ = state.at("best_score").get<double>();
  bad_ = state.at("bad_validations").get<int64_t>();
}

}  // namespace tx
