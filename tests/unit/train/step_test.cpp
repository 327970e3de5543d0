// One step: an update that is held and released, and calls that must not affect the next step.
#include "lib/train/step/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

TrainOptions with_dropout() {
  TrainOptions o;
  o.dropout = o.attention_dropout = o.relu_dropout = 0.1;
  o.seed = 5;
  o.label_smoothing = 0.1;
  o.clip_norm = 1;
  return o;
}

constexpr double rate = 0.01, no_limit = 0;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stepper, TinyText)

BOOST_AUTO_TEST_CASE(a_step_counts_its_labels_and_moves_the_weights) {
  TinyModel m(with_dropout(), int(words->size()), capacities);
  const std::vector<double> before = m.weights();
  const StepRecord record = m.stepper.step(batches, 1, rate, no_limit);
  int64_t labels = 0;
  for (const Batch& batch : batches)
    labels += std::count_if(batch.labels.begin(), batch.labels.end(),
                            [](int32_t label) { return label != no_label; });
  BOOST_TEST(record.labels == labels);
  BOOST_TEST(record.loss_scale == 1 / double(labels));
  BOOST_TEST((!record.skip && !record.spike));
  // An untrained model is about uniform: log V nats per label.
  BOOST_TEST(std::abs(record.nll / double(labels) - std::log(1004)) < 1);
  BOOST_TEST((m.weights() != before));
}

BOOST_AUTO_TEST_CASE(a_step_above_the_limit_is_held_and_can_be_released) {
  TinyModel held(with_dropout(), int(words->size()), capacities);
  TinyModel plain(with_dropout(), int(words->size()), capacities);
  const std::vector<double> before = held.weights();
  const StepRecord record = held.stepper.step(batches, 1, rate, 1.0);
  BOOST_TEST((record.skip == 1 && record.spike == 1));
  BOOST_TEST((held.weights() == before));
  BOOST_TEST(!held.stepper.release(record).skip);
  plain.stepper.step(batches, 1, rate, no_limit);
  BOOST_TEST((held.weights() == plain.weights()));
}

BOOST_AUTO_TEST_CASE(rehearsing_and_measuring_leave_no_trace) {
  TinyModel one(with_dropout(), int(words->size()), capacities);
  TinyModel other(with_dropout(), int(words->size()), capacities);
  one.stepper.rehearse(batches[1]);
  StepRecord sums, again;
  one.stepper.evaluate(batches[0], sums);
  one.stepper.evaluate(batches[0], again);
  BOOST_TEST(sums.labels > 0);
  BOOST_TEST(sums.loss == again.loss);  // no dropout
  one.stepper.evaluate(batches[0], again);
  BOOST_TEST(again.labels == 2 * sums.labels);  // the call adds to the sums
  one.stepper.step(batches, 1, rate, no_limit);
  other.stepper.step(batches, 1, rate, no_limit);
  BOOST_TEST((one.weights() == other.weights()));
}

BOOST_AUTO_TEST_CASE(a_batch_brought_ahead_is_used_where_it_is_the_next_and_nowhere_else) {
  TinyModel ahead(with_dropout(), int(words->size()), capacities);
  TinyModel plain(with_dropout(), int(words->size()), capacities);
  const std::vector<Batch> first{batches[0]}, second{batches[1]};
  StepRecord sums;
  int64_t number = 0;
  const auto step = [&](const std::vector<Batch>& now, const std::vector<Batch>& next) {
    ahead.stepper.launch(now, ++number, rate, no_limit);
    ahead.stepper.prepare(next);
    ahead.stepper.finish();
    plain.stepper.step(now, number, rate, no_limit);
    BOOST_TEST((ahead.weights() == plain.weights()), "step " << number);
  };
  step(first, second);
  step(second, first);
  step(second, second);  // not the prepared batch
  step(first, first);
  ahead.stepper.evaluate(batches[1], sums);  // overwrites the prepared batch
  step(first, {});
  // A prepared batch is identified by its serial number; one without a number is uploaded again.
  Batch changed = batches[0];
  std::reverse(changed.labels.begin(), changed.labels.end());
  changed.serial = 0;
  step(first, {changed});
  step({changed}, first);
}

