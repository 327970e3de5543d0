// What makes a model a Transformer, on random weights.
#include <algorithm>
#include <numeric>

#include "tests/unit/model/small_model.h"

using namespace tx_test;
using tx::DType;

namespace {

Rows slice(const Rows& rows, size_t first, size_t count) {
  return {rows.begin() + int64_t(first), rows.begin() + int64_t(first + count)};
}

double tolerance(DType dtype) {
  return dtype == DType::f64 ? 1e-13 : dtype == DType::f32 ? 1e-5 : 2e-2;
}

const char* const norms[] = {"post", "pre"};

}  // namespace

BOOST_AUTO_TEST_SUITE(model_properties)

// A target token changes no bit of earlier logits; it does change its own and later rows.
BOOST_AUTO_TEST_CASE(causality) {
  for (DType dtype : dtypes()) {
    for (const char* norm : norms) {
      for (bool prepared : {false, true}) {
        SmallModel small(small_config(norm), dtype, prepared);
        Sentence s = sentence_of(1, 9, 60);
        const Rows before = small.logits({s});
        for (size_t at : {1, 17, 47, 48, 49, 59}) {
          Sentence changed = s;
          changed.target[at] = changed.target[at] == 5 ? 6 : 5;
          const Rows after = small.logits({changed});
          BOOST_TEST_CONTEXT(int(dtype)
                             << " " << norm << " prepared " << prepared << " at " << at) {
            BOOST_TEST((slice(after, 0, at) == slice(before, 0, at)));
            for (size_t i = at; i < 60; ++i) BOOST_TEST((after[i] != before[i]));
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_target_row_sees_every_source_row) {
  SmallModel small(small_config(), DType::f64);
  Sentence s = sentence_of(1, 12, 7);
  const Rows before = small.logits({s});
  for (size_t at = 0; at < 12; ++at) {
    Sentence changed = s;
    changed.source[at] = changed.source[at] == 5 ? 6 : 5;
    const Rows after = small.logits({changed});
    for (size_t i = 0; i < 7; ++i) BOOST_TEST((after[i] != before[i]));
  }
}

// Without positions a permuted source gives permuted rows; with them it does not.
BOOST_AUTO_TEST_CASE(equivariance_to_order_without_positions) {
  for (const char* norm : norms) {
    for (bool positions : {false, true}) {
      SmallModel small(small_config(norm, "learned"), DType::f64);
      if (!positions)
        for (const tx::ParameterEntry& e : small.parameters.table())
          if (e.lookup)
            to_device(small.backend, std::vector<double>(size_t(e.rows * e.cols), 0),
                      small.parameters.fp32_weights(e));
      const Sentence s = sentence_of(1, 53, 2);
      Sentence permuted = s;
      Rows expected = small.encoded(s);
      const Rows original = expected;
      for (size_t i = 0; i < 53; ++i) {
        const size_t from = (i * 20 + 7) % 53;
        permuted.source[i] = s.source[from];
        expected[i] = original[from];
      }
      const double off = difference(small.encoded(permuted), expected);
      BOOST_TEST_CONTEXT(norm << " positions " << positions << " off " << off)
      BOOST_TEST((positions ? off > 1e-2 : off < 1e-13));
    }
  }
}

// A sentence's logits do not depend on the rest of its batch: bit-identical, for any number of
// threads, with weights packed for inference; otherwise up to rounding.
BOOST_AUTO_TEST_CASE(independence_of_the_batch) {
  const std::vector<Sentence> all{sentence_of(1, 5, 9), sentence_of(2, 70, 1),
                                  sentence_of(3, 1, 66), sentence_of(4, 33, 20),
                                  sentence_of(5, 2, 3)};
  for (DType dtype : dtypes()) {
    for (const char* norm : norms) {
      for (bool prepared : {true, false}) {
        SmallModel small(small_config(norm), dtype, prepared);
        SmallModel threads(small_config(norm), dtype, prepared, 3);
        const Rows together = small.logits(all);
        size_t row = 0;
        for (const Sentence& s : all) {
          const Rows expected = slice(together, row, s.target.size());
          row += s.target.size();
          const Rows alone = threads.logits({s}), pair = small.logits({all[3], s});
          const Rows behind = slice(pair, 20, s.target.size());
          BOOST_TEST_CONTEXT(int(dtype) << " " << norm << " prepared " << prepared) {
            BOOST_TEST((!prepared || alone == expected));
            BOOST_TEST((!prepared || behind == expected));
            BOOST_TEST(difference(alone, expected) < tolerance(dtype));
            BOOST_TEST(difference(behind, expected) < tolerance(dtype));
          }
        }
      }
    }
  }
}

// Dropout masks depend on the pair, not on the batch or the position in it.
BOOST_AUTO_TEST_CASE(dropout_is_independent_of_the_batch) {
  SmallModel small(small_config(), DType::f64);
  Record record(small.backend);
  const tx::DropoutRates masks{.3, .2, .1, 7, record.data};
  const Sentence a = sentence_of(1, 5, 9), b = sentence_of(2, 70, 30), c = sentence_of(3, 20, 9);
  const Rows together = small.logits({a, b, c}, masks), alone = small.logits({b}, masks);
  BOOST_TEST(difference(slice(together, 9, 30), alone) < 1e-13);
  BOOST_TEST(difference(small.logits({b}), alone) > 1e-2);
  Sentence other = b;
  other.pair = 4;
  BOOST_TEST(difference(small.logits({other}, masks), alone) > 1e-2);
  tx::StepRecord next;
  next.step = 1;
  record.set(next);
  BOOST_TEST(difference(small.logits({b}, masks), alone) > 1e-2);
}

// One batch, or its sentences as micro-batches in another order with a dummy among them: the same
// gradients, dropout included.
BOOST_AUTO_TEST_CASE(accumulated_gradients_are_those_of_one_batch) {
  for (const char* norm : norms) {
    SmallModel small(small_config(norm), DType::f64);
    const tx::DropoutRates masks{.3, .2, .1, 7, nullptr};
    const Sentence a = sentence_of(1, 5, 9), b = sentence_of(2, 70, 30), c = sentence_of(3, 20, 9);
    Sentence filler = sentence_of(dummy, 6, 4);
    filler.labels.assign(4, -1);
    const Rows whole{small.gradients({{a, b, c}}, masks)};
    BOOST_TEST(difference({small.gradients({{c, filler, a}, {b}}, masks)}, whole) < 1e-13);
    BOOST_TEST(difference({small.gradients({{a, b}}, masks)}, whole) > 1e-2);
  }
}

// Later blocks are causal and batch-invariant, and a row only depends on its window.
BOOST_AUTO_TEST_CASE(later_blocks_keep_the_properties) {
  for (DType dtype : dtypes())
    for (const tx::ModelConfig& config : later_configs()) {
      SmallModel small(config, dtype, true), threads(config, dtype, true, 3);
      const Sentence s = sentence_of(1, 9, 60), other = sentence_of(2, 33, 20);
      const Rows before = small.logits({s});
      BOOST_TEST_CONTEXT(int(dtype) << " " << tx::to_text(config.to_json())) {
        BOOST_TEST((slice(threads.logits({other, s}), 20, 60) == before));
        Sentence changed = s;
        changed.target[17] = changed.target[17] == 5 ? 6 : 5;
        const Rows after = small.logits({changed});
        BOOST_TEST((slice(after, 0, 17) == slice(before, 0, 17)));
        // Two layers reach twice as far as a window.
        const size_t reach = config.window ? 2 * size_t(config.window - 1) : 42;
        for (size_t i = 17; i < 60; ++i)
          if (i > 17 + reach) BOOST_TEST((after[i] == before[i]));
        // Attention alone can lose the difference (rank collapse, Dong et al., 2021).
        if (config.residual) BOOST_TEST((after[17] != before[17]));
      }
    }
}

// Without the causal mask, a change of the last token changes the first row.
BOOST_AUTO_TEST_CASE(an_ablation_removes_the_mask) {
  for (DType dtype : dtypes()) {
    tx::ModelConfig config = small_config();
    config.causal_mask = false;
    SmallModel small(config, dtype, true);
    const Sentence s = sentence_of(1, 9, 60);
    Sentence changed = s;
    changed.target[59] = changed.target[59] == 5 ? 6 : 5;
    BOOST_TEST((small.logits({changed})[0] != small.logits({s})[0]));
  }
}

// With rotary positions a score depends on the distance of query and key, not on their positions.
BOOST_AUTO_TEST_CASE(rotary_attention_knows_distances_alone) {
  tx::ModelConfig c = small_config("post", "rotary", tx::ModelKind::encoder);
  SmallModel small(c, DType::f64);
  const auto frequencies = tx::rotary_frequencies(c);
  const auto score = [&](int64_t query, int64_t key) {
    const std::vector<double> q = value("q", 0, 8), k = value("k", 0, 8);
    const std::vector<double> a = tx::rotary_row(frequencies, query);
    const std::vector<double> b = tx::rotary_row(frequencies, key);
    double sum = 0;
    for (size_t j = 0; j < 4; ++j)
      for (const auto& [x, y] :
           {std::pair(q[j] * a[j] - q[j + 4] * a[j + 4], k[j] * b[j] - k[j + 4] * b[j + 4]),
            std::pair(q[j + 4] * a[j] + q[j] * a[j + 4], k[j + 4] * b[j] + k[j] * b[j + 4])})
        sum += x * y;
    return sum;
  };
  for (int64_t shift : {1, 7, 900})
    BOOST_TEST(std::abs(score(5 + shift, 2 + shift) - score(5, 2)) < 1e-12);
  BOOST_TEST(std::abs(score(6, 2) - score(5, 2)) > 1e-3);
}

// The nearest distance of each bucket from `exact` on, as T5 of transformers has them.
BOOST_AUTO_TEST_CASE(buckets_of_distances) {
  const auto nearest = [](const std::vector<int32_t>& bucket, int reach, int sign, int from) {
    std::vector<int> all;
    for (int d = 0; d <= reach; ++d) {
      const int b = bucket[size_t(reach + sign * d)];
      if (b >= from && (d == 0 || b != bucket[size_t(reach + sign * (d - 1))])) all.push_back(d);
    }
    return all;
  };
  const std::vector<int32_t> both = tx::distance_buckets(32, 128, true),
                             before = tx::distance_buckets(32, 128, false);
  const std::vector<int> far = {8, 12, 16, 23, 32, 46, 64, 91};
  BOOST_TEST(nearest(both, 128, 1, 24) == far, boost::test_tools::per_element());
  BOOST_TEST(nearest(both, 128, -1, 8) == far, boost::test_tools::per_element());
  for (int d = 0; d < 8; ++d) BOOST_TEST(both[size_t(128 - d)] == d);
  for (int d = 1; d < 8; ++d) BOOST_TEST(both[size_t(128 + d)] == 16 + d);
  const std::vector<int> earlier = {16, 19, 21, 24, 27, 31, 35, 40,
                                    46, 52, 59, 67, 77, 87, 99, 113};
  BOOST_TEST(nearest(before, 128, -1, 16) == earlier, boost::test_tools::per_element());
  for (int d = 0; d < 16; ++d) BOOST_TEST(before[size_t(128 - d)] == d);
  for (int d = 1; d <= 128; ++d) BOOST_TEST(before[size_t(128 + d)] == 0);
  const std::vector<int> wider = {0, 1, 2, 3, 4, 6, 7, 8};
  BOOST_TEST(nearest(tx::distance_buckets(8, 10, false), 10, -1, 0) == wider,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(slopes_of_distances) {
  const std::vector<double> eight = tx::alibi_slopes(8), six = tx::alibi_slopes(6);
  BOOST_TEST(eight.front() == 0.5);
  BOOST_TEST(eight.back() == 1.0 / 256);
  const std::vector<double> expected{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  BOOST_TEST(six == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gradients_of_two_runs_are_the_same_bits) {
  for (DType dtype : dtypes()) {
    SmallModel small(small_config(), dtype), again(small_config(), dtype);
    const tx::DropoutRates masks{.3, .2, .1, 7, nullptr};
    const std::vector<Sentence> batch{sentence_of(1, 5, 9), sentence_of(2, 70, 30)};
    const std::vector<double> first = small.gradients({batch}, masks);
    BOOST_TEST((small.gradients({batch}, masks) == first));
    BOOST_TEST((again.gradients({batch}, masks) == first));
  }
}

// Layers that are recomputed in the backward pass give the same bits of gradients in less memory.
BOOST_AUTO_TEST_CASE(recomputed_layers_give_the_same_bits) {
  std::vector<tx::ModelConfig> configs = later_configs();
  for (const char* norm : norms) configs.push_back(small_config(norm));
  for (DType dtype : dtypes()) {
    for (const tx::ModelConfig& config : configs) {
      SmallModel small(config, dtype);
      const tx::DropoutRates masks{.3, .2, .1, 7, nullptr};
      const std::vector<Sentence> one{sentence_of(1, 5, 9), sentence_of(2, 70, 30)};
      const std::vector<Sentence> other{sentence_of(3, 20, 9)};
      const std::vector<double> kept = small.gradients({other, one}, masks);
      const size_t peak = small.peak;
      small.recompute = true;
      BOOST_TEST((small.gradients({other, one}, masks) == kept));
      BOOST_TEST(small.peak < peak);
    }
  }
}

// The peak of the dry run is exactly that of the real run, which frees everything.
BOOST_AUTO_TEST_CASE(dry_run_peak_equals_the_real_peak) {
  for (DType dtype : dtypes()) {
    for (const char* norm : norms) {
      SmallModel small(small_config(norm), dtype);
      const PackedBatch batch(small.backend, {sentence_of(1, 5, 9), sentence_of(2, 70, 30)});
      Record record(small.backend);
      // In bf16 without relu dropout, so that a GPU can use its bit masks for relu.
      const double of_relu = dtype == DType::bf16 ? 0 : .1;
      const tx::DropoutRates masks{.3, .2, of_relu, 7, record.data};
      const auto train = [&](tx::Context& c) {
        forward_backward(c, *small.model, batch, masks, .1, record.data);
      };
      const auto infer = [&](tx::Context& c) { small.model->forward(c, batch.sides); };
      const std::function<void(tx::Context&)> both[] = {train, infer};
      for (const auto& f : both) {
        const size_t peak = peak_of(small.backend, dtype, f);
        tx::Arena arena(small.backend, peak);
        tx::Context context(small.backend, arena, dtype);
        small.parameters.begin_step();
        f(context);
        BOOST_TEST(arena.peak() == peak);
        BOOST_TEST(arena.in_use() == 0u);
      }
      BOOST_TEST(peak_of(small.backend, dtype, infer) < peak_of(small.backend, dtype, train));
    }
  }
}

BOOST_AUTO_TEST_CASE(probes_see_every_attention_before_and_after) {
  SmallModel small(small_config(), DType::f32);
  const PackedBatch batch(small.backend, {sentence_of(1, 5, 9)});
  std::vector<std::string> seen;
  const auto probe = [&](const tx::ProbedAttention& a) {
    BOOST_TEST(!a.packed == (a.heads && a.output));
    if (!a.packed) {
      BOOST_TEST(a.heads->rows() == a.output->rows());
      BOOST_TEST(a.output->cols() == small.model->config().d_model);
      return seen.push_back(a.kind + std::to_string(a.layer) + " done");
    }
    seen.push_back(a.kind + std::to_string(a.layer) + (a.packed->causal ? " causal" : ""));
  };
  small.run([&](tx::Context& c) {
    seen.clear();
    small.model->hidden(c, batch.sides, {}, probe);
  });
  const std::vector<std::string> expected{"encoder0",      "encoder0 done",   "encoder1",
                                          "encoder1 done", "decoder0 causal", "decoder0 done",
                                          "cross0",        "cross0 done",     "decoder1 causal",
                                          "decoder1 done", "cross1",          "cross1 done"};
  BOOST_TEST(seen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
