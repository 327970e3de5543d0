#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/error.h"
#include "lib/train/run/spike_policy.h"

using tx::SpikeDetector;

namespace {

SpikeDetector after(double threshold, int window, std::initializer_list<double> losses,
                    double floor = 0) {
  SpikeDetector spikes(threshold, window, floor);
  for (const double loss : losses) spikes.add(loss);
  return spikes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spikes)

BOOST_AUTO_TEST_CASE(known_limit) {
  // Mean 3, deviation sqrt(2.5) of 1 to 5.
  BOOST_TEST(std::abs(after(2, 5, {1, 2, 3, 4, 5}).limit() - (3 + 2 * std::sqrt(2.5))) < 1e-14);
  // The window moves on.
  BOOST_TEST(after(2, 5, {9, 1, 2, 3, 4, 5}).limit() == after(2, 5, {1, 2, 3, 4, 5}).limit());
}

BOOST_AUTO_TEST_CASE(a_rise_below_the_floor_is_noise) {
  // Deviation 0.01: six of them are less than the floor, which counts nats below a mean of 1...
  BOOST_TEST(std::abs(after(6, 3, {0.91, 0.92, 0.93}, 0.1).limit() - 1.02) < 1e-14);
  // ...and shares of the mean above.
  BOOST_TEST(std::abs(after(6, 3, {3.99, 4, 4.01}, 0.1).limit() - 4.4) < 1e-14);
  // Where the losses spread wider, the deviations decide.
  BOOST_TEST(after(2, 3, {1, 2, 3}, 0.1).limit() == after(2, 3, {1, 2, 3}).limit());
}

BOOST_AUTO_TEST_CASE(no_limit_before_the_window_is_full_nor_without_spread) {
  BOOST_TEST(after(2, 5, {1, 2, 3, 4}).limit() == 0);
  BOOST_TEST(after(2, 3, {1, 1, 1}).limit() == 0);
  BOOST_TEST(after(0, 3, {1, 2, 3}).limit() == 0);
}

BOOST_AUTO_TEST_CASE(a_spike_counts_as_the_limit_and_a_loss_that_is_not_finite_not_at_all) {
  const SpikeDetector before = after(2, 3, {1, 2, 3});
  BOOST_TEST(before.limit() == 4);
  BOOST_TEST(after(2, 3, {1, 2, 3, 1000}).limit() == after(2, 3, {1, 2, 3, 4}).limit());
  BOOST_TEST(after(2, 3, {1, 2, 3, NAN, INFINITY, -INFINITY}).limit() == 4);
}

BOOST_AUTO_TEST_CASE(a_level_that_stays_is_no_spike_for_ever) {
  SpikeDetector spikes = after(6, 100, {});
  for (int i = 0; i < 100; ++i) spikes.add(2 + 0.01 * (i % 2));
  int steps = 0;
  while (spikes.limit() < 50 && steps < 1000) spikes.add(50), ++steps;
  BOOST_TEST(steps > 3);
  BOOST_TEST(steps < 100);
}

BOOST_AUTO_TEST_CASE(a_detector_goes_on_from_its_state) {
  SpikeDetector one(1.5, 7, 0.01), other(1.5, 7, 0.01);
  for (int i = 0; i < 40; ++i) {
    const double loss = 3 + std::sin(double(i * i)) / 7;
    if (i % 11 == 4) other.restore(tx::parse_json(tx::to_text(one.state()), "state"));
    one.add(loss);
    if (i >= 4) other.add(loss);
    BOOST_TEST((i < 4 || one.limit() == other.limit()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
