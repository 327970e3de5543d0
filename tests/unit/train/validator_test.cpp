// Validation: means over the text, the best model so far, patience, the state file, and the scores
// in the output of --valid-command.
#include "lib/train/run/validator.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/train/run/valid_command.h"
#include "lib/train/step/feed.h"
#include "tests/thread_ranks.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

// Two nats per label, one of them from label smoothing; one label per batch is correct.
void two_nats(const Batch& batch, StepRecord& sums) {
  for (const int32_t label : batch.labels) {
    if (label == no_label) continue;
    sums.loss += 2;
    sums.nll += 1;
    sums.labels += 1;
  }
  sums.correct += 1;
}

}  // namespace

// A validator that owns its options.
struct Judge : private TrainOptions, public Validator {
  explicit Judge(std::vector<std::string> metrics, const std::string& command = "",
                 int validations = 0, int64_t lines = 0)
      : Validator(static_cast<const TrainOptions&>(*this)) {
    valid_metric = std::move(metrics);
    valid_command = command;
    patience = validations;
    valid_lines = lines;
  }
  Judge(const Judge&) = delete;
};

// Selects by the score of a command: higher is better.
struct ByCommand : Judge {
  explicit ByCommand(int patience = 0) : Judge({"loss"}, "score", patience) {}
};

BOOST_AUTO_TEST_SUITE(validator)

// A run that ends at step 14, between two validations, and is extended.
BOOST_AUTO_TEST_CASE(a_validation_that_was_not_due_counts_only_at_the_end) {
  ByCommand v(3);
  v.take_command_score(12, 5);
  v.take_command_score(13, 4);
  v.take_command_score(14, 7, false);
  BOOST_TEST(v.best() == 14);
  BOOST_TEST(v.due_best() == 12);
  BOOST_TEST(v.best_text() == "validation score 7.00 at step 14");
  Json state = v.state(14);
  state["step"] = 14;
  BOOST_TEST(Validator::best_of(state) == 14);
  BOOST_TEST(Validator::due_best_of(state) == 12);
  ByCommand resumed(3);
  resumed.restore(state);
  BOOST_TEST(resumed.best() == 14);
  resumed.go_on();
  BOOST_TEST(resumed.best() == 12);
  resumed.take_command_score(16, 6);  // better than step 12, not than step 14
  BOOST_TEST(resumed.best() == 16);
  for (const int64_t step : {20, 24}) resumed.take_command_score(step, 1);
  resumed.take_command_score(25, 1, false);
  BOOST_TEST(resumed.best() == 16);
  BOOST_TEST(!resumed.out_of_patience());
  resumed.take_command_score(28, 1);
  BOOST_TEST(resumed.out_of_patience());
  BOOST_TEST(!resumed.state(28).contains("end_score"));
}

BOOST_FIXTURE_TEST_CASE(means_over_the_labels_of_the_whole_text, PackingFixture) {
  // Targets of 3 and 5 words, each with </s>: 10 labels, too many for one batch of 8 rows.
  const IdCache text = make({{3, 3}, {4, 5}});
  Judge v({"loss"});
  const Validation* found = v.measure(7, ValidPass(text, {8, 8}).run(nullptr, two_nats));
  BOOST_TEST(found->loss == 2);
  BOOST_TEST(found->nll == 1);
  BOOST_TEST(found->accuracy == 0.2);
  BOOST_TEST(v.found(7) == found);
  BOOST_TEST(!v.found(8));
  v.forget_found();
  BOOST_TEST(!v.found(7));
}

// The bits of these sums depend on the order of summation.
BOOST_FIXTURE_TEST_CASE(any_number_of_ranks_has_the_same_sums, PackingFixture) {
  const IdCache text = make({{3, 3}, {4, 5}, {2, 5}, {5, 4}, {1, 5}, {5, 4}, {3, 5}});
  const auto evaluate = [](const Batch& batch, StepRecord& sums) {
    sums.loss += 0.1 * double(batch.lines.front() * batch.lines.front());
    sums.nll += 1e16 / double(batch.lines.front());
    sums.correct += batch.lines.front();
    ++sums.labels;
  };
  const StepRecord alone = ValidPass(text, {8, 8}).run(nullptr, evaluate);
  BOOST_TEST(alone.labels >= 5);
  for (const int count : {2, 3, 4, 9})
    tx_test::on_ranks(count, [&](Communicator& ranks) {
      ValidPass pass(text, {8, 8});
      for (int time = 0; time < 2; ++time) {
        int64_t own = 0;
        const StepRecord sums = pass.run(&ranks, [&](const Batch& batch, StepRecord& to) {
          evaluate(batch, to);
          ++own;
        });
        if (sums.loss != alone.loss || sums.nll != alone.nll || sums.correct != alone.correct ||
            sums.labels != alone.labels || own > alone.labels / count + 1)
          throw Error("other sums");
      }
    });
}

