// Guided alignment: the gradient of the whole step, and settings that must not change the result.
#include <cmath>

#include "lib/base/error.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

// Links rows with labels to one or two source rows each, except every fourth row.
BatchLinks links_of(const Batch& batch) {
  BatchLinks links;
  links.starts.push_back(0);
  for (size_t row = 0; row < batch.labels.size(); ++row) {
    const std::vector<int32_t>& to = batch.sides.back().offsets;
    const auto s = size_t(std::upper_bound(to.begin(), to.end(), int32_t(row)) - to.begin()) - 1;
    const int32_t rows = batch.sides.front().offsets[s + 1] - batch.sides.front().offsets[s];
    const int32_t first = int32_t(row * 7 % size_t(rows));
    if (batch.labels[row] != no_label && row % 4) {
      links.columns.push_back(first);
      if (row % 3 == 0 && first + 2 < rows) links.columns.push_back(first + 2);
    }
    links.starts.push_back(int32_t(links.columns.size()));
  }
  return links;
}

struct LinkedText : TinyText {
  LinkedText() {
    for (Batch& batch : batches) batch.links = links_of(batch);
  }
};

TrainOptions guided(double weight) {
  TrainOptions o = plain_options();
  o.label_smoothing = 0.1;
  o.optimizer = Optimizer::sgd;
  o.guided_alignment = "links";
  o.guided_head = "1.1";
  o.guided_weight = weight;
  return o;
}

// Two layers on each side, in double.
struct Model {
  const TrainOptions options;
  Backend backend = make_backend(Device::cpu, 1);
  Parameters parameters;
  Transformer transformer;
  Stepper stepper;
  Model(const TrainOptions& of, const LinkedText& text, int kv_heads = 0)
      : options(of),
        parameters(Parameters::for_training(backend, config(int(text.words->size()), kv_heads),
                                            DType::f64)),
        transformer(backend, parameters, 128),
        stepper(backend, parameters, transformer, options) {
    parameters.initialise(3);
    stepper.reserve(Stepper::plan(backend, parameters, transformer, options, text.capacities));
  }
  static ModelConfig config(int words, int kv_heads) {
    ModelConfig c = TinyModel::config_of(words);
    c.set_layers(2);
    c.kv_heads = kv_heads;
    return c;
  }
  std::vector<double> gradients() { return to_host(backend, parameters.gradients()); }
};

// Compares every 37th gradient of cross-attention and of self_attn.v_proj with differences.
void check_gradients(Model& m, double weight, const std::vector<Batch>& batches) {
  const auto objective = [&] {
    const StepRecord r = m.stepper.step(batches, 1, 0, 0);  // rate 0: no update
    return (r.loss + weight * r.guided) * r.loss_scale;
  };
  for (const ParameterEntry& e : m.parameters.table()) {
    if (e.name.find("cross_attn") == e.name.npos && e.name.find("self_attn.v") == e.name.npos)
      continue;
    const Matrix values = m.parameters.entry_of(m.parameters.fp32_weights(), e);
    objective();
    const std::vector<double> gradients =
        to_host(m.backend, m.parameters.entry_of(m.parameters.gradients(), e));
    double max = 0, off = 0;
    for (int64_t i = 0; i < values.rows * values.cols; i += 37) {
      const double gradient = gradients[size_t(i)];
      double& w = values.row<double>(0)[i];
      const double kept = w, h = 1e-5;
      w = kept + h;
      const double up = objective();
      w = kept - h;
      const double down = objective();
      w = kept;
      max = std::max(max, std::abs(gradient));
      off = std::max(off, std::abs(gradient - (up - down) / (2 * h)));
    }
    BOOST_TEST(off < 1e-8 + 1e-6 * max, e.name << ": " << off << " of " << max);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(guidance, LinkedText)

BOOST_AUTO_TEST_CASE(the_gradient_agrees_with_differences) {
  for (const int kv_heads : {0, 1}) {  // keys per head, or shared
    Model m(guided(0.7), *this, kv_heads);
    check_gradients(m, 0.7, batches);
  }
}

BOOST_AUTO_TEST_CASE(recomputing_changes_no_bit) {
  TrainOptions options = guided(0.7);
  Model kept(options, *this);
  options.recompute = true;
  Model again(options, *this);
  const StepRecord a = kept.stepper.step(batches, 1, 0.1, 0);
  const StepRecord b = again.stepper.step(batches, 1, 0.1, 0);
  BOOST_TEST(a.guided == b.guided);
  BOOST_TEST(a.guided_rows == b.guided_rows);
  BOOST_TEST(a.guided_rows > 100);
  BOOST_TEST((kept.gradients() == again.gradients()));
}

BOOST_AUTO_TEST_CASE(without_links_or_guidance_a_step_is_as_before) {
  TrainOptions options = guided(0.7);
  Model with(options, *this);
  options.guided_alignment = "";
  Model without(options, *this);
  const StepRecord plain = without.stepper.step(batches, 1, 0, 0);
  BOOST_TEST(plain.guided_rows == 0);
  BOOST_TEST(plain.guided == 0.0);
  const std::vector<double> wanted = without.gradients();
  with.stepper.step(batches, 1, 0, 0);
  BOOST_TEST((with.gradients() != wanted));
  std::vector<Batch> unlinked = batches;
  for (Batch& batch : unlinked) batch.links = {};
  with.stepper.step(unlinked, 1, 0, 0);
  BOOST_TEST((with.gradients() == wanted));
}

BOOST_AUTO_TEST_CASE(the_head_is_the_first_of_the_last_layer_or_the_one_named) {
  TrainOptions o;
  o.model.set_layers(3);
  BOOST_TEST(o.guided().layer == -1);
  o.guided_alignment = "links";
  BOOST_TEST((o.guided().layer == 2 && o.guided().head == 0));
  o.guided_head = "1.7";
  BOOST_TEST((o.guided().layer == 1 && o.guided().head == 7));
  for (const char* bad : {"3.0", "0.8", "1", "1.", ".1", "1.2.3", "-1.0", "1.x", "99999999999.0"}) {
    o.guided_head = bad;
    BOOST_CHECK_THROW(o.guided(), UsageError);
  }
}

BOOST_AUTO_TEST_CASE(the_head_learns_its_links) {
  TrainOptions options = guided(5);
  options.optimizer = Optimizer::adam;
  options.guided_head = "0.1";
  TinyModel m(options, int(words->size()), capacities);
  double first = 0, last = 0;
  for (int step = 1; step <= 60; ++step) {
    const StepRecord r = m.stepper.step(batches, step, 0.01, 0);
    last = r.guided / double(r.guided_rows);
    if (step == 1) first = last;
  }
  BOOST_TEST(last < 0.5 * first, first << " to " << last);
}

BOOST_AUTO_TEST_SUITE_END()
