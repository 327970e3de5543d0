// Initial weights: Xavier's bound by each matrix's own fans, the embedding's deviation.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>
#include <string>

#include "lib/model/parameters.h"

using namespace tx;

namespace {

ModelConfig small(int d_model, int d_ff, int heads, int64_t vocabulary) {
  ModelConfig c;
  c.set_vocabularies(vocabulary);
  c.set_layers(1);
  c.d_model = d_model;
  c.d_ff = d_ff;
  c.heads = heads;
  c.attention_bias = true;
  c.resolve();
  return c;
}

struct Weights {
  Weights(const ModelConfig& config, uint32_t seed)
      : backend(make_backend(Device::cpu, 1)),
        parameters(Parameters::only_weights(backend, config, DType::f32)) {
    parameters.initialise(seed);
  }
  std::span<const float> operator[](const std::string& name) const {
    for (const ParameterEntry& e : parameters.table())
      if (e.name == name)
        return {static_cast<const float*>(parameters.fp32_weights(e).data),
                size_t(e.rows * e.cols)};
    throw std::runtime_error("no " + name);
  }
  Backend backend;
  Parameters parameters;
};

double largest(std::span<const float> values) {
  double max = 0;
  for (const float x : values) max = std::max(max, double(std::abs(x)));
  return max;
}

double mean_square(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += double(x) * x;
  return sum / double(values.size());
}

double mean(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += x;
  return sum / double(values.size());
}

// Uniform in (-bound, bound): the largest value nearly reaches the bound, and the variance fits.
void check_uniform(std::span<const float> values, double bound, const std::string& name) {
  BOOST_TEST(largest(values) <= bound * (1 + 1e-6), name);
  BOOST_TEST(largest(values) > bound * 0.995, name);
  BOOST_TEST(std::abs(mean_square(values) / (bound * bound / 3) - 1) < 0.05, name);
  BOOST_TEST(std::abs(mean(values)) < 5 * bound / std::sqrt(3.0 * double(values.size())), name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(xavier_by_the_fans_of_each_matrix) {
  const Weights base(small(512, 2048, 8, 2000), 1);
  // Queries, keys and values lie side by side, but each has its own fans.
  for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                           "self_attn.out_proj", "cross_attn.q_proj", "cross_attn.v_proj"}) {
    const std::string full = "decoder.layers.0." + std::string(name) + ".weight";
    check_uniform(base[full], 0.0765466, full);
  }
  check_uniform(base["encoder.layers.0.ffn.in_proj.weight"], 0.0484123, "ffn.in_proj");
  check_uniform(base["encoder.layers.0.ffn.out_proj.weight"], 0.0484123, "ffn.out_proj");
  const Weights toy(small(64, 256, 4, 13), 1);
  check_uniform(toy["encoder.layers.0.self_attn.k_proj.weight"], 0.2165064, "64 x 64");
}

// A decoder of two layers has six sub-layers. Only the last matrix of a sub-layer is scaled.
BOOST_AUTO_TEST_CASE(the_ends_of_sub_layers_begin_smaller_on_request) {
  ModelConfig c = small(256, 256, 4, 13);
  c.set_layers(2);
  c.scaled_init = true;
  const Weights w(c, 1);
  const double bound = std::sqrt(6.0 / 512);
  for (const char* part : {"self_attn.out_proj", "cross_attn.out_proj", "ffn.out_proj"})
    check_uniform(w["decoder.layers.1." + std::string(part) + ".weight"], bound / std::sqrt(6.0),
                  part);
  check_uniform(w["encoder.layers.0.ffn.out_proj.weight"], bound / 2, "encoder");
  check_uniform(w["encoder.layers.0.ffn.in_proj.weight"], bound, "ffn.in_proj");
}

BOOST_AUTO_TEST_CASE(embeddings_and_vectors) {
  const Weights base(small(512, 64, 8, 4000), 1);
  const double deviation = std::sqrt(mean_square(base["embedding.weight"]));
  BOOST_TEST(std::abs(deviation - 0.0441942) < 0.0441942 * 0.004);  // 4 sigma of 2 million
  BOOST_TEST(largest(base["embedding.weight"]) > 4 * 0.0441942);    // normal, not uniform
  for (const ParameterEntry& e : base.parameters.table()) {
    if (!e.vector) continue;
    const float wanted = e.name.ends_with("norm.weight") ? 1.0F : 0.0F;
    for (const float x : base[e.name]) BOOST_REQUIRE_MESSAGE(x == wanted, e.name);
  }
}

BOOST_AUTO_TEST_CASE(learned_positions_are_as_large_as_sinusoids_beside_scaled_embeddings) {
  ModelConfig c = small(512, 64, 8, 100);
  c.positions = tx::PositionEncoding::learned, c.max_positions = 512;
  for (const bool scaled : {true, false}) {
    c.scaled_embeddings = scaled;
    const Weights w(c, 1);
    const double wanted = scaled ? std::sqrt(0.5) : 0.0441942;
    const double got = std::sqrt(mean_square(w["encoder.positions.weight"]));
    BOOST_TEST(std::abs(got - wanted) < wanted * 0.006);  // 4 sigma of 262,144
    BOOST_TEST(std::sqrt(mean_square(w["embedding.weight"])) < 0.05);
  }
}

BOOST_AUTO_TEST_CASE(the_seed_decides) {
  const ModelConfig config = small(64, 64, 4, 100);
  const Weights first(config, 7), again(config, 7), other(config, 8);
  const std::string name = "encoder.layers.0.self_attn.q_proj.weight";
  BOOST_TEST(std::ranges::equal(first[name], again[name]));
  BOOST_TEST(!std::ranges::equal(first[name], other[name]));
  BOOST_TEST(!std::ranges::equal(first[name], first["encoder.layers.0.self_attn.k_proj.weight"]));
}

BOOST_AUTO_TEST_CASE(padding_of_the_vocabulary_is_zero) {
  const Weights w(small(64, 64, 4, 13), 1);
  const ParameterEntry& e = w.parameters.table().front();
  BOOST_TEST(e.name == "embedding.weight");
  BOOST_TEST(e.padded_rows == 64);
  const auto* block = static_cast<const float*>(w.parameters.fp32_weights(e).data);
  for (int64_t i = 13 * 64; i < 64 * 64; ++i) BOOST_REQUIRE(block[i] == 0);
}
