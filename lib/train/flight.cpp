#include "lib/train/flight.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/flight_file.h"
#include "lib/tensor/precision.h"
#include "lib/train/step.h"

namespace tx {

namespace {

// Norms of a tensor whose elements are float or double in the backend's memory.
template <class T>
double norm_of(Backend& backend, Matrix m, int64_t& not_finite) {
  std::vector<T> values(size_t(m.rows * m.cols));
  on(backend, [&](auto& k) { k.download(values.data(), m.data, values.size() * sizeof(T)); });
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
    const double weight = norm_of(p, p.master(), e, bad_weights);
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
  return {{"epoch", batch.epoch},   {"lines", batch.lines}, {"sentences", batch.sentences},
          {"tokens", batch.tokens}, {"sides", sides},       {"labels", batch.labels}};
}

// Offsets rise from 0 to the number of rows; ids and labels stay inside the vocabulary.
void check_side(const BatchSide& s, int64_t vocabulary) {
  const size_t rows = s.ids.size();
  bool good = rows > 0 && s.pair.size() == rows && s.position.size() == rows &&
              !s.offsets.empty() && s.offsets.front() == 0 && s.offsets.back() == int32_t(rows) &&
              std::is_sorted(s.offsets.begin(), s.offsets.end());
  for (const int32_t id : s.ids) good = good && id >= 0 && id < vocabulary;
  for (const uint32_t x : s.position) good = good && x < rows;
  if (!good) throw DataError("the batch of the flight record is damaged");
}

Batch read_batch(const Json& facts, const ModelConfig& config) {
  Batch batch;
  batch.epoch = facts.at("epoch").get<int64_t>();
  batch.lines = facts.at("lines").get<std::vector<int64_t>>();
  batch.sentences = facts.at("sentences").get<int>();
  batch.tokens = facts.at("tokens").get<std::vector<int64_t>>();
  batch.labels = facts.at("labels").get<std::vector<int32_t>>();
  for (const Json& s : facts.at("sides"))
    batch.sides.push_back(
        {s.at("ids").get<std::vector<int32_t>>(), s.at("offsets").get<std::vector<int32_t>>(),
         s.at("pair").get<std::vector<uint32_t>>(), s.at("position").get<std::vector<uint32_t>>()});
  bool good = batch.sides.size() == config.sides.size() &&
              batch.tokens.size() == batch.sides.size() &&
              batch.labels.size() == batch.sides.back().ids.size() &&
              batch.sides.front().offsets.size() == batch.sides.back().offsets.size();
  for (const int32_t x : batch.labels)
    good = good && x >= no_label && x < config.target().vocabulary;
  if (!good) throw DataError("the batch of the flight record is damaged");
  for (size_t i = 0; i < batch.sides.size(); ++i)
    check_side(batch.sides[i], config.sides.at(i).vocabulary);
  return batch;
}

uint32_t longest_position(const std::vector<Batch>& batches) {
  uint32_t longest = longest_dummy;
  for (const Batch& batch : batches)
    for (const BatchSide& side : batch.sides)
      for (const uint32_t x : side.position) longest = std::max(longest, x + 1);
  return longest;
}

std::string text_of(const Json& x) { return x.is_string() ? x.get<std::string>() : to_text(x); }

std::string report(const Json& facts) {
  const Json& result = facts.at("result");
  std::string text = "step " + to_text(facts.at("step")) + ", " +
                     facts.at("event").get<std::string>() + ": loss " + text_of(result.at("loss")) +
                     " over " + to_text(result.at("labels")) + " labels, gradient norm " +
                     text_of(result.at("gradient_norm")) + "\nlines";
  for (const Json& batch : facts.at("batches"))
    for (const Json& line : batch.at("lines")) text += " " + to_text(line);
  text += "\ntensor\tweight norm\tgradient norm\tnot finite\n";
  for (const Json& t : facts.at("tensors"))
    text += t.at("name").get<std::string>() + "\t" + text_of(t.at("weight_norm")) + "\t" +
            text_of(t.at("gradient_norm")) + "\t" + to_text(t.at("gradients_not_finite")) + "\n";
  return text;
}

// The first figure of the two that differs, as text; "" where none does.
std::string first_difference(const Json& was, const Json& is) {
  for (const auto& [key, value] : was.at("result").items())
    if (is.at("result").at(key) != value)
      return key + " is " + text_of(is.at("result").at(key)) + " instead of " + text_of(value);
  for (size_t i = 0; i < was.at("tensors").size(); ++i)
    for (const auto& [key, value] : was.at("tensors")[i].items())
      if (is.at("tensors").at(i).at(key) != value)
        return was.at("tensors")[i].at("name").get<std::string>() + ": " + key + " is " +
               text_of(is.at("tensors").at(i).at(key)) + " instead of " + text_of(value);
  return "";
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

namespace {

Json run_again(const TrainOptions& options, const FlightReader& file) {
  const Json& facts = file.facts();
  std::vector<Batch> batches;
  size_t source = 0, target = 0;
  for (const Json& batch : facts.at("batches")) {
    batches.push_back(read_batch(batch, file.config()));
    source = std::max(source, batches.back().sides.front().ids.size());
    target = std::max(target, batches.back().sides.back().ids.size());
  }
  if (batches.empty()) throw DataError(options.replay + ": the flight record holds no batch");
  Backend backend = make_backend(options.device, options.threads);
  if (facts.contains("products"))
    on(backend, [&](auto& k) { k.set_tuning(facts["products"].template get<std::string>()); });
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters(backend, file.config(), dtype, true);
  file.load(parameters);
  const Transformer transformer(backend, parameters, longest_position(batches));
  Stepper stepper(backend, parameters, transformer, options);
  stepper.reserve(
      Stepper::plan(backend, parameters, transformer, options, {int(source), int(target)}));
  const StepRecord record =
      stepper.step(batches, facts.at("step").get<int64_t>(), facts.at("rate").get<double>(),
                   facts.at("loss_limit").get<double>());
  if (!record.skip) throw DataError("the step went well this time: its update is no longer held");
  return flight_facts(record, batches, parameters);
}

}  // namespace

int replay(const TrainOptions& options, const Log& log) try {
  const FlightReader file(options.replay);
  const Json again = run_again(options, file);
  const std::string difference = first_difference(file.facts(), again);
  Writer out("-");
  out.write(report(again));
  out.close();
  if (difference.empty()) {
    log.info("the same bits as recorded");
    return 0;
  }
  log.warn("not the bits recorded: " + difference +
           "; the same program, kind of processor and --threads give them");
  return 1;
} catch (const Json::exception&) {
  throw DataError(options.replay + ": the flight record is damaged");
}

}  // namespace tx
