#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

BOOST_FIXTURE_TEST_SUITE(packing_resume, PackingFixture)

BOOST_AUTO_TEST_CASE(a_restored_packer_goes_on_with_the_same_batches) {
  const IdCache cache = make(captions(2000));
  PackerOptions options;
  options.batch_tokens = 500;
  options.window = 300;
  Packer packer(cache, options);
  Batch expected, batch;
  for (int step = 0; step < 150; ++step) {  // about three epochs
    const std::string state = to_text(packer.state());
    packer.next(expected);
    if (step % 7 != 0) continue;
    Packer other(cache, options);
    for (int k = 0; k < step % 3; ++k) other.next(batch);  // whatever it did before
    other.restore(parse_json(state, "state"));
    other.next(batch);
    BOOST_REQUIRE(same(batch, expected));
  }
  BOOST_TEST(packer.epoch() >= 2);
}

BOOST_AUTO_TEST_CASE(states_of_other_data_or_damaged_ones_are_refused) {
  const IdCache cache = make(captions(200));
  PackerOptions options;
  options.batch_tokens = 300;
  options.window = 50;
  Packer packer(cache, options);
  Batch batch;
  packer.next(batch);
  const Json good = packer.state();
  options.seed = 5;
  BOOST_CHECK_EXCEPTION(Packer(cache, options).restore(good), DataError, [](const Error& error) {
    return std::string(error.what()).find("(seed 1, now 5)") != std::string::npos;
  });
  const auto refused = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    BOOST_CHECK_THROW(packer.restore(bad), DataError);
  };
  refused("cursor", 201);
  refused("cursor", "x");
  refused("epoch", -1);
  refused("waiting", {5, 5});
  refused("waiting", {-1});
  refused("waiting", {199});
  refused("waiting", {0.5});
  refused("waiting", {1e300});
  refused("cursor", 1e300);
  refused("epoch", 18446744073709551615u);
  refused("of", 7);
  BOOST_CHECK_THROW(packer.restore(Json()), DataError);
  packer.restore(good);
}

BOOST_AUTO_TEST_CASE(seed_and_epoch_change_the_batches) {
  const IdCache cache = make(captions(500));
  PackerOptions one, two;
  one.batch_tokens = two.batch_tokens = 8000;  // an epoch a batch
  two.seed = 2;
  Packer first(cache, one), again(cache, one), other(cache, two);
  Batch a, b, c;
  first.next(a);
  again.next(b);
  BOOST_TEST(same(a, b));
  other.next(c);
  BOOST_TEST(!same(a, c));
  first.next(b);
  BOOST_TEST(b.epoch == 1);
  BOOST_TEST(a.lines != b.lines);
}

BOOST_AUTO_TEST_SUITE_END()
