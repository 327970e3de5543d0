// Sums along the fixed tree: the bits of a plain recursion, for any number of terms, and which
// subtrees each rank adds.
#include "lib/train/step/tree_sum.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr int elements = 128;

struct Term {
  std::vector<float> block = std::vector<float>(elements);
  double loss = 0, nll = 0, guided = 0;
  int64_t correct = 0, labels = 0, guided_rows = 0;
  auto all() const { return std::tie(block, loss, nll, guided, correct, labels, guided_rows); }
};

// The magnitudes differ so much that another order of summation gives other bits.
Term term(int number) {
  Term t;
  for (int i = 0; i < elements; ++i)
    t.block[size_t(i)] = std::sin(float(number * 131 + i)) * std::pow(10.0f, float(i % 9 - 4));
  t.loss = std::exp(std::sin(number)), t.nll = 1 / (number + 3.0), t.guided = std::cos(number);
  t.correct = number, t.labels = 3 * number, t.guided_rows = 7;
  return t;
}

Term plus(Term a, const Term& b) {
  for (size_t i = 0; i < elements; ++i) a.block[i] += b.block[i];
  a.loss += b.loss, a.nll += b.nll, a.guided += b.guided;
  a.correct += b.correct, a.labels += b.labels, a.guided_rows += b.guided_rows;
  return a;
}

Term plain(int lo, int hi) {
  if (hi - lo == 1) return term(lo);
  int part = 1;
  while (2 * part < hi - lo) part *= 2;
  return plus(plain(lo, lo + part), plain(lo + part, hi));
}

Term in_a_row(int count) {
  Term sum = term(0);
  for (int i = 1; i < count; ++i) sum = plus(sum, term(i));
  return sum;
}

struct Place {
  Backend backend = make_backend(Device::cpu, 2);
  std::vector<float> block = std::vector<float>(elements);
  StepRecord record;
  TreeSum sum{backend, matrix(block.data(), DType::f32, 1, elements), &record};

  void put(const Term& t) {
    block = t.block;
    record.loss += t.loss, record.nll += t.nll, record.guided += t.guided;
    record.correct += t.correct, record.labels += t.labels, record.guided_rows += t.guided_rows;
  }
  Term found() const {
    return {block,          record.loss,   record.nll,        record.guided,
            record.correct, record.labels, record.guided_rows};
  }
  Term of(int count) {
    record = StepRecord{};
    record.rate = 0.5;
    sum.begin(count);
    for (int i = 0; i < count; ++i) {
      put(term(i));
      sum.add_term();
    }
    return found();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_sum)

BOOST_AUTO_TEST_CASE(any_number_of_terms_has_the_bits_of_the_tree) {
  Place place;
  for (int count = 1; count <= 40; ++count) {
    BOOST_TEST((place.of(count).all() == plain(0, count).all()), count << " terms");
    BOOST_TEST(place.record.rate == 0.5);
  }
  BOOST_TEST((plain(0, 4).all() != in_a_row(4).all()));  // the order matters
}

BOOST_AUTO_TEST_CASE(a_sum_can_be_restarted_with_less_memory) {
  Place place;
  place.sum.reserve(9);
  BOOST_TEST((place.of(9).all() == plain(0, 9).all()));
  BOOST_TEST((place.of(2).all() == plain(0, 2).all()));
}

BOOST_AUTO_TEST_CASE(the_last_term_can_be_added_elsewhere) {
  for (int count = 1; count <= 17; ++count) {
    Place place;
    place.sum.begin(count);
    for (int i = 0; i < count; ++i) {
      place.put(term(i));
      if (i + 1 < count) place.sum.add_term();
    }
    for (const Matrix& sum : place.sum.waiting())
      for (int i = 0; i < elements; ++i) place.block[size_t(i)] += sum.row<float>(0)[i];
    place.sum.add_last_record();
    BOOST_TEST((place.found().all() == plain(0, count).all()), count << " terms");
  }
}

BOOST_AUTO_TEST_CASE(levels_and_parts) {
  const int levels[] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int terms = 1; terms <= 9; ++terms) BOOST_TEST(TreeSum::levels(terms) == levels[terms - 1]);
  BOOST_TEST((left_part(2) == 1 && left_part(3) == 2 && left_part(4) == 2 && left_part(5) == 4));
}