BOOST_FIXTURE_TEST_CASE(a_sentence_that_does_not_fit_is_told_at_once, PackingFixture) {
  const IdCache text = make({{3, 9}});
  BOOST_CHECK_THROW(ValidPass(text, {8, 8}), UsageError);
}

BOOST_FIXTURE_TEST_CASE(the_first_metric_decides, PackingFixture) {
  const IdCache text = make({{3, 3}});
  // Step 1 has the lower loss, step 2 the lower perplexity and the higher accuracy.
  const StepRecord one{.loss = 2, .nll = 3, .correct = 1, .labels = 4},
      two{.loss = 4, .nll = 1, .correct = 3, .labels = 4};
  for (const auto& [metric, best] : {std::pair{"loss", 1}, {"perplexity", 2}, {"accuracy", 2}}) {
    Judge v({metric, "loss"});
    BOOST_TEST(v.criterion() == metric);
    v.measure(1, one);
    v.measure(2, two);
    BOOST_TEST(v.best() == best);
    BOOST_TEST(to_text(v.report(2)) ==
               "{\"validation_loss\":1.0,\"validation_perplexity\":1.2840254166877414,"
               "\"validation_accuracy\":0.75}");
    BOOST_TEST(to_text(v.report(1)) == "{}");
  }
}

BOOST_FIXTURE_TEST_CASE(translations_are_scored_where_a_metric_asks_for_it, PackingFixture) {
  const IdCache text = make({{3, 3}});
  Judge v({"chrf", "loss", "bleu"}, "", 0, 50);
  BOOST_TEST(v.criterion() == "chrf of 50 lines");
  const auto measure = [&](int64_t step, std::optional<std::vector<double>> scores) {
    return v.measure(step, ValidPass(text, {8, 8}).run(nullptr, two_nats), [&] { return scores; });
  };
  measure(1, {{40, 10}});
  measure(2, {{45, 9}});
  measure(3, {{44, 30}});
  BOOST_TEST(v.best() == 2);
  const Json report = v.report(3);
  BOOST_TEST(report.at("validation_chrf") == 44);
  BOOST_TEST(report.at("validation_bleu") == 30);
  BOOST_TEST(report.at("validation_lines") == 50);
  // A validation that is stopped changes nothing.
  const std::string before = to_text(v.state(3));
  BOOST_TEST(!measure(4, std::nullopt));
  BOOST_TEST(to_text(v.state(3)) == before);
  BOOST_TEST((v.found(3) && !v.found(4)));
}

BOOST_AUTO_TEST_CASE(the_highest_score_is_the_best_and_the_first_of_equals) {
  ByCommand v;
  BOOST_TEST(v.best() == -1);
  v.take_command_score(10, 3);
  v.take_command_score(20, 4);
  v.take_command_score(30, 4);
  v.take_command_score(40, std::nullopt);
  v.take_command_score(50, std::numeric_limits<double>::infinity());
  BOOST_TEST(v.best() == 20);
  BOOST_TEST(!v.out_of_patience());  // no --patience was given
}

BOOST_AUTO_TEST_CASE(patience_counts_validations_in_a_row_that_are_not_better) {
  ByCommand v(2);
  v.take_command_score(1, 3);
  v.take_command_score(2, 2);
  BOOST_TEST(!v.out_of_patience());
  v.take_command_score(3, 5);
  v.take_command_score(4, 5);
  BOOST_TEST(!v.out_of_patience());
  v.take_command_score(5, std::nullopt);
  BOOST_TEST(v.out_of_patience());
  v.forget_best();
  BOOST_TEST(v.best() == -1);
  BOOST_TEST(!v.out_of_patience());
  v.take_command_score(6, 0);
  BOOST_TEST(v.best() == 6);
}

