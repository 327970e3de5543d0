// tx-decode --check-invariance: it passes, and it detects the change of a single bit.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/diagnose/translation.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

std::vector<Translation> some_translations() {
  return tiny_translator(options_of()).translate(random_sources(6));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_report_ends_with_the_verdict) {
  const TempFolder folder;
  std::string text = "\n";
  for (int i = 0; i < 40; ++i) text += "w" + std::to_string(4 + i) + (i % 3 ? " w9 w5\n" : "\n");
  for (const DType dtype : {DType::f32, DType::bf16}) {
    LinePairs in({folder.file("in", text)});
    const std::string precision = dtype == DType::bf16 ? "bf16" : "fp32";
    BOOST_TEST(check_invariance(in, tiny_translator(options_of(2), dtype), {}, Log("test")) ==
               "41 lines in " + precision +
                   ", batches of 1024 tokens\n"
                   "identical bits: one line per batch, 1 worker\n"
                   "identical bits: in reverse order, 7 lines per batch, 3 workers\n"
                   "identical bits: shuffled, 2 to 33 lines per batch, 2 threads\n"
                   "identical bits: shuffled, 64 lines per batch, 3 threads\n"
                   "verdict: translations and scores are batch-invariant\n");
  }
}

BOOST_AUTO_TEST_CASE(every_part_of_a_translation_is_compared) {
  const std::vector<Translation> a = some_translations();
  BOOST_TEST(differing(a, a).empty());
  const auto at = [&](size_t i, auto&& change) {
    std::vector<Translation> b = a;
    change(b[i]);
    return differing(a, b) == std::vector<size_t>{i};
  };
  BOOST_TEST(at(0, [](Translation& t) { t[0].score = std::nextafter(t[0].score, 0); }));
  BOOST_TEST(at(1, [](Translation& t) { t[0].log_p = std::nextafter(t[0].log_p, -1e9); }));
  BOOST_TEST(at(2, [](Translation& t) { t[0].ids.push_back(4); }));
  BOOST_TEST(at(3, [](Translation& t) { t[0].complete = !t[0].complete; }));
  BOOST_TEST(at(4, [](Translation& t) { t.push_back(t[0]); }));
}
