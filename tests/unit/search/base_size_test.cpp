// label: slow
// environment: TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
// environment: TX_MAX_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=AVX512_CORE
// environment: DNNL_MAX_CPU_ISA=ALL
// environment: OPENBLAS_CORETYPE=Haswell
// Layers of the paper's base size with random weights: the logits of a sentence are the same bits
// in every batch of 1 to 130 rows, and translations are batch-invariant.
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/unit/search/batch_invariance.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

ModelConfig base_config() {
  ModelConfig c;
  c.set_vocabularies(997);
  c.set_layers(1);  // the others have the same shapes
  c.resolve();
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(logits_in_every_batch) {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    RandomModel m(base_config(), dtype, 64, 2);
    const std::vector<int> sentence = random_sentence(42, 17);
    const std::string alone = bits_in_batch(m, sentence, 0, 0);
    std::set<int> different;
    for (int rows = 2; rows <= 130; ++rows) {
      const int before = rows % 3 == 0 ? 0 : rows % 3 == 1 ? rows - 1 : rows / 2;
      if (bits_in_batch(m, sentence, before, rows - 1 - before) != alone) different.insert(rows);
    }
    BOOST_TEST(different.empty());
  }
}

BOOST_AUTO_TEST_CASE(translations_are_batch_invariant) {
  const std::vector<Source> sources = random_sources(9, 12);
  for (const DType dtype : {DType::bf16, DType::f32}) {
    TranslatorOptions o = options_of(2);
    o.search.max_extra = 3;
    o.search.nbest = 4;
    const Translator translator(o, model_set(base_config(), dtype));
    std::vector<std::string> wanted;
    for (const auto& t : translator.translate(sources)) wanted.push_back(exact(t));
    std::vector<std::vector<size_t>> alone, shuffled = {{8, 1, 5, 2}, {0}, {7, 3, 6, 4}};
    for (size_t i = 0; i < sources.size(); ++i) alone.push_back({i});
    for (const auto& batches : {alone, shuffled}) {
      const auto found = translator.translate(sources, batches, {2, 1});
      for (size_t i = 0; i < sources.size(); ++i) BOOST_TEST(exact(found[i]) == wanted[i]);
    }
  }
}
