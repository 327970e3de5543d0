// Incremental decoding equals teacher forcing and is batch-invariant.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>

#include "lib/model/incremental_decoder.h"
#include "tests/unit/search/batch_invariance.h"

using namespace tx;
using namespace tx_test;

namespace {

std::vector<double> row_of(const Matrix& m, int64_t row) {
  std::vector<double> out;
  for (int64_t j = 0; j < m.cols; ++j) {
    if (m.dtype == DType::f64) out.push_back(m.row<double>(row)[j]);
    if (m.dtype == DType::f32) out.push_back(double(m.row<float>(row)[j]));
    if (m.dtype == DType::bf16) {
      const uint32_t bits = uint32_t(m.row<uint16_t>(row)[j]) << 16;
      float x;
      std::memcpy(&x, &bits, 4);
      out.push_back(double(x));
    }
  }
  return out;
}

// Logits (T,Vp) of <bos> + the first target tokens, in one pass.
std::vector<std::vector<double>> teacher_forced(RandomModel& m, const std::vector<int>& source,
                                                const std::vector<int>& target) {
  const auto side = [](const std::vector<int32_t>& ids, const std::vector<int32_t>& offsets,
                       const std::vector<uint32_t>& zeros, const std::vector<uint32_t>& places) {
    PackedSide s;
    s.ids = ids.data();
    s.offsets = offsets.data();
    s.keys = {zeros.data(), places.data()};
    s.rows = int64_t(ids.size());
    s.sentences = 1;
    return s;
  };
  std::vector<int32_t> in{2};
  in.insert(in.end(), target.begin(), target.end() - 1);
  const std::vector<int32_t> from(source.begin(), source.end());
  const std::vector<int32_t> s_offsets{0, int32_t(from.size())}, t_offsets{0, int32_t(in.size())};
  std::vector<uint32_t> zeros(1000, 0), places(1000);
  for (size_t i = 0; i < places.size(); ++i) places[i] = uint32_t(i);
  const PackedSide s = side(from, s_offsets, zeros, places), t = side(in, t_offsets, zeros, places);
  Arena arena(m.backend, size_t(1) << 28);
  Context context(m.backend, arena, m.parameters.dtype());
  const PackedSide sides[] = {s, t};
  Tensor logits = m.transformer.forward(context, sides);
  std::vector<std::vector<double>> out;
  for (int64_t i = 0; i < logits.rows(); ++i) out.push_back(row_of(logits.value(), i));
  return out;
}

void compare_with_teacher_forcing(DType dtype, const ModelConfig& config, double tolerance) {
  RandomModel m(config, dtype, 64);
  const std::vector<std::vector<int>> sources = {random_sentence(1, 9), random_sentence(2, 1),
                                                 random_sentence(3, 30)};
  std::vector<std::vector<int>> targets;
  for (uint32_t s = 0; s < 3; ++s) targets.push_back(random_sentence(10 + s, 20));
  IncrementalDecoder decoding(m.backend, m.transformer, dtype);
  std::vector<std::vector<std::vector<double>>> wanted;
  for (size_t s = 0; s < 3; ++s) wanted.push_back(teacher_forced(m, sources[s], targets[s]));
  for (int round = 0; round < 2; ++round) {  // the second reuses memory
    decoding.begin(sources, 3, 20);
    for (int step = 0; step < 20; ++step) {
      // The rows rotate at every step, so that the parent of a row is another row.
      std::vector<IncrementalDecoder::Row> rows;
      for (int i = 0; i < 3; ++i) {
        const int s = (i + step) % 3;
        const int parent = step ? (s - (step - 1) + 300) % 3 : -1;
        rows.push_back({s, parent, step ? targets[size_t(s)][size_t(step - 1)] : 2});
      }
      const Matrix logits = decoding.step(rows);
      for (int i = 0; i < 3; ++i) {
        const auto& expected = wanted[size_t(rows[size_t(i)].sentence)][size_t(step)];
        const auto found = row_of(logits, i);
        double largest = 0, difference = 0;
        for (size_t j = 0; j < 71; ++j) {
          largest = std::max(largest, std::abs(expected[j]));
          difference = std::max(difference, std::abs(found[j] - expected[j]));
        }
        BOOST_TEST(difference <= tolerance * largest);
      }
    }
  }
}

ModelConfig pre_norm_config() {
  ModelConfig c = small_config(3);
  c.norm = NormPosition::pre;
  c.activation = Activation::gelu;
  c.attention_bias = true;
  c.tie = Tie::none;
  c.d_k = 8;
  c.d_v = 20;
  c.positions = PositionEncoding::learned;
  c.max_positions = 64;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cached_equals_uncached_f64) {
  compare_with_teacher_forcing(DType::f64, small_config(), 1e-12);
  compare_with_teacher_forcing(DType::f64, pre_norm_config(), 1e-12);
}

BOOST_AUTO_TEST_CASE(cached_equals_uncached_f32) {
  compare_with_teacher_forcing(DType::f32, small_config(), 1e-5);
  compare_with_teacher_forcing(DType::f32, pre_norm_config(), 1e-5);
}

BOOST_AUTO_TEST_CASE(cached_equals_uncached_bf16) {
  compare_with_teacher_forcing(DType::bf16, small_config(), 3e-2);
}

// A sentence's logits have the same bits in every batch and at every position in it.
BOOST_AUTO_TEST_CASE(logits_do_not_depend_on_the_batch) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    RandomModel m(small_config(), dtype, 64), m3(small_config(), dtype, 64, 3);
    const std::vector<int> sentence = random_sentence(42, 17);
    const std::string alone = bits_in_batch(m, sentence, 0, 0);
    std::set<int> different;
    for (int rows = 2; rows <= 130; ++rows) {
      const int before = rows % 3 == 0 ? 0 : rows % 3 == 1 ? rows - 1 : rows / 2;
      if (bits_in_batch(m, sentence, before, rows - 1 - before) != alone) different.insert(rows);
      if (rows % 13 == 0 && bits_in_batch(m3, sentence, before, rows - 1 - before) != alone) {
        different.insert(-rows);
      }
    }
    BOOST_TEST(different.empty());
  }
}
