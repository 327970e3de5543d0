// Models with 8-bit weights: written by tx-avg, read back, and refused where they are invalid.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/checkpoint/average.h"
#include "lib/checkpoint/transfer.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

// 8 and 20 outputs: joined q, k, v are whole groups in the second only.
ModelConfig config_of(int heads, int d_k) {
  ModelConfig config = small_config();
  config.heads = heads, config.d_k = config.d_v = d_k;
  return config;
}

struct Quantised {
  explicit Quantised(const ModelConfig& config = small_config()) : model(1, DType::f32, config) {
    model.save(folder / "full");
    AverageOptions options;
    options.inputs = {folder / "full"};
    options.out = path;
    options.to = DType::i8;
    average_models(options, Log("", true));
  }
  TempFolder folder;
  std::string path = folder / "int8";
  SampleModel model;
};

std::vector<float> all_rows(const ModelReader& reader, const ParameterEntry& e) {
  const WeightRows rows = reader.rows(e);
  std::vector<float> values(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, values.data());
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_model)

BOOST_AUTO_TEST_CASE(weights_come_back_within_half_a_step) {
  const Quantised q;
  const ModelReader full(q.folder / "full"), reader(q.path);
  BOOST_TEST((reader.has_int8() && !full.has_int8()));
  int64_t rounded = 0;
  for (const ParameterEntry& e : reader.table()) {
    const std::vector<float> wanted = all_rows(full, e), got = all_rows(reader, e);
    BOOST_REQUIRE(wanted.size() == got.size());
    for (int64_t r = 0; r < int64_t(wanted.size()) / e.cols; ++r) {
      float largest = 0;
      for (int64_t j = 0; j < e.cols; ++j)
        largest = std::max(largest, std::abs(wanted[size_t(r * e.cols + j)]));
      const float step = is_quantised(e) ? largest / 127 : 0;
      for (int64_t j = 0; j < e.cols; ++j) {
        const float error = std::abs(got[size_t(r * e.cols + j)] - wanted[size_t(r * e.cols + j)]);
        BOOST_TEST(error <= step * 0.5001f);
        rounded += error > 0;
      }
    }
  }
  BOOST_TEST(rounded > 100);
}

// Outputs that fill whole groups are used in the mapped file; others are packed again.
BOOST_AUTO_TEST_CASE(joined_matrices_are_used_in_place) {
  for (const int d_k : {3, 8}) {
    const Quantised q(config_of(2, d_k));
    const ModelReader reader(q.path);
    for (size_t i = 0; i < reader.table().size(); ++i) {
      if (reader.table()[i].name != "encoder.layers.0.self_attn.q_proj.weight") continue;
      const Int8Weights joined = reader.int8({&reader.table()[i], 3});
      BOOST_TEST((joined.groups != nullptr) == (d_k == 8));
      if (d_k == 8) BOOST_TEST((joined.rows == 48 && joined.cols == 6));
      if (d_k == 8) BOOST_TEST(reinterpret_cast<uintptr_t>(joined.groups) % 64 == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(training_from_it_is_refused) {
  const Quantised q;
  SampleModel other(2);
  const ModelReader reader(q.path);
  const std::string message = message_of<DataError>([&] { reader.load(other.parameters); });
  BOOST_TEST(message == q.path +
                            " holds 8-bit weights, which can only decode; give the model that "
                            "it was made from");
  AverageOptions options;
  options.inputs = {q.path};
  options.out = q.folder / "mean";
  BOOST_CHECK_THROW(average_models(options, Log("", true)), DataError);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_named) {
  const Quantised q;
  const std::string bytes = bytes_of(q.path);
  const auto message = [&](const std::string& from, const std::string& to) {
    const std::string path = q.folder.file("changed", with_header(bytes, from, to));
    return message_of<DataError>([&] { ModelReader reader(path); }).substr(path.size());
  };
  BOOST_TEST(message("\"embedding.weight.scale\"", "\"embedding.weight.skale\"") ==
             ": embedding.weight has no scales (the tensor embedding.weight.scale, F32 [7])");
  BOOST_TEST(message("\"shape\":[4,2,16,4]", "\"shape\":[2,4,16,4]") ==
             ": embedding.weight has the shape [2, 4, 16, 4], but its configuration needs "
             "[4, 2, 16, 4]");
}

BOOST_AUTO_TEST_SUITE_END()
