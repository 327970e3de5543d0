// What a step costs, from shapes alone, and the largest batch that fits.
#include "lib/train/plan/memory.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/error.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

BOOST_AUTO_TEST_CASE(product_flops_of_a_step) {
  ModelConfig c;
  c.set_vocabularies(37000);
  c.resolve();
  BOOST_TEST(std::abs(step_flops(c, {25000, 25000}) / 9.44763e12 - 1) < 1e-6);
  c.d_model = 1024;
  c.d_ff = 4096;
  c.heads = 16;
  c.kv_heads = c.d_k = c.d_v = 0;
  c.resolve();
  BOOST_TEST(std::abs(step_flops(c, {25000, 25000}) / 3.21073e13 - 1) < 2e-6);
}

BOOST_AUTO_TEST_CASE(flops_grow_with_each_side) {
  ModelConfig c;
  c.set_vocabularies(100);
  c.set_layers(1);
  c.d_model = 4;
  c.d_ff = 8;
  c.heads = 2;
  c.d_k = 3;
  c.d_v = 5;
  c.resolve();
  // Weights per source token: 4 x (2 x 6 + 2 x 10) for self-attention, 2 x 4 x 8 for the FFN, and
  // 4 x (6 + 10) for keys and values of cross-attention. Per target token: the first two, 4 x
  // (6 + 10) for queries and output of cross-attention, and 100 x 4 for the logits. 6 FLOP each.
  BOOST_TEST(step_flops(c, {1, 0}) == 6.0 * (128 + 64 + 64));
  BOOST_TEST(step_flops(c, {0, 1}) == 6.0 * (128 + 64 + 64 + 400));
  BOOST_TEST(step_flops(c, {7, 3}) == 7 * step_flops(c, {1, 0}) + 3 * step_flops(c, {0, 1}));
}

BOOST_FIXTURE_TEST_CASE(auto_takes_the_largest_batch_that_fits, TinyText) {
  TinyModel m(plain_options(), int(words->size()), capacities);
  TrainOptions options = plain_options();
  const PlannedRun run{m.backend, m.parameters, m.transformer, options, {}};
  const BatchShape shape = shape_of({PairLengths(text)});
  const auto total = [&](int tokens) { return plan_memory(run, shape.capacities(tokens)).total(); };
  const size_t limit = size_t(48) << 20;
  const auto resolved = [&](const std::string& batch_tokens, const std::string& memory) {
    options.batch_tokens.text = batch_tokens;
    options.memory = memory;
    return resolve_batch_tokens(run, shape);
  };
  const int tokens = resolved("auto", "48M");
  BOOST_TEST(tokens % 64 == 0);
  BOOST_TEST(total(tokens) <= limit);
  BOOST_TEST(total(tokens + 64) > limit);
  BOOST_TEST(resolved("100", "48M") == 100);
  BOOST_TEST(resolved("100", "") == 100);
  BOOST_CHECK_THROW(resolved(std::to_string(tokens + 64), "48M"), UsageError);
  BOOST_CHECK_THROW(resolved("auto", "100K"), UsageError);
  // A pair longer than the usual maximum raises it.
  const BatchShape larger{max_auto_tokens + 1, shape.capacities};
  options.memory = "900G";
  BOOST_TEST(resolve_batch_tokens(run, larger) == max_auto_tokens + 64);
}

BOOST_FIXTURE_TEST_CASE(a_plan_counts_what_stands_beside_the_model, TinyText) {
  TinyModel m(plain_options(), int(words->size()), capacities);
  TrainOptions three = m.options;
  three.accumulate = 3;
  const PlannedRun plain{m.backend, m.parameters, m.transformer, m.options, {}};
  const PlannedRun beside{m.backend, m.parameters, m.transformer, three, {1000, 200}};
  const MemoryPlan one = plan_memory(plain, capacities), other = plan_memory(beside, capacities);
  BOOST_TEST(one.optimizer_state == 2 * one.parameters);
  BOOST_TEST(one.activations == plan_activations(plain, capacities));
  BOOST_TEST(other.batch > one.batch);
  BOOST_TEST((one.sums == 0 && other.sums == 2 * one.gradients));  // of three batches
  BOOST_TEST(other.total() == one.total() + other.batch - one.batch + other.sums + 1200);
  three = m.options;
  three.optimizer = Optimizer::muon;
  const MemoryPlan muon =
      plan_memory({m.backend, m.parameters, m.transformer, three, {}}, capacities);
  BOOST_TEST(muon.optimizer_state == one.optimizer_state);
  size_t matrix = 0, gram = 0;  // elements of the largest
  for (const ParameterEntry& e : m.parameters.table()) {
    if (e.vector || e.name.find(".layers.") == std::string::npos) continue;
    matrix = std::max(matrix, size_t(e.rows * e.cols));
    gram = std::max(gram, size_t(std::min(e.rows, e.cols) * std::min(e.rows, e.cols)));
  }
  BOOST_TEST(muon.update == one.parameters + held_bytes(4 * (2 * matrix + 2 * gram)) +
                                held_bytes(8 * size_t(norm_blocks(int64_t(matrix)))));
  BOOST_TEST(muon.total() == one.total() + muon.update);
}

BOOST_FIXTURE_TEST_CASE(a_rank_plans_for_its_part_of_the_moments, TinyText) {
  const auto plan = [&](int ranks) {
    TrainOptions options = plain_options();
    options.accumulate = 8;
    TinyModel m(options, int(words->size()), capacities, DType::f32, {0, ranks}, 192);
    const PlannedRun run{m.backend, m.parameters, m.transformer, options, {}, ranks};
    return std::pair(plan_memory(run, capacities), m.parameters.fp32_weights().cols);
  };
  const auto [one, elements] = plan(1);
  const auto [four, same] = plan(4);
  BOOST_TEST(elements == same);
  BOOST_TEST(std::abs(double(four.optimizer_state) / double(one.optimizer_state) - 0.25) < 0.02);
  BOOST_TEST((four.parameters == one.parameters && four.gradients == one.gradients));
  BOOST_TEST(one.sums == 3 * one.gradients);
  // Two batches per rank: one level of the tree, and buffers for the shards of four partial sums.
  BOOST_TEST(four.sums == one.gradients + 4 * size_t(Division(elements, 4).longest(0)) * 4);
}

BOOST_FIXTURE_TEST_CASE(the_worst_batch_fills_every_row, TinyText) {
  const Batch batch = worst_batch(PairLengths(text), capacities);
  for (size_t side = 0; side < capacities.size(); ++side) {
    BOOST_TEST(batch.sides[side].ids.size() == size_t(capacities[side]));
    BOOST_TEST(batch.sides[side].offsets.back() == capacities[side]);
    BOOST_TEST(batch.sides[side].offsets.size() == size_t(batch.sentences) + 1);
  }
  BOOST_TEST(std::count(batch.labels.begin(), batch.labels.end(), no_label) == 0);
  BOOST_TEST(worst_batch(PairLengths(text), capacities, 2).sentences < batch.sentences);
}