BOOST_AUTO_TEST_CASE(gradient_norms_by_layer) {
  TinyModel logged(with_dropout(), int(words->size()), capacities);
  TinyModel plain(with_dropout(), int(words->size()), capacities);
  for (int64_t number = 1; number <= 2; ++number) {
    const StepRecord record = logged.stepper.step(batches, number, rate, no_limit);
    const Json norms = logged.stepper.gradient_norms();
    double sum = 0;
    for (const auto& [part, norm] : norms.items()) sum += norm.get<double>() * norm.get<double>();
    BOOST_TEST(std::abs(std::sqrt(sum) / record.gradient_norm - 1) < 1e-12);
    std::map<std::string, double> wanted;  // sums of squares
    for (const ParameterEntry& e : logged.parameters.table()) {
      std::string part = "embedding";
      for (const char* layer : {"encoder.layers.0", "decoder.layers.0"})
        if (e.name.starts_with(layer)) part = layer;
      const Matrix gradient = logged.parameters.entry_of(logged.parameters.gradients(), e);
      for (const double x : to_host(logged.backend, gradient)) wanted[part] += x * x;
    }
    BOOST_TEST(norms.size() == wanted.size());
    for (const auto& [part, squares] : wanted)
      BOOST_TEST(std::abs(norms.at(part).get<double>() / std::sqrt(squares) - 1) < 1e-12, part);
    plain.stepper.step(batches, number, rate, no_limit);
    BOOST_TEST((logged.weights() == plain.weights()));
  }
}

BOOST_AUTO_TEST_CASE(the_options_are_heeded) {
  const auto after = [&](const TrainOptions& options) {
    TinyModel m(options, int(words->size()), capacities);
    m.stepper.step(batches, 1, rate, no_limit);
    return m.weights();
  };
  const TrainOptions usual = with_dropout();
  const std::vector<double> wanted = after(usual);
  BOOST_TEST((after(usual) == wanted));
  TrainOptions o = usual;
  o.recompute = true;
  BOOST_TEST((after(o) == wanted));
  o = usual;
  o.optimizer = Optimizer::sgd;
  BOOST_TEST((after(o) != wanted));
  o.optimizer = Optimizer::muon;
  BOOST_TEST((after(o) != wanted));
  o = usual;
  o.seed = 6;
  BOOST_TEST((after(o) != wanted));
  o = usual;
  o.weight_decay = 0.1;
  BOOST_TEST((after(o) != wanted));
  o = usual;
  o.label_smoothing = 0;
  BOOST_TEST((after(o) != wanted));
}

BOOST_AUTO_TEST_CASE(recomputing_needs_less_memory) {
  TrainOptions options = with_dropout();
  TinyModel m(options, int(words->size()), capacities);
  const size_t kept = Stepper::plan(m.backend, m.parameters, m.transformer, options, capacities);
  options.recompute = true;
  BOOST_TEST(Stepper::plan(m.backend, m.parameters, m.transformer, options, capacities) < kept);
}

BOOST_AUTO_TEST_CASE(weights_that_are_not_finite_are_found) {
  TinyModel m(with_dropout(), int(words->size()), capacities);
  BOOST_TEST(m.stepper.weights_finite());
  std::vector<double> values = m.weights();
  values[7] = std::numeric_limits<double>::infinity();
  to_device(m.backend, values, m.parameters.fp32_weights());
  BOOST_TEST(!m.stepper.weights_finite());
  const StepRecord record = m.stepper.step(batches, 1, rate, no_limit);
  BOOST_TEST((record.skip == 1 && record.spike == 0));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

ModelConfig one_stack(ModelKind kind) {
  ModelConfig c;
  c.set_kind(kind);
  c.set_vocabularies(1004);
  c.set_layers(2);
  c.d_model = 32;
  c.d_ff = 64;
  c.heads = 4;
  c.norm = NormPosition::pre;
  c.resolve();
  return c;
}

struct OneStack {
  const TrainOptions options = plain_options();
  Backend backend = make_backend(Device::cpu, 1);
  Parameters parameters;
  Transformer model;

  explicit OneStack(ModelKind kind)
      : parameters(Parameters::for_training(backend, one_stack(kind), DType::f32)),
        model(backend, parameters, 80) {
    parameters.initialise(1);
  }
};

}  // namespace

// Word n is followed by word n + 1, so that every word of a line but the first can be predicted.
BOOST_FIXTURE_TEST_CASE(one_stack_learns_what_follows, PackingFixture) {
  const IdCache cache = make(captions(60, 1));
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder}) {
    PackerOptions packing;
    packing.batch_tokens = 256;
    Packer packer(cache, packing);
    OneStack run(kind);
    Stepper stepper(run.backend, run.parameters, run.model, run.options);
    stepper.reserve(
        Stepper::plan(run.backend, run.parameters, run.model, run.options, packer.capacities()));
    const auto step = [&](int64_t number) {
      std::vector<Batch> batches(1);
      packer.next(batches.front());
      BOOST_TEST(batches.front().sides.size() == 1u);
      const StepRecord record = stepper.step(batches, number, 0.01, 0);
      return record.loss * record.loss_scale;
    };
    const double first = step(1);
    for (int64_t number = 2; number < 80; ++number) step(number);
    BOOST_TEST(first > 6.5);
    BOOST_TEST(step(80) < 0.6 * first);
  }
}
