#include "lib/report/report.h"

#include <boost/test/unit_test.hpp>

#include "lib/report/describe_page.h"
#include "lib/train/options/schedule.h"

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
  const Json data = describe_data(config, options);
  const Json& rates = data.at("schedule").at("rates");
  BOOST_TEST(rates.size() == 50U);  // each step once
  for (const Json& point : rates)
    BOOST_TEST(point[1].get<double>() ==
               learning_rate(options, config.d_model, point[0].get<int64_t>()));
  options.steps = 0;
  BOOST_TEST(describe_data(config, options).at("schedule").at("steps").get<int>() == 100000);
  int64_t sum = 0;
  for (const Json& entry : data.at("parameters"))
    sum += entry.at("rows").get<int64_t>() * entry.at("columns").get<int64_t>();
  BOOST_TEST(sum == data.at("total").get<int64_t>());
}
