// The factors of a product's inputs: those of the encoder's first product by hand.
#include "lib/convert/calibrate.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/unit/convert/ctranslate2_binary.h"

using namespace tx_test;

BOOST_AUTO_TEST_CASE(factors_of_inputs) {
  const TempFolder folder;
  ModelConfig config = small_config();
  config.positions = PositionEncoding::learned;
  config.max_positions = 70;
  SampleModel(1, DType::f32, config).save(folder / "m");
  const ModelReader model(folder / "m");
  const std::vector<float> embedding = weights(model, {"embedding.weight"}),
                           positions = weights(model, {"encoder.positions.weight"});
  // "b a" and </s>; the first three tokens are special ones.
  std::vector<double> largest;
  for (const int id : {5, 4, 3}) {
    double most = 0;
    for (size_t j = 0; j < 6; ++j)
      most = std::max(most, std::abs(embedding[size_t(id) * 6 + j] * std::sqrt(6.0) +
                                     positions[largest.size() * 6 + j]));
    largest.push_back(most);
  }
  const double mean = (largest[0] + largest[1] + largest[2]) / 3;
  double variance = 0;
  for (const double x : largest) variance += (x - mean) * (x - mean) / 3;
  const auto once = input_factors(model, folder.file("once", "b a\n"));
  const auto twice = input_factors(model, folder.file("twice", "b a\n\nb a\n"));
  BOOST_TEST(
      127 / once.at("encoder.layers.0.self_attn.q_proj.weight") == mean + 2.5 * std::sqrt(variance),
      boost::test_tools::tolerance(1e-5));
  for (const char* name :
       {"embedding.weight", "encoder.layers.0.ffn.out_proj.weight",
        "decoder.layers.0.self_attn.q_proj.weight", "decoder.layers.0.cross_attn.k_proj.weight",
        "decoder.layers.0.cross_attn.out_proj.weight"})
    BOOST_TEST(once.at(name) == twice.at(name), boost::test_tools::tolerance(1e-4F));
  BOOST_TEST(once.count("encoder.layers.0.self_attn.k_proj.weight") == 0U);  // joined to q_proj
  BOOST_CHECK_THROW(input_factors(model, folder.file("blank", "\n \n")), DataError);
}
