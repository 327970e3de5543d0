// Learning rates, the number of steps of a run, and a schedule that fits them.
#include "lib/train/plan/schedule.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace tx;

namespace {

void check(double value, double wanted) {
  BOOST_TEST(std::abs(value - wanted) <= 1e-6 * std::abs(wanted), value << " and " << wanted);
}

struct Rates {
  TrainOptions options;
  int64_t d_model = 512;
  double rate(int64_t step) const { return learning_rate(options, d_model, step); }
};

Rates paper(int64_t d_model, int64_t warmup = 4000) {
  Rates s;
  s.d_model = d_model;
  s.options.warmup = warmup;
  return s;
}

Rates other(Schedule kind) {
  Rates s;
  s.options.schedule = kind;
  s.options.lr = 0.01;
  s.options.warmup = 100;
  s.options.steps = 1100;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_papers_schedule_of_base) {
  const Rates s = paper(512);
  check(s.rate(1), 1.746928e-7);
  check(s.rate(100), 1.746928e-5);
  check(s.rate(1000), 1.746928e-4);
  check(s.rate(3999), 6.985966e-4);
  check(s.rate(4000), 6.987712e-4);
  check(s.rate(4001), 6.986839e-4);
  check(s.rate(16000), 3.493856e-4);
  check(s.rate(100000), 1.397542e-4);
}

BOOST_AUTO_TEST_CASE(the_papers_schedule_of_other_widths) {
  check(paper(1024).rate(1), 1.235265e-7);
  check(paper(1024).rate(4000), 4.941059e-4);
  check(paper(1024).rate(300000), 5.705443e-5);
  check(paper(64).rate(960), 4.743416e-4);
  check(paper(64).rate(4000), 1.976424e-3);
  check(paper(128, 2000).rate(2000), 1.976424e-3);
  Rates twice = paper(512);
  twice.options.lr_factor = 2;
  check(twice.rate(4000), 2 * 6.987712e-4);
}

BOOST_AUTO_TEST_CASE(the_others_warm_up_linearly) {
  for (const Schedule kind :
       {Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear, Schedule::constant}) {
    check(other(kind).rate(1), 0.0001);
    check(other(kind).rate(50), 0.005);
    check(other(kind).rate(100), 0.01);
  }
  Rates cold = other(Schedule::constant);
  cold.options.warmup = 0;
  check(cold.rate(1), 0.01);
}

BOOST_AUTO_TEST_CASE(and_fall_in_their_own_way) {
  check(other(Schedule::constant).rate(100000), 0.01);
  check(other(Schedule::inverse_sqrt).rate(400), 0.005);
  check(other(Schedule::linear).rate(600), 0.005);
  check(other(Schedule::linear).rate(850), 0.0025);
  check(other(Schedule::cosine).rate(600), 0.005);
  check(other(Schedule::cosine).rate(350), 0.01 * 0.5 * (1 + std::sqrt(0.5)));
  // At the end of the run and after it the rate is 0, never negative.
  for (const Schedule kind : {Schedule::cosine, Schedule::linear})
    for (const int64_t step : {1100, 1101, 5000}) BOOST_TEST(other(kind).rate(step) == 0.0);
}

namespace {

// The options of a command line after fit_schedule().
TrainOptions fitted(Preset preset, std::vector<const char*> words, const char* config = "{}") {
  TrainOptions settings;
  settings.apply_preset(preset);
  Options options("tx-train", "");
  settings.describe(options);
  words.insert(words.begin(), "tx-train");
  BOOST_TEST(options.parse(int(words.size()), words.data()));
  options.from_json(parse_json(config, "config"), "config");
  return fit_schedule(settings, options);
}

bool by_minutes(std::vector<const char*> words, const char* config = "{}") {
  TrainOptions settings;
  Options options("tx-train", "");
  settings.describe(options);
  words.insert(words.begin(), "tx-train");
  BOOST_TEST(options.parse(int(words.size()), words.data()));
  options.from_json(parse_json(config, "config"), "config");
  return steps_by_minutes(settings, options);
}

double highest_rate(const TrainOptions& o) {
  double highest = 0;
  for (int64_t step = 1; step <= o.steps; ++step)
    highest = std::max(highest, learning_rate(o, 512, step));
  return highest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_length)

BOOST_AUTO_TEST_CASE(a_preset_keeps_its_own_schedule) {
  for (const Preset preset :
       {Preset::base, Preset::big, Preset::small, Preset::tiny, Preset::modern, Preset::toy}) {
    TrainOptions own;
    own.apply_preset(preset);
    const TrainOptions o = fitted(preset, {});
    BOOST_TEST(o.warmup == own.warmup, name_of_value(preset));
    BOOST_TEST(o.save_every == own.save_every, name_of_value(preset));
    BOOST_TEST(o.lr_factor == 1, name_of_value(preset));
  }
  BOOST_TEST(fitted(Preset::base, {"--steps", "50000"}).warmup == 4000);
}

BOOST_AUTO_TEST_CASE(a_shorter_run_warms_up_for_a_sixth_of_it) {
  const TrainOptions modern = fitted(Preset::modern, {"--steps", "700"});
  BOOST_TEST(modern.warmup == 116);
  BOOST_TEST(modern.save_every == 53);
  const TrainOptions tiny = fitted(Preset::tiny, {"--steps", "100"});
  BOOST_TEST(tiny.warmup == 16);
  BOOST_TEST(tiny.save_every == 25);  // otherwise the only save would be at the end
  BOOST_TEST(fitted(Preset::toy, {"--steps", "1"}).warmup == 1);
  BOOST_TEST(fitted(Preset::toy, {"--steps", "1"}).save_every == 1);
}

BOOST_AUTO_TEST_CASE(schedule_paper_keeps_its_highest_rate) {
  BOOST_TEST(highest_rate(fitted(Preset::base, {"--steps", "600"})) ==
                 highest_rate(fitted(Preset::base, {"--steps", "24000"})),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(fitted(Preset::base, {"--steps", "600", "--lr-factor", "2"}).lr_factor == 2);
}

BOOST_AUTO_TEST_CASE(what_is_given_stays) {
  const TrainOptions o =
      fitted(Preset::modern, {"--steps", "700", "--warmup", "800", "--save-every", "1000"});
  BOOST_TEST(o.warmup == 800);
  BOOST_TEST(o.save_every == 1000);
  BOOST_TEST(
      fitted(Preset::modern, {"--config", "run", "--steps", "700"}, R"({"warmup": 800})").warmup ==
      800);
  BOOST_TEST(fitted(Preset::modern, {"--config", "run", "--steps", "700"}, "{}").warmup == 116);
}

BOOST_AUTO_TEST_CASE(minutes_alone_ask_for_the_steps_that_fit) {
  BOOST_TEST(by_minutes({"--minutes", "15"}));
  BOOST_TEST(by_minutes({"--minutes", "15", "--init", "model"}));
  BOOST_TEST(!by_minutes({}));
  BOOST_TEST(!by_minutes({"--minutes", "0"}));
  BOOST_TEST(!by_minutes({"--minutes", "15", "--steps", "100"}));
  BOOST_TEST(!by_minutes({"--minutes", "15", "--steps", "0"}));
  BOOST_TEST(!by_minutes({"--minutes", "15", "--config", "run"}, R"({"steps": 100})"));
}

BOOST_AUTO_TEST_CASE(steps_leave_time_for_validations_and_saves) {
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 0, .every = 0}) == 200);
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 10, .every = 0}) == 180);
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 10, .every = 20}) == 100);
  BOOST_TEST(steps_in(0.4, {.step = 0.5, .pause = 0, .every = 0}) == 0);
  BOOST_TEST(steps_in(-3, {.step = 0.5, .pause = 1, .every = 20}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
