// The consistency losses against PyTorch: consistency.json is made by make_consistency.py. f64 is
// compared with every number of the file, f32 with f64.
#include <boost/test/unit_test.hpp>

#include "lib/train/step/device_batch.h"
#include "tests/golden/golden_model.h"
#include "tests/golden/summary.h"

using namespace tx_test;

namespace {

void append(tx::BatchSide& side, const std::vector<int32_t>& ids, uint32_t pair) {
  if (side.offsets.empty()) side.offsets.push_back(0);
  side.ids.insert(side.ids.end(), ids.begin(), ids.end());
  side.offsets.push_back(int32_t(side.ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    side.pair.push_back(pair);
    side.position.push_back(uint32_t(i));
  }
}

tx::Batch batch_of(const Json& sentences) {
  tx::Batch batch;
  batch.sides.resize(2);
  for (const Sentence& s : sentences_of(sentences)) {
    append(batch.sides[0], s.source, s.pair);
    append(batch.sides[1], s.target, s.pair);
    batch.labels.insert(batch.labels.end(), s.labels.begin(), s.labels.end());
  }
  return batch;
}

struct Result {
  tx::StepRecord record;
  std::map<std::string, std::vector<double>> gradients;
};

Result run(const Json& entry, DType dtype) {
  const Json& c = entry["config"];
  tx::Backend backend = backend_for(dtype, 2);
  tx::Parameters parameters = tx::Parameters::for_training(backend, config_of(c), dtype);
  const tx::Transformer model(backend, parameters, 70);
  fill_weights(backend, parameters);
  tx::DeviceBatch batch(backend, parameters, 70, false);
  batch.upload(batch_of(entry["batch"]), {true, c["cutoff"], c["seed"]});
  Record record(backend);
  tx::StepRecord start;
  start.step = 1;
  start.loss_scale = 1 / entry["labels"].get<double>();
  record.set(start);
  const tx::Consistency consistency{c["consistency_weight"], c["consistency"] == "rdrop"};
  const auto pass = [&](tx::Context& context) {
    context.recording = true;
    consistency_loss(context, model.forward(context, batch.sides(), masks_of(c, record.data)),
                     batch.labels(), model.config().target().vocabulary, c["label_smoothing"],
                     consistency, record.data);
    context.backward();
  };
  tx::Arena arena(backend, peak_of(backend, dtype, pass));
  parameters.begin_step();
  tx::Context context(backend, arena, dtype);
  pass(context);
  parameters.finish_gradients();
  Result result{record.get(), {}};
  for (const tx::ParameterEntry& e : parameters.table())
    result.gradients[e.name] = to_host(backend, parameters.entry_of(parameters.gradients(), e));
  return result;
}

// Relative difference of the record's sums.
double difference(const tx::StepRecord& r, const Json& entry) {
  double max = 0;
  for (const auto& [key, sum] : {std::pair<const char*, double>{"loss", r.loss},
                                 {"nll", r.nll},
                                 {"consistency", r.consistency}})
    max = std::max(max, std::abs(sum * r.loss_scale / entry[key].get<double>() - 1));
  return max;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_consistency)

BOOST_AUTO_TEST_CASE(losses_and_gradients) {
  const Json file = golden_file("consistency.json");
  BOOST_REQUIRE(file.size() == 3u);
  for (const auto& [name, entry] : file.items()) {
    const Result exact = run(entry, DType::f64), single = run(entry, DType::f32);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(exact.record.labels == entry["labels"].get<int64_t>());
      BOOST_TEST(difference(exact.record, entry) < 1e-11);
      BOOST_TEST(difference(single.record, entry) < 1e-5);
      BOOST_TEST(exact.gradients.size() == entry["gradients"].size());
      for (const auto& [parameter, summary] : entry["gradients"].items()) {
        BOOST_TEST_CONTEXT(parameter) {
          BOOST_TEST(tx_test::difference(parameter, exact.gradients.at(parameter), summary) <
                     1e-10);
          BOOST_TEST(tx_test::difference(parameter, single.gradients.at(parameter), summary) <
                     1e-3);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
