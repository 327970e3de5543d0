// Steps of several ranks: the bits of one rank, sharded optimizer state, and the bytes sent.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>

#include "tests/thread_ranks.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr int large = 192;  // d_model of a model that needs two rounds on two ranks

struct Course {  // settings of a training
  DType dtype = DType::f32;
  TrainOptions options = plain_options();
  int d_model = 16, batches = 5;
  int64_t frozen = 0;      // tokens whose rows stay
  bool rehearsed = false;  // if so, communication overlaps the backward pass
  Course() {
    options.dropout = options.attention_dropout = options.relu_dropout = 0.1;
    options.seed = 5;
    options.clip_norm = 0.5;
    options.weight_decay = 0.1;
  }
};

struct Result {
  std::vector<double> weights, bf16_weights, m, v, gradients;
  std::vector<double> figures;  // from the records
  std::string norms;            // by layer
  bool held_back = false, finite = false;
  int64_t held = 0;  // elements of one moment on this rank
  bool operator==(const Result& other) const {
    const auto all = [](const Result& x) {
      return std::tie(x.weights, x.bf16_weights, x.m, x.v, x.gradients, x.figures, x.norms,
                      x.held_back, x.finite);
    };
    return all(*this) == all(other);
  }
};

// Counts the bytes that a rank sends to others, if gather_all() is a ring.
struct Counted : Communicator {
  explicit Counted(Communicator& of) : ranks(of) {}
  int rank() const override { return ranks.rank(); }
  int size() const override { return ranks.size(); }
  int local_rank() const override { return ranks.local_rank(); }
  std::string host() const override { return ranks.host(); }
  void barrier() override { ranks.barrier(); }
  void broadcast(void* data, size_t bytes) override { ranks.broadcast(data, bytes); }
  void gather_all(const void* mine, size_t bytes, void* all) override {
    sent += bytes * size_t(size() - 1);
    ranks.gather_all(mine, bytes, all);
  }
  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    for (int r = 0; r < size(); ++r)
      if (r != rank()) sent += from_bytes[size_t(r)];
    ranks.exchange(from, from_bytes, to, to_bytes);
  }
  std::unique_ptr<Communicator> split(int group) override { return ranks.split(group); }
  Communicator& ranks;
  size_t sent = 0;
};

struct Ranks : TinyText {
  std::vector<Batch> step_of(int count) const {
    std::vector<Batch> all;
    for (int i = 0; i < count; ++i) all.push_back(batches[size_t(i) % 2]);
    return all;
  }

  // Three steps: a normal one, one that is held and released, and one with fewer batches. Between
  // them the optimizer state moves to rank 0 and back, as in a save and a rewind.
  Result train(const Course& course, RankOf self, Communicator* ranks) const {
    TinyModel m(course.options, int(words->size()), capacities, course.dtype, self, course.d_model);
    m.parameters.freeze({course.frozen, course.frozen});
    if (ranks) m.stepper.share(*ranks);
    m.stepper.reserve(
        Stepper::plan(m.backend, m.parameters, m.transformer, course.options, capacities),
        course.batches);
    m.stepper.spread_weights();
    if (course.rehearsed) m.stepper.rehearse(batches[0]);
    Result result;
    const auto keep = [&](const StepRecord& r) {
      for (const double x : {r.gradient_norm, r.clip_factor, r.loss, double(r.labels)})
        result.figures.push_back(x);
    };
    const std::vector<Batch> whole = step_of(course.batches), few = step_of(2);
    keep(m.stepper.step(whole, 1, 0.01, 0));
    m.stepper.collect_optimizer_state();
    if (ranks)  // spread_optimizer_state() must restore them
      for (const Matrix& own : {m.parameters.moment1(), m.parameters.moment2()})
        m.backend->zero(own.data, size_t(own.cols) * size_of(own.dtype));
    m.stepper.spread_optimizer_state();
    const StepRecord spike = m.stepper.step(whole, 2, 0.01, 1e-3);
    result.held_back = spike.skip && spike.spike;
    result.norms = to_text(m.stepper.gradient_norms());
    m.stepper.gather_gradients();
    result.gradients = to_host(m.backend, m.parameters.gradients());
    keep(m.stepper.release(spike));
    keep(m.stepper.step(few, 3, 0.01, 0));
    result.finite = m.stepper.weights_finite();
    result.weights = m.weights();
    if (course.dtype == DType::bf16)
      result.bf16_weights = to_host(m.backend, m.parameters.bf16_weights());
    m.stepper.collect_optimizer_state();
    if (self.rank == 0) {
      const OptimizerState optimizer = m.stepper.whole_optimizer_state();
      result.m = to_host(m.backend, optimizer.first);
      result.v = to_host(m.backend, optimizer.second);
    }
    result.held = m.parameters.moment1().cols;
    return result;
  }

