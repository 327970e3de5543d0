// Progress of a training: sums of a line, when lines are due, a log that cannot be written.
#include "lib/train/run/progress.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support.h"

using namespace tx;
using tx_test::run_in_child;

namespace {

StepDone step(int64_t number, double loss = 8) {
  StepDone done;
  done.record.step = number;
  done.record.loss = loss;
  done.record.nll = loss / 2;
  done.record.labels = 4;
  done.epoch = 1;
  done.tokens = 10;
  done.seconds = 0.5;
  done.total_tokens = 10 * number;
  return done;
}

// Options of a run without a limit.
TrainOptions every(int64_t steps) {
  TrainOptions options;
  options.log_every = steps;
  options.log_seconds = 0;
  options.steps = options.warmup = 0;
  return options;
}

// A progress log that keeps its lines or, if `full`, fails to write them. Tests set its clock.
struct Kept {
  explicit Kept(const TrainOptions& of, bool quiet = true, int64_t tokens = 0)
      : options(of),
        log("tx-x", quiet),
        progress(
            options, "RUN/log.jsonl",
            [this](const Json& line) {
              if (!full) lines.push_back(line);
              return !full;
            },
            log, [this] { return now; }) {
    progress.expect_tokens(tokens);
  }
  // Steps of 100 seconds each, up to `last`.
  void steps(int64_t last) {
    while (done < last) {
      now += 100;
      progress.add(step(++done));
    }
  }
  const TrainOptions options;
  const Log log;
  std::vector<Json> lines;
  bool full = false;
  double now = 5000;
  int64_t done = 0;
  ProgressLog progress;
};

// What a run with these options prints if each step takes 100 seconds.
std::string printed(const TrainOptions& options, int64_t steps, bool quiet = false,
                    int64_t tokens = 0) {
  return run_in_child([&] {
           Kept kept(options, quiet, tokens);
           kept.steps(steps);
           return 0;
         })
      .err;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(the_loss_of_a_guided_head_is_logged_if_one_is_trained) {
  TrainOptions options = every(2);
  Kept plain(options);
  options.guided_alignment = "links";
  Kept guided(options);
  for (int i = 1; i <= 4; ++i) {
    StepDone done = step(i);
    done.record.guided = i < 3 ? 3 * i : 0;
    done.record.guided_rows = i < 3 ? i + 1 : 0;
    plain.progress.add(done);
    guided.progress.add(done);
  }
  BOOST_TEST(!plain.lines.at(0).contains("guided_loss"));
  BOOST_TEST(guided.lines.at(0).at("guided_loss") == 1.8);  // 9 over 5 rows
  BOOST_TEST(guided.lines.at(1).at("guided_loss").is_null());
  BOOST_TEST(guided.lines.at(0).at("loss") == plain.lines.at(0).at("loss"));
}

BOOST_AUTO_TEST_CASE(a_line_tells_the_means_of_the_steps_since_the_last_one) {
  Kept kept(every(3));
  for (int i = 1; i <= 6; ++i) kept.progress.add(step(i, 4 * i));
  BOOST_TEST(kept.lines.size() == 2u);
  const Json& line = kept.lines.at(1);
  BOOST_TEST(line.at("step") == 6);
  BOOST_TEST(line.at("epoch") == 2);
  BOOST_TEST(line.at("loss") == 5);  // 16 + 20 + 24 over 12 labels
  BOOST_TEST(line.at("perplexity").get<double>() == std::exp(2.5));
  BOOST_TEST(line.at("tokens_per_second") == 20);
  BOOST_TEST(line.at("tokens") == 60);
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_is_left_out_of_the_means) {
  Kept kept(every(2));
  kept.progress.add(step(1, 8));
  kept.progress.add(step(2, std::numeric_limits<double>::infinity()));
  BOOST_TEST(kept.lines.at(0).at("loss") == 2);
  BOOST_TEST(kept.lines.at(0).at("tokens_per_second") == 20);
}

BOOST_AUTO_TEST_CASE(the_steps_left_over_get_a_line_of_their_own_and_those_forgotten_none) {
  Kept kept(every(0));
  kept.progress.flush();
  for (int i = 1; i <= 200; ++i) kept.progress.add(step(i));
  BOOST_TEST(kept.lines.empty());
  kept.progress.flush();
  kept.progress.flush();
  BOOST_TEST(kept.lines.size() == 1u);
  kept.progress.add(step(201));
  kept.progress.forget();
  kept.progress.flush();
  BOOST_TEST(kept.lines.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_line_on_standard_error) {
  const auto child = run_in_child([] {
    Kept kept(every(1), false);
    kept.progress.add(step(7));
    return 0;
  });
  BOOST_TEST(child.err ==
             "tx-x: step 7, epoch 2: loss 2.0000, perplexity 2.72, rate 0, norm 0, 20 tokens/s\n");
}

BOOST_AUTO_TEST_CASE(the_clock_asks_for_lines_on_standard_error_alone) {
  TrainOptions options = every(6);
  options.log_seconds = 250;
  Kept kept(options);
  kept.steps(12);
  BOOST_TEST(kept.lines.size() == 2u);
  const std::string rest = ", epoch 2: loss 2.0000, perplexity 2.72, rate 0, norm 0, 20 tokens/s\n";
  std::string wanted;
  // The first step; 300 seconds later; --log-every, which restarts the clock; and so on.
  for (const int n : {1, 4, 6, 9, 12}) wanted += "tx-x: step " + std::to_string(n) + rest;
  BOOST_TEST(printed(options, 12) == wanted);
  BOOST_TEST(printed(options, 12, true) == "");
}

BOOST_AUTO_TEST_CASE(no_step_is_printed_twice) {
  TrainOptions options = every(0);
  options.log_seconds = 1;
  const auto child = run_in_child([&] {
    Kept kept(options, false);
    kept.steps(1);
    kept.progress.flush();
    return int(kept.lines.size());
  });
  BOOST_TEST(child.status == 1);
  BOOST_TEST(child.err.find("step 1,") == child.err.rfind("step 1,"), child.err);
}

BOOST_AUTO_TEST_CASE(share_and_time_left_are_those_of_the_limit_that_ends_the_run_first) {
  TrainOptions options = every(3);
  options.steps = 12;
  int64_t tokens = 0;
  const auto printed_line = [&] { return printed(options, 3, false, tokens); };
  const auto last_words = [&] {
    const std::string text = printed_line();
    return text.substr(text.find(';') + 2);
  };
  BOOST_TEST(printed_line().find("step 3 of 12, epoch 2: ") != std::string::npos);
  BOOST_TEST(last_words() == "25.0 % done, 0:15:00 left\n");
  options.epochs = 2;
  tokens = 60;  // six steps of ten
  BOOST_TEST(last_words() == "50.0 % of --epochs 2, 0:05:00 left\n");
  options.minutes = 8;
  BOOST_TEST(last_words() == "62.5 % of --minutes 8, 0:03:00 left\n");
  BOOST_TEST(printed_line().find("step 3, epoch 2: ") != std::string::npos);
  options.steps = 6;
  tokens = 0;
  options.minutes = 100;
  BOOST_TEST(last_words() == "50.0 % done, 0:05:00 left\n");
  BOOST_TEST(printed(every(3), 3).find(';') == std::string::npos);  // no limit, so no end
}

BOOST_AUTO_TEST_CASE(the_length_of_the_run_is_logged_once_and_as_a_warning_if_it_is_days) {
  TrainOptions options = every(0);
  options.steps = 101;
  BOOST_TEST(printed(options, 5) == "tx-x: at this speed the run will end in about 3 hours\n");
  options.steps = 10002;
  BOOST_TEST(
      printed(options, 5, true) ==
      "tx-x: warning: at this speed the run will end in about 12 days; end it earlier with --steps "
      "or --minutes, also with --resume\n");
  options.steps = 2;  // already done
  BOOST_TEST(printed(options, 2) == "");
}

BOOST_AUTO_TEST_CASE(a_schedule_that_the_clock_cuts_is_warned_of_once) {
  TrainOptions options = every(0);
  options.minutes = 20;  // twelve steps
  options.steps = 100;
  const auto warnings = [&] { return printed(options, 5, true); };
  BOOST_TEST(warnings() == "");
  options.schedule = Schedule::linear;
  BOOST_TEST(warnings() ==
             "tx-x: warning: --minutes 20 will end this run at about step 12, but the learning "
             "rate reaches 0 only at step 100: give fewer --steps\n");
  options.steps = 13;
  BOOST_TEST(warnings() == "");
  options.warmup = 12;
  BOOST_TEST(
      warnings() ==
      "tx-x: warning: --minutes 20 will end this run at about step 12, before the end of its "
      "warm-up of 12 steps: the learning rate only rises; give a smaller --warmup\n");
  options.steps = 12;
  BOOST_TEST(warnings() == "");  // --steps ends the run
}

// Too short for the estimate, or slower than it: the end tells.
BOOST_AUTO_TEST_CASE(a_schedule_that_the_clock_has_cut_is_warned_of_at_the_end) {
  TrainOptions options = every(0);
  options.minutes = 1;
  options.steps = 100;
  options.schedule = Schedule::linear;
  const auto warnings = [&] {
    const auto child = run_in_child([&] {
      Kept kept(options, false);
      kept.steps(1);
      kept.progress.end(1, 10, 0, 1);
      kept.progress.end(1, 10, 0, 1);
      return 0;
    });
    const size_t end = child.err.find("tx-x: 1 step, ");
    return child.err.substr(0, end);
  };
  BOOST_TEST(
      warnings().find("--minutes 1 ended this run at step 1, but the learning rate reaches 0 "
                      "only at step 100: resume it with more --minutes\n") != std::string::npos);
  options.minutes = 100;
  BOOST_TEST(warnings().find("ended this run") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_become_null) {
  Kept kept(every(0));
  kept.progress.write(Json{{"step", 1}, {"a", NAN}, {"b", INFINITY}, {"c", 0.5}});
  BOOST_TEST(to_text(kept.lines.at(0)) == R"({"step":1,"a":null,"b":null,"c":0.5})");
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_written_warns_once_until_it_can) {
  const auto child = run_in_child([] {
    Kept kept(every(0));
    kept.full = true;
    kept.progress.write(Json{{"step", 1}});
    kept.progress.write(Json{{"step", 2}});
    kept.full = false;
    kept.progress.write(Json{{"step", 3}});
    kept.full = true;
    kept.progress.write(Json{{"step", 4}});
    return int(kept.lines.size());
  });
  BOOST_TEST(child.status == 1);
  const std::string warning =
      "tx-x: warning: cannot write RUN/log.jsonl; training continues without it\n";
  BOOST_TEST(child.err == warning + warning);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_resumed_goes_on_counting_its_seconds) {
  Kept kept(every(0));
  kept.progress.resume(1000);
  BOOST_TEST(kept.progress.seconds() >= 1000);
  BOOST_TEST(kept.progress.here_seconds() < 1000);
}

BOOST_AUTO_TEST_SUITE_END()
