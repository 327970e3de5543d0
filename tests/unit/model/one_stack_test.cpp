// Models of one stack: decoder-only and encoder-only.
#include <algorithm>

#include "lib/base/json.h"
#include "tests/unit/model/small_model.h"

using namespace tx_test;
using tx::DType;
using tx::ModelConfig;
using tx::ModelKind;

namespace {

const char* const norms[] = {"post", "pre"};
constexpr ModelKind one_stack[] = {ModelKind::decoder, ModelKind::encoder};

// Smooth everywhere, so that finite differences of the loss approximate its gradient.
ModelConfig config_of(ModelKind kind, const char* norm = "post",
                      const char* positions = "sinusoid") {
  ModelConfig c = small_config(norm, positions, kind);
  c.activation = tx::Activation::gelu;
  return c;
}

std::vector<Sentence> some_sentences() {
  return {sentence_of(1, 1, 9), sentence_of(2, 1, 30), sentence_of(3, 1, 1)};
}

Sentence changed_at(Sentence s, size_t at) {
  s.target[at] = s.target[at] == 5 ? 6 : 5;
  return s;
}

// Moves every element of a parameter by step times its direction.
void move(SmallModel& small, const tx::ParameterEntry& e, const std::vector<double>& direction,
          double step) {
  const tx::Matrix m = small.parameters.fp32_weights(e);
  std::vector<double> values = to_host(small.backend, m);
  for (size_t i = 0; i < values.size(); ++i) values[i] += step * direction[i];
  to_device(small.backend, values, m);
}

// The gradient of every parameter along a random direction against central differences.
void check_gradients(const ModelConfig& config) {
  constexpr double h = 1e-4;
  SmallModel small(config, DType::f64);
  const std::vector<Sentence> batch = some_sentences();
  const std::vector<double> gradients = small.gradients({batch}, {});
  for (const tx::ParameterEntry& e : small.parameters.table()) {
    const size_t size = size_t(e.rows * e.cols);
    const std::vector<double> direction = value("direction of " + e.name, 0, size);
    double along = 0, length = 0;
    for (size_t i = 0; i < size; ++i) {
      const double g = gradients[size_t(e.offset) + i];
      along += g * direction[i];
      length += std::abs(g * direction[i]);
    }
    move(small, e, direction, h);
    const double up = small.loss(batch);
    move(small, e, direction, -2 * h);
    const double slope = (up - small.loss(batch)) / (2 * h);
    move(small, e, direction, h);
    // A bias of all keys does not change softmax.
    const bool nothing = e.name.ends_with("k_proj.bias");
    BOOST_TEST_CONTEXT(e.name << " " << slope << " " << along) {
      BOOST_TEST((nothing || length > 1e-3));
      BOOST_TEST(std::abs(slope - along) < 1e-5 * std::max(1.0, length));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_one_stack)

// One stack without cross-attention: as many weights as the paper's encoder and embedding.
BOOST_AUTO_TEST_CASE(the_table_holds_one_stack) {
  for (const ModelKind kind : one_stack) {
    ModelConfig c;
    c.set_kind(kind);
    c.set_vocabularies(37000);
    c.resolve();
    BOOST_TEST(parameter_count(c) == 18944000 + 6 * 3150336);
    BOOST_TEST(c.layers() == 6);
    const std::string other = kind == ModelKind::decoder ? "encoder." : "decoder.";
    for (const tx::ParameterEntry& e : parameter_table(c)) {
      BOOST_TEST(!e.name.starts_with(other), e.name);
      BOOST_TEST(e.name.find("cross_attn") == std::string::npos, e.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_configuration_goes_to_json_and_back) {
  const tx::Json json = config_of(ModelKind::decoder).to_json();
  BOOST_TEST(json.at("kind") == "decoder");
  BOOST_TEST(json.at("target_vocabulary") == 37);
  BOOST_TEST(json.at("decoder_layers") == 2);
  BOOST_TEST(!json.contains("source_vocabulary"));
  BOOST_TEST(!json.contains("encoder_layers"));
  const ModelConfig back = ModelConfig::from_json(json, "file");
  BOOST_TEST(back.sides.size() == 1u);
  BOOST_TEST(tx::to_text(back.to_json()) == tx::to_text(json));
  const ModelConfig encoder =
      ModelConfig::from_json(config_of(ModelKind::encoder).to_json(), "file");
  BOOST_TEST(encoder.kind.name == "encoder");
  BOOST_TEST(encoder.sides.front().layers == 2);
  BOOST_TEST(!encoder.is_decoder(0));
  BOOST_TEST(encoder.is_predicted(0));
}

// A file without a kind is an encoder-decoder.
BOOST_AUTO_TEST_CASE(without_a_kind_there_are_two_sides) {
  tx::Json json = small_config().to_json();
  json.erase("kind");
  const ModelConfig config = ModelConfig::from_json(json, "file");
  BOOST_TEST(config.sides.size() == 2u);
  BOOST_TEST(config.kind.name == "encoder-decoder");
}

// Bit for bit: a decoder's rows see themselves and earlier rows, an encoder's see all.
BOOST_AUTO_TEST_CASE(what_a_row_sees) {
  for (DType dtype : dtypes()) {
    for (const char* norm : norms) {
      for (const ModelKind kind : one_stack) {
        SmallModel small(config_of(kind, norm), dtype);
        const Sentence s = sentence_of(1, 1, 60);
        const Rows before = small.logits({s});
        BOOST_REQUIRE(before.size() == 60u);
        for (const size_t at : {1, 17, 48, 59}) {
          const Rows after = small.logits({changed_at(s, at)});
          for (size_t i = 0; i < 60; ++i) {
            const bool sees = kind == ModelKind::encoder || i >= at;
            BOOST_TEST((after[i] != before[i]) == sees, int(dtype) << " " << norm << " row " << i);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_every_parameter) {
  for (const ModelKind kind : one_stack)
    for (const char* norm : norms) check_gradients(config_of(kind, norm, "learned"));
}

BOOST_AUTO_TEST_CASE(gradients_of_ablations) {
  for (const ModelKind kind : one_stack)
    for (const char* norm : norms)
      for (const tx::NormType type : {tx::NormType::layer, tx::NormType::none})
        for (const bool residual : {false, true}) {
          if (type == tx::NormType::layer && residual) continue;
          ModelConfig config = config_of(kind, norm);
          config.norm_type = type;
          config.residual = residual;
          BOOST_TEST_CONTEXT(config.kind.name << " " << norm << " " << config.norm_type.name << " "
                                              << residual)
          check_gradients(config);
        }
}

BOOST_AUTO_TEST_CASE(gradients_of_separate_output_weights) {
  for (const tx::Tie tie : {tx::Tie::none, tx::Tie::target}) {
    ModelConfig config = config_of(ModelKind::decoder);
    config.tie = tie;
    check_gradients(config);
  }
}

BOOST_AUTO_TEST_CASE(recomputed_layers_give_the_same_bits) {
  const tx::DropoutRates masks{.3, .2, .1, 7, nullptr};
  for (const ModelKind kind : one_stack) {
    SmallModel small(config_of(kind), DType::f32);
    const std::vector<double> kept = small.gradients({some_sentences()}, masks);
    const size_t peak = small.peak;
    small.recompute = true;
    BOOST_TEST((small.gradients({some_sentences()}, masks) == kept));
    BOOST_TEST(small.peak < peak);
  }
}

BOOST_AUTO_TEST_CASE(probes_see_self_attention_alone) {
  for (const ModelKind kind : one_stack) {
    SmallModel small(config_of(kind), DType::f32);
    const PackedBatch batch(small.backend, some_sentences(), 1);
    std::vector<std::string> seen;
    const auto probe = [&](const tx::ProbedAttention& a) {
      if (!a.packed) return;
      seen.push_back(a.kind + std::to_string(a.layer) + (a.packed->causal ? " causal" : ""));
    };
    small.run([&](tx::Context& c) {
      seen.clear();
      return small.model->hidden(c, batch.sides, {}, probe).rows();
    });
    const bool decoder = kind == ModelKind::decoder;
    const std::vector<std::string> expected{decoder ? "decoder0 causal" : "encoder0",
                                            decoder ? "decoder1 causal" : "encoder1"};
    BOOST_TEST(seen == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