BOOST_AUTO_TEST_CASE(a_validator_goes_on_from_its_state) {
  ByCommand one(3), other(3);
  const std::optional<double> scores[] = {3, 3.5, 3.3, {}, 3.6, 3.6, 3.6, 3.6};
  for (int64_t step = 0; step < 8; ++step) {
    other.restore(parse_json(to_text(one.state(step)), "state"));
    BOOST_TEST(other.replaced() == "");
    BOOST_TEST(to_text(other.state(step)) == to_text(one.state(step)));
    one.take_command_score(step, scores[step]);
    other.take_command_score(step, scores[step]);
    BOOST_TEST(one.best() == other.best());
    BOOST_TEST(one.out_of_patience() == other.out_of_patience());
    BOOST_TEST(one.state(step).at("score") == (scores[step] ? Json(*scores[step]) : Json()));
    BOOST_TEST(one.state(step + 1).at("score").is_null());
  }
  BOOST_TEST(one.out_of_patience());
  BOOST_CHECK_THROW(other.restore(Json::object()), Json::exception);
}

BOOST_AUTO_TEST_CASE(the_best_is_logged_as_measured) {
  StepRecord sums;
  sums.loss = 30;
  sums.nll = 20;
  sums.correct = 5;
  sums.labels = 10;
  const auto best = [&](const std::string& metric) {
    Judge v({metric});
    BOOST_TEST(v.best_text() == "");
    v.measure(7, sums, [] { return std::vector<double>{12.345}; });
    return v.best_text();
  };
  BOOST_TEST(best("loss") == "validation loss 3.0000 at step 7");
  BOOST_TEST(best("perplexity") == "validation perplexity 7.389 at step 7");
  BOOST_TEST(best("accuracy") == "validation accuracy 0.5000 at step 7");
  BOOST_TEST(best("bleu") == "validation bleu 12.35 at step 7");
  ByCommand scored(2);
  scored.take_command_score(3, 41.5);
  BOOST_TEST(scored.best_text() == "validation score 41.50 at step 3");
}

BOOST_AUTO_TEST_CASE(another_criterion_starts_anew) {
  ByCommand before(2);
  before.take_command_score(1, 3);
  before.take_command_score(2, 2);
  before.take_command_score(3, 2);
  const Json state = before.state(3);
  BOOST_TEST(Validator::best_of(state) == 1);
  for (const auto& [metric, command] : {std::pair("loss", "another"), std::pair("accuracy", "")}) {
    Judge v({metric}, command, 2);
    v.restore(state);
    BOOST_TEST(v.replaced() == "command: score");
    BOOST_TEST(v.best() == -1);
    BOOST_TEST(!v.out_of_patience());
  }
  // Without earlier results, no best is discarded.
  Judge first({"accuracy"}, "", 2);
  first.restore(ByCommand().state(0));
  BOOST_TEST(first.replaced() == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_number_or_what_tx_bleu_prints_and_nothing_else) {
  const std::string line = "|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = ";
  const std::pair<std::string, double> good[] = {
      {"27.3", 27.3},
      {" \n-1e2\r\n", -100},
      {"BLEU" + line + "41.5 66.7/50.0 (BP = 1.000)\n", 41.5},
      {"chrF2" + line + "7 (μ = 7.1 ± 0.2)", 7},
      {"{\n \"name\": \"BLEU\",\n \"score\": 41.5, \"nrefs\": \"1\"}\n", 41.5}};
  for (const auto& [text, score] : good) BOOST_TEST((parse_score(text) == score), text);
  for (const std::string& text : std::initializer_list<std::string>{
           "", " \n", "20,5", "1 2", "1\n2", "nan", "inf", "1e999", "0x10", "BLEU = 27.3", "27.3 %",
           "TER" + line + "50.0", "BLEU" + line + "x", "a" + line + "1\nb" + line + "2",
           "{\"score\": \"3\"}", "{\"name\": \"TER\", \"score\": 3}", "{\"score\": 3", "[3]",
           std::string(5000, '[') + "3"})
    BOOST_TEST(!parse_score(text), text);
}
