#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/state_file.h"
#include "lib/diagnose/training.h"
#include "lib/model/config.h"
#include "lib/train/run/flight.h"
#include "lib/train/step/step.h"

namespace tx {

namespace {

// DataError unless offsets ascend from 0 to the number of rows and ids are in the vocabulary.
void check_side(const BatchSide& s, int64_t vocabulary) {
  const size_t rows = s.ids.size();
  bool good = rows > 0 && s.pair.size() == rows && s.position.size() == rows &&
              !s.offsets.empty() && s.offsets.front() == 0 && s.offsets.back() == int32_t(rows) &&
              std::is_sorted(s.offsets.begin(), s.offsets.end());
  for (const int32_t id : s.ids) good = good && id >= 0 && id < vocabulary;
  for (const uint32_t x : s.position) good = good && x < rows;
  if (!good) throw DataError("the batch in the flight record is damaged");
}

// DataError unless offsets ascend and each link points to a source row of the same sentence.
void check_links(const Batch& b) {
  const std::vector<int32_t>&starts = b.links.starts, &columns = b.links.columns;
  bool good = starts.size() == b.labels.size() + 1 && starts.front() == 0 &&
              starts.back() == int32_t(columns.size()) &&
              std::is_sorted(starts.begin(), starts.end());
  const std::vector<int32_t>&from = b.sides.front().offsets, &to = b.sides.back().offsets;
  for (size_t s = 0; good && s + 1 < to.size(); ++s)
    for (int32_t i = starts[size_t(to[s])]; i < starts[size_t(to[s + 1])]; ++i)
      good = good && columns[size_t(i)] >= 0 && columns[size_t(i)] < from[s + 1] - from[s];
  if (!good) throw DataError("the batch in the flight record is damaged");
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
              batch.labels.size() == batch.sides.back().ids.size();
  for (const BatchSide& side : batch.sides)
    good = good && side.offsets.size() == batch.sides.back().offsets.size();
  for (const int32_t x : batch.labels)
    good = good && x >= no_label && x < config.target().vocabulary;
  if (!good) throw DataError("the batch in the flight record is damaged");
  for (size_t i = 0; i < batch.sides.size(); ++i)
    check_side(batch.sides[i], config.sides.at(i).vocabulary);
  if (facts.contains("links")) {
    const Json& links = facts["links"];
    batch.links = {links.at("starts").get<std::vector<int32_t>>(),
                   links.at("columns").get<std::vector<int32_t>>()};
    check_links(batch);
  }
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

// A description of the first value that differs; "" if none does.
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

Json run_again(const TrainOptions& options, const FlightReader& file) {
  const Json& facts = file.facts();
  std::vector<Batch> batches;
  std::vector<int> capacities(file.config().sides.size(), 0);
  for (const Json& batch : facts.at("batches")) {
    batches.push_back(read_batch(batch, file.config()));
    for (size_t i = 0; i < capacities.size(); ++i)
      capacities[i] = std::max(capacities[i], int(batches.back().sides[i].ids.size()));
  }
  if (batches.empty()) throw DataError(options.replay + ": the flight record has no batch");
  Backend backend = make_backend(options.device, options.threads);
  if (facts.contains("products")) backend->set_tuning(facts["products"].get<std::string>());
  if (options.precision == Precision::automatic)
    throw DataError(options.replay + " does not name its precision");
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters = Parameters::for_training(backend, file.config(), dtype);
  file.load(parameters);
  const auto frozen = facts.value("frozen_tokens", std::vector<int64_t>());
  if (frozen.size() == file.config().sides.size()) parameters.freeze(frozen);
  const Transformer transformer(backend, parameters, longest_position(batches));
  Stepper stepper(backend, parameters, transformer, options);
  stepper.reserve(Stepper::plan(backend, parameters, transformer, options, capacities));
  const StepRecord record =
      stepper.step(batches, facts.at("step").get<int64_t>(), facts.at("rate").get<double>(),
                   facts.at("loss_limit").get<double>());
  if (!record.skip) throw DataError("the failure did not reproduce: the step is not skipped");
  return flight_facts(record, batches, parameters);
}

}  // namespace

int replay(const TrainOptions& options, const Log& log) try {
  const FlightReader file(options.replay);
  const Json again = run_again(options, file);
  const std::string difference = first_difference(file.facts(), again);
  print(report(again));
  if (difference.empty()) {
    log.info("bit-identical to the record");
    return 0;
  }
  log.warn("differs from the record: " + difference +
           "; exact results need the same build of tx, processor or GPU, and --threads");
  return 1;
} catch (const Json::exception&) {
  throw DataError(options.replay + ": the flight record is damaged");
}

}  // namespace tx
