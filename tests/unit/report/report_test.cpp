#include "lib/report/report.h"

#include <boost/test/unit_test.hpp>

#include "lib/train/plan/schedule.h"

using namespace tx;

namespace {

RunLog run_of(const char* name, Json options) {
  RunLog run;
  run.name = name;
  run.options = std::move(options);
  return run;
}

}  // namespace

BOOST_AUTO_TEST_CASE(options_are_shared_or_differ) {
  const Json data =
      report_data({run_of("a", {{"seed", 1}, {"lr", 0.1}}), run_of("b", {{"seed", 1}, {"lr", 0.2}}),
                   run_of("c", {{"seed", 1}, {"lr", 0.1}, {"new", true}})});
  BOOST_TEST(data.at("runs").size() == 3U);
  BOOST_TEST(data.at("common") == Json({{"seed", 1}}));
  const Json differing = {{{"option", "lr"}, {"values", {0.1, 0.2, 0.1}}},
                          {{"option", "new"}, {"values", {nullptr, nullptr, true}}}};
  BOOST_TEST(data.at("differing") == differing);
}

BOOST_AUTO_TEST_CASE(the_schedule_is_that_of_the_training) {
  ModelConfig config;
  config.set_vocabularies(100);
  config.resolve();
  TrainOptions options;
  options.warmup = 10;
  options.steps = 50;
  DescribedRun run{{options, config}, {}, {100, 100}};
  run.memory.parameters = 1000;
  run.memory.activations = 500;
  const Json data = describe_data(run);
  const Json& rates = data.at("schedule").at("rates");
  BOOST_TEST(rates.size() == 50U);  // each step once
  for (const Json& point : rates)
    BOOST_TEST(point[1].get<double>() ==
               learning_rate(options, config.d_model, point[0].get<int64_t>()));
  run.options.steps = 0;
  BOOST_TEST(describe_data(run).at("schedule").at("steps").get<int>() == 100000);
  int64_t sum = 0;
  for (const Json& entry : data.at("parameters"))
    sum += entry.at("rows").get<int64_t>() * entry.at("columns").get<int64_t>();
  BOOST_TEST(sum == data.at("total").get<int64_t>());
  BOOST_TEST(data.at("memory").at("total") == 1500);
  BOOST_TEST(data.at("memory").at("parts")[0] == Json({{"name", "parameters"}, {"bytes", 1000}}));
  BOOST_TEST(data.at("step").at("tokens")[1] == Json({{"side", "target"}, {"tokens", 100}}));
  BOOST_TEST(data.at("step").at("flops").get<double>() == step_flops(config, {100, 100}));
}

// The warm-up of a short run ends before the first line of its log; it is computed from the
// options, unless they are not those of the log.
BOOST_AUTO_TEST_CASE(rates_between_the_lines_of_the_log) {
  RunLog run = run_of("a", {{"schedule", "linear"},
                            {"warmup", 20},
                            {"lr", 0.01},
                            {"lr-factor", 1.0},
                            {"steps", 120},
                            {"d-model", 64}});
  run.steps = {{"step", {100, 120}}, {"learning_rate", {0.002, 0.0}}};
  const Json rates = report_data({run}).at("runs")[0].at("rates");
  BOOST_REQUIRE(rates.size() == 120U);
  BOOST_TEST(rates[9] == Json({10, 0.005}));
  BOOST_TEST(rates[19] == Json({20, 0.01}));
  run.steps["learning_rate"][0] = 0.003;
  BOOST_TEST(report_data({run}).at("runs")[0].at("rates").empty());
  run.options.erase("warmup");
  run.steps["learning_rate"][0] = 0.002;
  BOOST_TEST(report_data({run}).at("runs")[0].at("rates").empty());
}
