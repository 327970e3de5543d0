// A masked head adds nothing: its columns of the output projection are zero.
#include "lib/model/head_mask.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/model/small_model.h"

using namespace tx;
using namespace tx_test;

BOOST_AUTO_TEST_SUITE(head_mask)

BOOST_AUTO_TEST_CASE(only_its_columns_of_the_projection_are_zero) {
  const ModelConfig config = small_config();
  SmallModel model(config, DType::f32);
  const HeadMask mask("cross.1.2,cross.1.0", config, "--mask-heads");
  const Fp32Source full(model.parameters);
  const MaskedWeights masked(full, mask, config.d_v);
  int64_t zeroed = 0;
  for (const ParameterEntry& e : model.parameters.table()) {
    std::vector<float> wanted(size_t(e.padded_rows * e.cols)), got(wanted.size());
    full.rows(e).read(0, e.padded_rows, wanted.data());
    masked.rows(e).read(0, e.padded_rows, got.data());
    if (e.name == "decoder.layers.1.cross_attn.out_proj.weight") {
      for (size_t i = 0; i < wanted.size(); ++i) {
        const int head = int(int64_t(i) % e.cols) / config.d_v;
        if (head != 0 && head != 2) continue;
        wanted[i] = 0, ++zeroed;
      }
    }
    BOOST_TEST((wanted == got));
  }
  BOOST_TEST(zeroed == 2 * config.d_v * config.d_model);
}

BOOST_AUTO_TEST_CASE(every_attention_of_a_model_has_a_name) {
  const ModelConfig config = small_config();
  const HeadMask mask("encoder.*.1,decoder.0.*", config, "--mask-heads");
  const std::set<int> one{1}, all{0, 1, 2, 3};
  for (const char* layer : {"0", "1"}) {
    const std::string name = std::string("encoder.layers.") + layer + ".self_attn.out_proj.weight";
    BOOST_REQUIRE(mask.find(name));
    BOOST_TEST((*mask.find(name) == one));
  }
  BOOST_TEST((*mask.find("decoder.layers.0.self_attn.out_proj.weight") == all));
  BOOST_TEST(!mask.find("decoder.layers.1.self_attn.out_proj.weight"));
  BOOST_TEST(!mask.find("decoder.layers.0.cross_attn.out_proj.weight"));
  BOOST_TEST(HeadMask("", config, "--mask-heads").empty());
}

BOOST_AUTO_TEST_SUITE_END()
