// How many steps a run has, and the schedule that fits them.
#include <boost/test/unit_test.hpp>

#include "lib/train/options/schedule.h"

using namespace tx;

namespace {

// The options of this command line, fitted.
TrainOptions fitted(const std::string& preset, std::vector<const char*> words) {
  TrainOptions settings;
  settings.apply_preset(preset);
  Options options("tx-train", "");
  settings.describe(options);
  words.insert(words.begin(), "tx-train");
  BOOST_TEST(options.parse(int(words.size()), words.data()));
  fit_schedule(settings, options);
  return settings;
}

bool by_minutes(std::vector<const char*> words) {
  TrainOptions settings;
  Options options("tx-train", "");
  settings.describe(options);
  words.insert(words.begin(), "tx-train");
  BOOST_TEST(options.parse(int(words.size()), words.data()));
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
  for (const char* preset : {"base", "big", "tiny", "modern", "toy"}) {
    TrainOptions own;
    own.apply_preset(preset);
    const TrainOptions o = fitted(preset, {});
    BOOST_TEST(o.warmup == own.warmup, preset);
    BOOST_TEST(o.save_every == own.save_every, preset);
    BOOST_TEST(o.lr_factor == 1, preset);
  }
  BOOST_TEST(fitted("base", {"--steps", "50000"}).warmup == 4000);
}

BOOST_AUTO_TEST_CASE(a_shorter_run_warms_up_for_a_sixth_of_it) {
  const TrainOptions modern = fitted("modern", {"--steps", "700"});
  BOOST_TEST(modern.warmup == 116);
  BOOST_TEST(modern.save_every == 212);
  const TrainOptions tiny = fitted("tiny", {"--steps", "100"});
  BOOST_TEST(tiny.warmup == 16);
  BOOST_TEST(tiny.save_every == 25);  // else there would be none before the end
  BOOST_TEST(fitted("toy", {"--steps", "1"}).warmup == 1);
  BOOST_TEST(fitted("toy", {"--steps", "1"}).save_every == 1);
}

BOOST_AUTO_TEST_CASE(schedule_paper_keeps_its_highest_rate) {
  BOOST_TEST(highest_rate(fitted("base", {"--steps", "600"})) ==
                 highest_rate(fitted("base", {"--steps", "24000"})),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(fitted("base", {"--steps", "600", "--lr-factor", "2"}).lr_factor == 2);
}

BOOST_AUTO_TEST_CASE(what_is_given_stays) {
  const TrainOptions o =
      fitted("modern", {"--steps", "700", "--warmup", "800", "--save-every", "1000"});
  BOOST_TEST(o.warmup == 800);
  BOOST_TEST(o.save_every == 1000);
  for (const char* start : {"--config", "--resume"})
    BOOST_TEST(fitted("modern", {start, "run", "--steps", "700"}).warmup == 800, start);
}

BOOST_AUTO_TEST_CASE(minutes_alone_ask_for_the_steps_that_fit) {
  BOOST_TEST(by_minutes({"--minutes", "15"}));
  BOOST_TEST(by_minutes({"--minutes", "15", "--init", "model"}));
  BOOST_TEST(!by_minutes({}));
  BOOST_TEST(!by_minutes({"--minutes", "0"}));
  BOOST_TEST(!by_minutes({"--minutes", "15", "--steps", "100"}));
  BOOST_TEST(!by_minutes({"--minutes", "15", "--steps", "0"}));
  for (const char* start : {"--config", "--resume"})
    BOOST_TEST(!by_minutes({"--minutes", "15", start, "run"}), start);
}

BOOST_AUTO_TEST_CASE(steps_leave_time_for_validations_and_saves) {
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 0, .every = 0}) == 200);
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 10, .every = 0}) == 180);
  BOOST_TEST(steps_in(100, {.step = 0.5, .pause = 10, .every = 20}) == 100);
  BOOST_TEST(steps_in(0.4, {.step = 0.5, .pause = 0, .every = 0}) == 0);
  BOOST_TEST(steps_in(-3, {.step = 0.5, .pause = 1, .every = 20}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
