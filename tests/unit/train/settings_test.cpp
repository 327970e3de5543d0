// Options become the settings of the parts.
#include "lib/train/settings.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"

using namespace tx;

BOOST_AUTO_TEST_SUITE(settings)

BOOST_AUTO_TEST_CASE(of_a_step) {
  TrainOptions o;
  o.dropout = 0.2;
  o.attention_dropout = 0.3;
  o.relu_dropout = 0.4;
  o.seed = (uint64_t(1) << 32) + 5;
  o.weight_decay = 0.01;
  o.optimizer = "sgd";
  const StepSettings s = step_settings(o);
  BOOST_TEST(s.dropout.dropout == 0.2);
  BOOST_TEST(s.dropout.attention_dropout == 0.3);
  BOOST_TEST(s.dropout.relu_dropout == 0.4);
  BOOST_TEST(s.dropout.seed == o.mask_seed());
  BOOST_TEST(s.dropout.seed != 5u);
  BOOST_TEST(s.adam.beta2 == 0.98);
  BOOST_TEST(s.adam.weight_decay == 0.01);
  BOOST_TEST((s.optimizer == Optimizer::sgd));
  BOOST_TEST((step_settings({}).optimizer == Optimizer::adam));
}

BOOST_AUTO_TEST_CASE(of_a_guided_head) {
  TrainOptions o;
  o.model.config.set_layers(3);
  BOOST_TEST(step_settings(o).guidance.layer == -1);
  BOOST_TEST(!progress_settings(o).guided);
  o.guided_alignment = "links";
  o.guided_weight = 0.3;
  o.guided_shift = true;
  BOOST_TEST(step_settings(o).guidance.layer == 2);
  BOOST_TEST(step_settings(o).guidance.head == 0);
  BOOST_TEST(step_settings(o).guidance.weight == 0.3);
  BOOST_TEST(feed_settings(o).shift_links);
  BOOST_TEST(progress_settings(o).guided);
  o.guided_head = "1.7";
  BOOST_TEST(step_settings(o).guidance.layer == 1);
  BOOST_TEST(step_settings(o).guidance.head == 7);
  for (const char* bad : {"3.0", "0.8", "1", "1.", ".1", "1.2.3", "-1.0", "1.x", "99999999999.0"}) {
    o.guided_head = bad;
    BOOST_CHECK_THROW(step_settings(o), UsageError);
  }
}

BOOST_AUTO_TEST_CASE(of_batches) {
  TrainOptions o;
  BOOST_TEST(batch_request(o).tokens == 25000);
  o.batch_tokens = "auto";
  o.memory = "2G";
  BOOST_TEST(batch_request(o).tokens == 0);
  BOOST_TEST(batch_request(o).memory == "2G");
}

BOOST_AUTO_TEST_CASE(of_checkpoints) {
  TrainOptions o;
  o.save_every = 10;
  BOOST_TEST(checkpoint_settings(o, Json::object()).former.empty());
  const Json config = parse_json(R"({"saves_before":[{"until":8,"every":4}]})", "config");
  const CheckpointSettings s = checkpoint_settings(o, config);
  BOOST_TEST(s.every == 10);
  BOOST_TEST(s.keep == 5);
  BOOST_REQUIRE(s.former.size() == 1u);
  BOOST_TEST((s.former[0].until == 8 && s.former[0].every == 4));
}

BOOST_AUTO_TEST_CASE(of_clocks) {
  TrainOptions o;
  o.minutes = 2;
  BOOST_TEST(session_settings(o).seconds == 120);
  BOOST_TEST(progress_settings(o).seconds == 120);
}

BOOST_AUTO_TEST_SUITE_END()