  std::vector<Result> train(const Course& course, int count) const {
    std::vector<Result> results(static_cast<size_t>(count));
    on_ranks(count, [&](Communicator& others) {
      results[size_t(others.rank())] = train(course, {others.rank(), count}, &others);
    });
    return results;
  }

  void check(const Course& course, int count) const {
    const Result alone = train(course, {}, nullptr);
    BOOST_TEST((alone.held_back && alone.finite));
    std::vector<Result> all = train(course, count);
    int64_t held = 0;
    for (Result& one : all) {
      held += one.held;
      one.m = all[0].m, one.v = all[0].v;  // only rank 0 has them whole
      BOOST_TEST((one == alone));
    }
    BOOST_TEST(held == alone.held);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rank_step, Ranks)

BOOST_AUTO_TEST_CASE(any_number_of_ranks_has_the_bits_of_one) {
  for (int count = 1; count <= 5; ++count)
    for (const bool rehearsed : {false, true}) {
      Course course;
      course.rehearsed = course.options.recompute = rehearsed;
      BOOST_TEST_CONTEXT(count << " ranks") { check(course, count); }
    }
}

BOOST_AUTO_TEST_CASE(with_sgd) {
  Course course;
  course.options.optimizer = Optimizer::sgd;
  check(course, 3);
}

BOOST_AUTO_TEST_CASE(with_muon) {
  Course course;
  course.options.optimizer = Optimizer::muon;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int d_model : {16, large}) {
      course.dtype = dtype;
      course.d_model = d_model;
      check(course, 3);
    }
}

BOOST_AUTO_TEST_CASE(with_bf16) {
  Course course;
  course.dtype = DType::bf16;
  check(course, 3);
}

BOOST_AUTO_TEST_CASE(with_frozen_rows) {
  Course course;
  course.frozen = 701;
  for (const Optimizer optimizer : {Optimizer::adam, Optimizer::muon}) {
    course.options.optimizer = optimizer;
    for (const int d_model : {16, large}) {
      course.d_model = d_model;
      check(course, 3);
    }
  }
}

BOOST_AUTO_TEST_CASE(with_several_rounds) {
  Course course;
  course.d_model = large;
  for (const bool rehearsed : {false, true}) {
    course.rehearsed = rehearsed;
    check(course, 2);
    check(course, 3);
  }
}

BOOST_AUTO_TEST_CASE(a_rank_holds_its_shard_of_the_optimizer_state) {
  Backend backend = make_backend(Device::cpu, 1);
  const ModelConfig config = TinyModel::config_of(int(words->size()), large);
  const Parameters whole = Parameters::for_training(backend, config, DType::f32);
  const int64_t elements = whole.fp32_weights().cols;
  BOOST_TEST(whole.moment1().cols == elements);
  for (int rank = 0; rank < 3; ++rank) {
    const Parameters part = Parameters::for_training(backend, config, DType::f32, {rank, 3});
    BOOST_TEST(std::abs(part.moment1().cols - elements / 3) <= norm_block);
    BOOST_TEST(part.moment2().cols == part.moment1().cols);
    BOOST_TEST(Parameters::bytes(config, DType::f32, true, {rank, 3}) ==
               size_t(2 * elements + 2 * part.moment1().cols) * 4);
  }
}

// A rank sends as much as in a ring all-reduce, 2 (R - 1) / R of the block. The rest is sums of
// squares, records, and the different lengths of shards.
BOOST_AUTO_TEST_CASE(as_much_moves_as_in_a_ring) {
  for (const int count : {2, 4}) {
    std::vector<size_t> sent(static_cast<size_t>(count));
    int64_t elements = 0;
    on_ranks(count, [&](Communicator& others) {
      const int rank = others.rank();
      Counted counted(others);
      TinyModel m({}, int(words->size()), capacities, DType::f32, {rank, count}, large);
      m.stepper.share(counted);
      m.stepper.step(step_of(count), 1, 0.01, 0);
      sent[size_t(rank)] = counted.sent;
      if (rank == 0) elements = m.parameters.fp32_weights().cols;
    });
    const double ring = 2.0 * (count - 1) / count * double(elements) * 4;
    for (const size_t bytes : sent) {
      BOOST_TEST_MESSAGE(count << " ranks: " << bytes << " bytes, a ring " << ring);
      BOOST_TEST(double(bytes) > 0.97 * ring);
      BOOST_TEST(double(bytes) < 1.05 * ring);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
