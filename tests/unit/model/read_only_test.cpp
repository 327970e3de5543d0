// Parameters loaded for inference only: the same bits of logits as weights packed in place; with
// 8-bit weights, similar logits that are batch-invariant.
#include <boost/test/unit_test.hpp>

#include "tests/unit/model/small_model.h"

using namespace tx;
using namespace tx_test;

namespace {

std::vector<Sentence> sentences() { return {sentence_of(0, 7, 9), sentence_of(1, 3, 4)}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(read_only)

BOOST_AUTO_TEST_CASE(the_logits_of_weights_packed_in_place) {
  std::vector<ModelConfig> configs = later_configs();
  for (const char* positions : {"sinusoid", "learned"})
    for (const Tie tie : {Tie::all, Tie::target, Tie::none}) {
      configs.push_back(small_config("post", positions));
      configs.back().tie = tie;
    }
  for (const ModelConfig& config : configs)
    for (const DType t : {DType::f32, DType::bf16}) {
      SmallModel in_place(config, t, true);
      SmallModel read(SmallModel(config, DType::f32), t);
      BOOST_TEST((read.logits(sentences()) == in_place.logits(sentences())));
    }
}

BOOST_AUTO_TEST_CASE(int8_is_near) {
  std::vector<ModelConfig> configs = later_configs();
  for (const Tie tie : {Tie::all, Tie::none}) {
    configs.push_back(small_config());
    configs.back().tie = tie;
  }
  for (const ModelConfig& config : configs) {
    SmallModel exact(config, DType::f32, true);
    SmallModel read(SmallModel(config, DType::f32), DType::i8);
    BOOST_TEST((read.parameters.dtype() == DType::f32));
    const Rows wanted = exact.logits(sentences()), got = read.logits(sentences());
    double error = 0, square = 0;
    for (size_t i = 0; i < wanted.size(); ++i)
      for (size_t j = 0; j < wanted[i].size(); ++j)
        error += std::pow(got[i][j] - wanted[i][j], 2), square += std::pow(wanted[i][j], 2);
    BOOST_TEST(std::sqrt(error / square) < 0.05);
    BOOST_TEST(std::sqrt(error / square) > 1e-4);
    const Rows alone = read.logits({sentence_of(1, 3, 4)});
    const Rows last(got.end() - ptrdiff_t(alone.size()), got.end());
    BOOST_TEST((alone == last));  // batch-invariant
  }
}

BOOST_AUTO_TEST_SUITE_END()
