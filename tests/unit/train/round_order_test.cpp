// In which order rounds of a block become final, and when.
#include "lib/train/ranks/overlap.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

// A model whose block is of three rounds, and passes whose closures are said by hand.
struct Passes {
  Backend backend = make_backend("cpu", 1);
  Parameters parameters{backend, TinyModel::config_of(1004, 192), DType::f32, true};
  RoundOrder order{parameters};

  // The tables of a round that are not joined to others, those that begin or end there too.
  std::vector<std::string> tables(int round) const {
    const ElementRange all = parameters.division().round(round);
    std::vector<std::string> found;
    for (size_t i = 0; i < parameters.table().size(); ++i) {
      const ParameterEntry& e = parameters.table()[i];
      size_t next = i + 1;
      while (next < parameters.table().size() && parameters.table()[next].joined) ++next;
      const ParameterEntry& last = parameters.table()[next - 1];
      const int64_t end = last.offset + last.padded_rows * last.padded_cols;
      if (!e.joined && e.offset < all.end() && end > all.first) found.push_back(e.name);
    }
    return found;
  }
  void write(const std::string& name) {
    bool add = false;
    Context::gradient(parameters.get(name), add);
  }
  void write(int round) {
    for (const std::string& name : tables(round)) write(name);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(round_order, Passes)

BOOST_AUTO_TEST_CASE(rounds_stand_in_the_order_of_their_last_contribution) {
  BOOST_REQUIRE(parameters.division().rounds() == 3);
  const auto pass = [&](const auto& behind_closure) {
    parameters.begin_step();
    for (const int round : {1, 2, 0, 0}) {
      write(round);
      behind_closure();
    }
  };
  pass([&] { order.saw_closure(); });
  order.end();
  // Tables that lie in two rounds make the later one of them wait.
  BOOST_TEST(order.rounds() == (std::vector<int>{2, 0, 1}), boost::test_tools::per_element());
  std::vector<size_t> final;
  size_t so_far = 0;
  pass([&] { final.push_back(so_far = order.final(so_far)); });
  BOOST_TEST(final == (std::vector<size_t>{0, 1, 1, 3}), boost::test_tools::per_element());
  BOOST_TEST(order.held());
  write(1);
  BOOST_TEST(!order.held());
}

BOOST_AUTO_TEST_CASE(a_gradient_that_nothing_reaches_is_final_at_the_end_alone) {
  const std::string left = tables(1)[1];
  const auto pass = [&](const auto& behind_closure) {
    parameters.begin_step();
    for (const int round : {0, 1, 2})
      for (const std::string& name : tables(round))
        if (name != left) write(name);
    behind_closure();
  };
  pass([&] { order.saw_closure(); });
  order.end();
  BOOST_TEST(order.rounds().back() == 1);
  size_t final = 9;
  pass([&] { final = order.final(0); });
  BOOST_TEST(final == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
