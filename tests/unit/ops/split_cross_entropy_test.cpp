// Against cross_entropy() of all columns; cross_entropy_test.cpp checks the gradient of that.
#include "tests/thread_ranks.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

constexpr int64_t rows = 5, vocabulary = 11, padded = 13;  // at most 13 columns
const std::vector<int32_t> labels{2, 0, -1, 10, 5};

struct Found {
  tx::StepRecord record;
  std::vector<double> gradient;  // (rows, vocabulary), or of a shard
};

tx::Tensor logits_of(Hand& hand, tx::Context& context, int64_t first, int64_t count) {
  std::vector<double> all = value("logits", 0, size_t(rows * vocabulary)), own;
  all[3 * vocabulary + 10] = 4;  // the label of this row is its largest
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < padded; ++j)
      own.push_back(j < count ? 5 * all[size_t(i * vocabulary + first + j)] : 7);
  const tx::Tensor given = hand.tensor(rows, padded, own), x = context.make(rows, padded);
  hand.backend->convert(given.value(), x.value());
  return x;
}

// The shard of one rank; null: the whole vocabulary.
Found run(tx::DType dtype, double smoothing, bool recording, tx::Communicator* ranks,
          int64_t first = 0, int64_t count = vocabulary) {
  Hand hand;
  tx::Context context(hand.backend, hand.arena, dtype);
  context.recording = recording;
  Record record(hand.backend);
  tx::StepRecord scaled;
  scaled.loss_scale = .25;
  scaled.loss = 1;  // the loss is added to this
  record.set(scaled);
  tx::DeviceInts ids(hand.backend);
  const tx::Tensor x = logits_of(hand, context, first, count);
  if (ranks)
    split_cross_entropy(context, x, ids.set<int32_t>(labels), {first, count, vocabulary}, smoothing,
                        record.data, *ranks);
  else
    cross_entropy(context, x, ids.set<int32_t>(labels), vocabulary, smoothing, record.data);
  Found found{record.get(), {}};
  TX_ASSERT(x.has_gradient() == recording);
  const std::vector<double> all = to_host(hand.backend, x.value());
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = all.begin() + i * padded;
    found.gradient.insert(found.gradient.end(), row, row + count);
    if (recording)
      TX_ASSERT(std::all_of(row + count, row + padded, [](double d) { return d == 0; }));
  }
  return found;
}

// The whole gradient, joined from the shards of the ranks, which have the same record.
Found run_on(int count, tx::DType dtype, double smoothing, bool recording) {
  std::vector<Found> parts(static_cast<size_t>(count));
  const auto begin = [&](int r) { return vocabulary * r / count; };
  on_ranks(count, [&](tx::Communicator& ranks) {
    const int r = ranks.rank();
    parts[size_t(r)] = run(dtype, smoothing, recording, &ranks, begin(r), begin(r + 1) - begin(r));
  });
  Found whole{parts[0].record, std::vector<double>(rows * vocabulary)};
  for (int r = 0; r < count; ++r) {
    const Found& part = parts[size_t(r)];
    BOOST_TEST((part.record.loss == whole.record.loss && part.record.nll == whole.record.nll &&
                part.record.correct == whole.record.correct));
    const int64_t width = begin(r + 1) - begin(r);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(part.gradient.begin() + i * width, width,
                  whole.gradient.begin() + i * vocabulary + begin(r));
  }
  return whole;
}

void check_like_one(tx::DType dtype, double within) {
  for (const double smoothing : {0.0, .1})
    for (const int count : {1, 2, 3, 4}) {
      const Found one = run(dtype, smoothing, true, nullptr);
      const Found split = run_on(count, dtype, smoothing, true);
      check_close({split.record.loss, split.record.nll}, {one.record.loss, one.record.nll},
                  40 * within);
      BOOST_TEST(split.record.correct == one.record.correct);
      BOOST_TEST(split.record.labels == 4);
      BOOST_TEST(one.record.correct > 0);
      check_close(split.gradient, one.gradient, within);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_split_cross_entropy)

BOOST_AUTO_TEST_CASE(loss_and_gradient_are_those_of_one_rank) {
  check_like_one(tx::DType::f64, 1e-15);
  check_like_one(tx::DType::f32, 1e-7);
  check_like_one(tx::DType::bf16, 1e-3);
}

BOOST_AUTO_TEST_CASE(without_recording_logits_stay) {
  const Found one = run(tx::DType::f32, .1, false, nullptr);
  const Found split = run_on(3, tx::DType::f32, .1, false);
  check_close({split.record.loss}, {one.record.loss}, 1e-6);
  check_close(split.gradient, one.gradient, 0);
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  for (const auto& part : {std::pair<int64_t, int64_t>{0, padded + 1}, {0, 0}, {9, 3}})
    BOOST_CHECK_THROW(on_ranks(1,
                               [&](tx::Communicator& ranks) {
                                 Hand hand;
                                 split_cross_entropy(
                                     hand.context, hand.tensor(rows, padded), labels.data(),
                                     {part.first, part.second, vocabulary}, 0, nullptr, ranks);
                               }),
                      tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
