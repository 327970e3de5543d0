// A text, a model and its Stepper, small enough for a test to train.
#pragma once
#include "lib/train/step/step.h"
#include "tests/model_support.h"
#include "tests/unit/data/packing_fixture.h"

namespace tx_test {

// Sentences like captions, two batches of them, and their capacities.
struct TinyText : tx::PackingFixture {
  tx::IdCache text = make(tx::captions(60));
  std::vector<tx::Batch> batches = std::vector<tx::Batch>(2);
  std::vector<int> capacities;
  TinyText() {
    tx::PackerOptions packing;
    packing.batch_tokens = 256;
    tx::Packer packer(text, packing);
    for (tx::Batch& batch : batches) BOOST_REQUIRE(packer.next(batch));
    capacities = packer.capacities();
  }
};

// Options without dropout, label smoothing and clipping.
inline tx::TrainOptions plain_options() {
  tx::TrainOptions o;
  o.dropout = o.label_smoothing = o.clip_norm = 0;
  return o;
}

// One layer on each side with the weights of seed 3, and its Stepper.
struct TinyModel {
  const tx::TrainOptions options;
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Parameters parameters;
  tx::Transformer transformer;
  tx::Stepper stepper;
  TinyModel(const tx::TrainOptions& of, int words, const std::vector<int>& capacities,
            tx::DType dtype = tx::DType::f32, tx::RankOf self = {}, int d_model = 16)
      : options(of),
        parameters(tx::Parameters::for_training(backend, config_of(words, d_model), dtype, self)),
        transformer(backend, parameters, 128),
        stepper(backend, parameters, transformer, options) {
    parameters.initialise(3);
    stepper.reserve(tx::Stepper::plan(backend, parameters, transformer, options, capacities));
  }
  static tx::ModelConfig config_of(int words, int d_model = 16) {
    tx::ModelConfig c;
    c.set_vocabularies(words);
    c.set_layers(1);
    c.d_model = d_model;
    c.d_ff = 32;
    c.heads = 2;
    c.resolve();
    return c;
  }
  std::vector<double> weights() { return to_host(backend, parameters.fp32_weights()); }
};

}  // namespace tx_test
