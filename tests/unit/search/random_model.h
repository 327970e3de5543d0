// Small models with random weights and sentences for them.
#pragma once
#include <vector>

#include "lib/base/philox.h"
#include "lib/model/incremental_decoder.h"

namespace tx_test {

inline tx::ModelConfig small_config(int heads = 4) {
  tx::ModelConfig c;
  c.set_vocabularies(71);
  c.sides.front().layers = 2;
  c.sides.back().layers = 3;
  c.d_model = 48;
  c.d_ff = 80;
  c.heads = heads;
  c.resolve();
  return c;
}

// A model whose outputs vary: Xavier initialisation, and noise in every vector.
struct RandomModel {
  tx::Backend backend;
  tx::Parameters parameters;
  tx::Transformer transformer;

  RandomModel(const tx::ModelConfig& config, tx::DType dtype, int64_t longest, int threads = 1,
              bool prepare = true, uint32_t seed = 3)
      : backend(tx::make_backend(tx::Device::cpu, threads)),
        parameters(tx::Parameters::only_weights(backend, config, dtype)),
        transformer(fill(dtype, seed, prepare), parameters, longest) {}

 private:
  tx::Backend& fill(tx::DType dtype, uint32_t seed, bool prepare) {
    parameters.initialise(seed);
    tx::PhiloxStream random(seed, 99);
    for (const auto& e : parameters.table()) {
      if (!e.vector) continue;
      const tx::Matrix m = parameters.fp32_weights(e);
      for (int64_t i = 0; i < m.cols; ++i) {
        const double noise = 0.2 * random.normal();
        if (dtype == tx::DType::f64) m.row<double>(0)[i] += noise;
        if (dtype != tx::DType::f64) m.row<float>(0)[i] += float(noise);
      }
    }
    parameters.refresh_bf16_weights();
    if (prepare) parameters.prepare_inference();
    return backend;
  }
};

inline std::vector<int> random_sentence(uint32_t seed, int length, int vocabulary = 71) {
  tx::PhiloxStream random(seed, 7);
  std::vector<int> ids;
  for (int i = 1; i < length; ++i) ids.push_back(int(4 + random.next() % uint32_t(vocabulary - 4)));
  ids.push_back(3);
  return ids;
}

}  // namespace tx_test
