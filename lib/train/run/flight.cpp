#include "lib/train/run/flight.h"

#include <cmath>

namespace tx {
namespace {

// Euclidean norm of a tensor of T in device memory; adds its non-finite elements to `not_finite`.
template <class T>
double norm_of(Backend& backend, Matrix m, int64_t& not_finite) {
  std::vector<T> values(size_t(m.rows * m.cols));
  backend->download(values.data(), m.data, values.size() * sizeof(T));
  double sum = 0;
  for (const T x : values) {
    sum += double(x) * double(x);
    not_finite += !std::isfinite(x);
  }
  return std::sqrt(sum);
}

double norm_of(const Parameters& p, Matrix block, const ParameterEntry& e, int64_t& not_finite) {
  const Matrix m = p.entry_of(block, e);
  return m.dtype == DType::f64 ? norm_of<double>(p.backend(), m, not_finite)
                               : norm_of<float>(p.backend(), m, not_finite);
}

Json tensor_norms(const Parameters& p) {
  Json tensors = Json::array();
  for (const ParameterEntry& e : p.table()) {
    int64_t bad_weights = 0, bad_gradients = 0;
    const double weight = norm_of(p, p.fp32_weights(), e, bad_weights);
    const double gradient = norm_of(p, p.gradients(), e, bad_gradients);
    tensors.push_back({{"name", e.name},
                       {"weight_norm", finite_or_text(weight)},
                       {"gradient_norm", finite_or_text(gradient)},
                       {"weights_not_finite", bad_weights},
                       {"gradients_not_finite", bad_gradients}});
  }
  return tensors;
}

Json batch_facts(const Batch& batch) {
  Json sides = Json::array();
  for (const BatchSide& s : batch.sides)
    sides.push_back(
        {{"ids", s.ids}, {"offsets", s.offsets}, {"pair", s.pair}, {"position", s.position}});
  Json facts{{"epoch", batch.epoch},   {"lines", batch.lines}, {"sentences", batch.sentences},
             {"tokens", batch.tokens}, {"sides", sides},       {"labels", batch.labels}};
  const BatchLinks& links = batch.links;
  if (!links.starts.empty())
    facts["links"] = {{"starts", links.starts}, {"columns", links.columns}};
  return facts;
}

}  // namespace

Json finite_or_text(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json flight_facts(const StepRecord& r, const std::vector<Batch>& batches,
                  const Parameters& parameters) {
  Json facts{{"event", r.spike ? "spike" : "not finite"},
             {"step", r.step},
             {"rate", r.rate},
             {"loss_scale", r.loss_scale},
             {"clip_norm", r.clip_norm},
             {"loss_limit", r.loss_limit},
             {"result",
              {{"loss", finite_or_text(r.loss)},
               {"nll", finite_or_text(r.nll)},
               {"correct", r.correct},
               {"labels", r.labels},
               {"gradient_norm", finite_or_text(r.gradient_norm)},
               {"clip_factor", finite_or_text(r.clip_factor)},
               {"spike", r.spike}}},
             {"tensors", tensor_norms(parameters)},
             {"batches", Json::array()}};
  for (const Batch& batch : batches) facts["batches"].push_back(batch_facts(batch));
  return facts;
}

}  // namespace tx
