// Validation: means over the text, the best so far, patience, and what the state file keeps.
#include "lib/train/validator.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "tests/unit/text/packing_fixture.h"

using namespace tx;

namespace {

// Two nats a label, one of which smoothing adds; the first label of each batch is right.
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

BOOST_AUTO_TEST_SUITE(validator)

BOOST_FIXTURE_TEST_CASE(means_over_the_labels_of_the_whole_text, PackingFixture) {
  // Targets of 3 and 5 words, each with its end: 10 labels, too many for one batch of 8 rows.
  const IdCache text = make({{3, 3}, {4, 5}});
  Validator v({});
  const auto packer = Validator::packer(text, {8, 8});
  const Validation& found = v.measure(7, *packer, two_nats);
  BOOST_TEST(found.loss == 2);
  BOOST_TEST(found.nll == 1);
  BOOST_TEST(found.accuracy == 0.2);
  BOOST_TEST(v.found(7) == &found);
  BOOST_TEST(!v.found(8));
  v.forget_found();
  BOOST_TEST(!v.found(7));
}

BOOST_FIXTURE_TEST_CASE(a_sentence_that_does_not_fit_is_told_at_once, PackingFixture) {
  const IdCache text = make({{3, 9}});
  BOOST_CHECK_THROW(Validator::packer(text, {8, 8}), UsageError);
}

BOOST_AUTO_TEST_CASE(the_lowest_score_is_the_best_and_the_first_of_equals) {
  Validator v({});
  BOOST_TEST(v.best() == -1);
  v.consider(10, 3);
  v.consider(20, 2);
  v.consider(30, 2);
  v.consider(40, std::numeric_limits<double>::quiet_NaN());
  v.consider(50, -std::numeric_limits<double>::infinity());
  BOOST_TEST(v.best() == 20);
  BOOST_TEST(!v.out_of_patience());  // none was asked for
}

BOOST_AUTO_TEST_CASE(patience_counts_validations_in_a_row_that_are_not_better) {
  Validator v({2});
  v.consider(1, 3);
  v.consider(2, 4);
  BOOST_TEST(!v.out_of_patience());
  v.consider(3, 1);
  v.consider(4, 1);
  BOOST_TEST(!v.out_of_patience());
  v.consider(5, 2);
  BOOST_TEST(v.out_of_patience());
  v.forget_best();
  BOOST_TEST(v.best() == -1);
  BOOST_TEST(!v.out_of_patience());
  v.consider(6, 100);
  BOOST_TEST(v.best() == 6);
}

BOOST_AUTO_TEST_CASE(a_validator_goes_on_from_its_state) {
  Validator one({3}), other({3});
  const double scores[] = {3, 2.5, 2.7, NAN, 2.4, 2.4, 2.4, 2.4};
  for (int64_t step = 0; step < 8; ++step) {
    other.restore(parse_json(to_text(one.state()), "state"));
    BOOST_TEST(to_text(other.state()) == to_text(one.state()));
    one.consider(step, scores[step]);
    other.consider(step, scores[step]);
    BOOST_TEST(one.best() == other.best());
    BOOST_TEST(one.out_of_patience() == other.out_of_patience());
  }
  BOOST_TEST(one.out_of_patience());
  BOOST_CHECK_THROW(other.restore(Json::object()), Json::exception);
}

BOOST_AUTO_TEST_SUITE_END()
