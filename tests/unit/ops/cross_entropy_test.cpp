#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

struct Result {
  tx::StepRecord record;
  std::vector<double> gradient;
};

// Loss of logits (labels.size(), padded) and their gradient.
Result loss_of(const std::vector<double>& logits, const std::vector<int32_t>& labels,
               int64_t vocabulary, double smoothing, double scale = 1) {
  Hand hand;
  Record record(hand.backend);
  tx::StepRecord r;
  r.loss_scale = scale;
  record.set(r);
  tx::DeviceInts ids(hand.backend);
  const int64_t rows = int64_t(labels.size());
  const tx::Tensor x = hand.tensor(rows, int64_t(logits.size()) / rows, logits);
  hand.context.recording = true;
  cross_entropy(hand.context, x, ids.set<int32_t>(labels), vocabulary, smoothing, record.data);
  return {record.get(), to_host(hand.backend, std::as_const(hand.context).gradient(x))};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_cross_entropy)

BOOST_AUTO_TEST_CASE(smoothed_loss_and_its_gradient) {
  const Result r = loss_of({2, 1, .5, -.5, 0}, {0}, 5, .1);
  check_close({r.record.loss, r.record.nll}, {.767459, .592459});
  check_close(r.gradient, {-.347034, .178425, .098383, .020390, .049836});
  BOOST_TEST(std::abs(std::accumulate(r.gradient.begin(), r.gradient.end(), 0.0)) < 1e-15);
  BOOST_TEST(r.record.correct == 1);
  BOOST_TEST(r.record.labels == 1);
}

BOOST_AUTO_TEST_CASE(smallest_loss_and_loss_of_a_uniform_model) {
  for (const auto& [v, min] :
       {std::pair{5, .463712}, {13, .573574}, {8000, 1.223790}, {37000, 1.376948}}) {
    std::vector<double> best(size_t(v), std::log(.1 / (v - 1)));
    best[3] = std::log(.9);
    const Result r = loss_of(best, {3}, v, .1);
    check_close({r.record.loss}, {min});
    check_close(r.gradient, std::vector<double>(size_t(v), 0), 1e-11);
  }
  for (const auto& [v, uniform] : {std::pair{13, 2.564949}, {37000, 10.518673}}) {
    for (double smoothing : {0.0, 0.1, 0.3}) {
      const Result r = loss_of(std::vector<double>(size_t(v), 4), {2}, v, smoothing);
      check_close({r.record.loss, r.record.nll}, {uniform, uniform});
    }
  }
  const Result r = loss_of(std::vector<double>(37000, 0), {0}, 37000, .1);
  check_close({1.0 / 37000 - r.gradient[0], 1.0 / 37000 - r.gradient[1]}, {.9, 2.702776e-6}, 1e-12);
}

BOOST_AUTO_TEST_CASE(gradient_by_central_differences) {
  const std::vector<int32_t> labels{2, 0, 6};
  std::vector<double> x = value("logits", 0, 3 * 8);  // column 7 is padding
  const Result r = loss_of(x, labels, 7, .1, .25);
  for (size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i], h = 1e-5;
    x[i] = kept + h;
    const double up = loss_of(x, labels, 7, .1).record.loss;
    x[i] = kept - h;
    const double down = loss_of(x, labels, 7, .1).record.loss;
    x[i] = kept;
    BOOST_TEST(std::abs(r.gradient[i] - .25 * (up - down) / (2 * h)) < 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(rows_without_a_label_count_nothing) {
  const std::vector<double> one = value("logits", 0, 6);
  std::vector<double> two(12, 3);
  std::copy(one.begin(), one.end(), two.begin() + 6);
  const Result a = loss_of(one, {4}, 6, .1), b = loss_of(two, {-1, 4}, 6, .1);
  BOOST_TEST(a.record.loss == b.record.loss);
  BOOST_TEST(b.record.labels == 1);
  for (size_t i = 0; i < 6; ++i) {
    BOOST_TEST(b.gradient[i] == 0);
    BOOST_TEST(b.gradient[i + 6] == a.gradient[i]);
  }
}

BOOST_AUTO_TEST_CASE(without_recording_logits_stay) {
  Hand hand;
  Record record(hand.backend);
  tx::DeviceInts ids(hand.backend);
  const tx::Tensor x = hand.tensor(1, 5, {2, 1, .5, -.5, 0});
  cross_entropy(hand.context, x, ids.set<int32_t>(std::vector<int32_t>{0}), 5, .1, record.data);
  check_close({record.get().loss}, {.767459});
  check_close(hand.values(x), {2, 1, .5, -.5, 0}, 0);
  BOOST_TEST(!x.has_gradient());
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  BOOST_CHECK_THROW(loss_of({2, 1, .5}, {0}, 4, .1), tx::Bug);
  BOOST_CHECK_THROW(loss_of({2}, {0}, 1, .1), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
