// Learning rates.
#include "lib/train/options/schedule.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace tx;

namespace {

void check(double value, double wanted) {
  BOOST_TEST(std::abs(value - wanted) <= 1e-6 * std::abs(wanted), value << " and " << wanted);
}

struct Schedule {
  TrainOptions options;
  int64_t d_model = 512;
  double rate(int64_t step) const { return learning_rate(options, d_model, step); }
};

Schedule paper(int64_t d_model, int64_t warmup = 4000) {
  Schedule s;
  s.d_model = d_model;
  s.options.warmup = warmup;
  return s;
}

Schedule other(const std::string& kind) {
  Schedule s;
  s.options.schedule = kind;
  s.options.lr = 0.01;
  s.options.warmup = 100;
  s.options.steps = 1100;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_papers_schedule_of_base) {
  const Schedule s = paper(512);
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
  Schedule twice = paper(512);
  twice.options.lr_factor = 2;
  check(twice.rate(4000), 2 * 6.987712e-4);
}

BOOST_AUTO_TEST_CASE(the_others_warm_up_linearly) {
  for (const char* kind : {"inverse-sqrt", "cosine", "linear", "constant"}) {
    check(other(kind).rate(1), 0.0001);
    check(other(kind).rate(50), 0.005);
    check(other(kind).rate(100), 0.01);
  }
  Schedule cold = other("constant");
  cold.options.warmup = 0;
  check(cold.rate(1), 0.01);
}

BOOST_AUTO_TEST_CASE(and_fall_in_their_own_way) {
  check(other("constant").rate(100000), 0.01);
  check(other("inverse-sqrt").rate(400), 0.005);
  check(other("linear").rate(600), 0.005);
  check(other("linear").rate(850), 0.0025);
  check(other("cosine").rate(600), 0.005);
  check(other("cosine").rate(350), 0.01 * 0.5 * (1 + std::sqrt(0.5)));
  // At the end of the run and behind it the rate is 0, never negative.
  for (const char* kind : {"cosine", "linear"})
    for (const int64_t step : {1100, 1101, 5000}) BOOST_TEST(other(kind).rate(step) == 0.0);
}