// All batches have the same number of labels: the loss scale of a step of four is exactly a quarter
// of that of one, so the terms of the sum are known to the bit.
BOOST_FIXTURE_TEST_CASE(a_step_adds_its_batches_along_the_tree, TinyText) {
  const auto labels = [](const Batch& b) {
    return int64_t(b.labels.size()) - std::count(b.labels.begin(), b.labels.end(), no_label);
  };
  std::vector<Batch> four{batches[0], batches[1], batches[0], batches[1]};
  const int64_t fewest = std::min(labels(four[0]), labels(four[1])) - 9;
  for (Batch& batch : four) batch.serial = 0;
  for (size_t i = 0; i < 4; ++i)  // from different rows, so that all batches differ
    for (size_t j = 0, rows = four[i].labels.size(); labels(four[i]) > fewest; ++j)
      four[i].labels[(j + i * rows / 4) % rows] = no_label;
  TinyModel m({}, int(words->size()), capacities);
  std::vector<std::vector<double>> terms;
  std::vector<double> losses;
  const auto gradients = [&](const std::vector<Batch>& of) {
    losses.push_back(m.stepper.step(of, 1, 0, 0).loss);
    return to_host(m.backend, m.parameters.gradients());
  };
  for (const Batch& b : four) {
    terms.push_back(gradients({b}));
    for (double& x : terms.back()) x /= 4;
  }
  const std::vector<double> found = gradients(four);
  size_t other = 0, wrong = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto at = [&](size_t k) { return float(terms[k][i]); };
    const float left = at(0) + at(1), right = at(2) + at(3);
    wrong += float(found[i]) != left + right;
    other += float(found[i]) != (left + at(2)) + at(3);
  }
  BOOST_TEST(wrong == 0u);
  BOOST_TEST(other > 0u);
  BOOST_TEST(losses[4] == (losses[0] + losses[1]) + (losses[2] + losses[3]));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// Whether the tree over `of` has this node.
bool is_node(TermRange node, TermRange of) {
  if (node.lo == of.lo && node.hi == of.hi) return true;
  if (of.size() < 2) return false;
  const int middle = of.lo + left_part(of.size());
  return is_node(node, {of.lo, middle}) || is_node(node, {middle, of.hi});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_sum)

BOOST_AUTO_TEST_CASE(the_parts_of_all_ranks_are_the_whole) {
  for (int terms = 1; terms <= 33; ++terms)
    for (int ranks = 1; ranks <= 9; ++ranks) {
      int end = 0;
      for (int r = 0; r < ranks; ++r) {
        const TermRange share = share_of(terms, r, ranks);
        BOOST_TEST(share.lo == end);
        if (terms >= ranks) BOOST_TEST(share.size() > 0);
        for (const TermRange& part : subtrees(terms, share)) {
          BOOST_TEST((part.lo == end && is_node(part, {0, terms})));
          end = part.hi;
        }
        BOOST_TEST(end == share.hi);
      }
      BOOST_TEST(end == terms);
    }
}

BOOST_AUTO_TEST_CASE(the_parts_are_the_largest) {
  BOOST_TEST(subtrees(8, {0, 8}).size() == 1u);
  BOOST_TEST(subtrees(8, {0, 4}).size() == 1u);
  BOOST_TEST(subtrees(8, {2, 4}).size() == 1u);
  BOOST_TEST(subtrees(8, {1, 7}).size() == 4u);  // 1, 2-3, 4-5, 6
  BOOST_TEST(subtrees(7, {4, 7}).size() == 1u);
  BOOST_TEST(subtrees(7, {3, 3}).empty());
}

BOOST_AUTO_TEST_CASE(blocks_of_a_rank) {
  BOOST_TEST(RankSum::blocks(8, 2) == 2);  // a subtree of 4 terms
  BOOST_TEST(RankSum::blocks(8, 8) == 1);  // rank 0 always has one, for saves
  BOOST_TEST(RankSum::blocks(5, 3) == 1);  // terms 1, 2 and 3, 4 are not subtrees
}

BOOST_AUTO_TEST_SUITE_END()
