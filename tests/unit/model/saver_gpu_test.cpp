// A save on the GPU is written from a copy of the parameters while they change.
#include <boost/test/unit_test.hpp>
#include <future>
#include <vector>

#include "lib/train/saver.h"
#include "tests/unit/model/small_model.h"

using namespace tx;

namespace {

// Of every block that a checkpoint holds.
std::vector<float> values_of(const Parameters& p) {
  std::vector<float> all;
  for (const Matrix& block : {p.master(), p.moment1(), p.moment2()}) {
    std::vector<float> values(size_t(block.cols));
    on(p.backend(), [&](auto& k) { k.download(values.data(), block.data, values.size() * 4); });
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Other weights, and moments that are their copies.
void change(Parameters& p, uint32_t seed) {
  p.initialise(seed);
  on(p.backend(), [&](auto& k) {
    k.copy(p.moment1().data, p.master().data, size_t(p.master().cols) * 4);
    k.copy(p.moment2().data, p.master().data, size_t(p.master().cols) * 4);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saver_gpu)

BOOST_AUTO_TEST_CASE(what_is_written_is_what_was_when_the_save_began) {
  Backend backend = make_backend("cuda", 1);
  Parameters parameters(backend, tx_test::small_config(), DType::bf16, true);
  Saver saver(parameters);
  BOOST_TEST(Saver::bytes(parameters) == size_t(parameters.master().cols) * 12);
  for (uint32_t round = 1; round <= 3; ++round) {
    change(parameters, round);
    std::promise<void> changed;
    std::vector<float> written;
    saver.begin([&](const Parameters& copy, const Moments&) {
      changed.get_future().wait();
      written = values_of(copy);
    });
    BOOST_TEST(!saver.done());  // the save is under way: here training goes on
    const std::vector<float> then = values_of(parameters);
    change(parameters, round + 100);
    BOOST_TEST((values_of(parameters) != then));
    changed.set_value();
    saver.finish();
    BOOST_TEST(saver.done());
    BOOST_TEST((written == then));
  }
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_the_save_under_way) {
  Backend backend = make_backend("cuda", 1);
  Parameters parameters(backend, tx_test::small_config(), DType::f32, true);
  change(parameters, 7);
  std::vector<float> written;
  {
    Saver saver(parameters);
    saver.begin([&](const Parameters& copy, const Moments&) { written = values_of(copy); });
  }
  BOOST_TEST((written == values_of(parameters)));
}

BOOST_AUTO_TEST_SUITE_END()
