// Translations do not depend on batches, order, other lines, threads or workers; ensembles.
// Also with an older instruction set: it may give other bits, but the same in every batch.
// environment: TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
// environment: TX_MAX_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=AVX512_CORE
// environment: DNNL_MAX_CPU_ISA=ALL
// environment: OPENBLAS_CORETYPE=Haswell
#include <array>
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

std::vector<std::string> all(const TranslatorOptions& o, DType dtype,
                             const std::vector<Source>& sources) {
  const Translator translator(o, model_set(small_config(), dtype));
  std::vector<std::string> out;
  for (const Translation& t : translator.translate(sources)) out.push_back(exact(t));
  return out;
}

void check_invariance(const SearchOptions& search) {
  const std::vector<Source> sources = random_sources(41);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    TranslatorOptions o = options_of();
    o.search = search;
    const auto wanted = all(o, dtype, sources);
    for (const int64_t batch_tokens : {1, 60, 333, 100000}) {
      for (const int threads : {1, 2, 3}) {
        o.batch_tokens = batch_tokens;
        o.threads = threads;
        BOOST_TEST(all(o, dtype, sources) == wanted, boost::test_tools::per_element());
      }
    }
    std::vector<Source> turned(sources.rbegin(), sources.rend());
    auto found = all(o, dtype, turned);
    std::reverse(found.begin(), found.end());
    BOOST_TEST(found == wanted, boost::test_tools::per_element());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(calls_share_workers) {
  const Translator translator = tiny_translator(options_of(1));
  const TranslationWorker* const first = translator.worker().get();
  const std::vector<Source> sources = random_sources(3);
  const auto wanted = translator.translate(sources);
  BOOST_TEST(translator.worker().get() == first);
  const auto lent = translator.worker();
  BOOST_TEST(translator.worker().get() != first);
  const auto again = translator.translate(sources);
  for (size_t i = 0; i < wanted.size(); ++i) BOOST_TEST(exact(again[i]) == exact(wanted[i]));
}

BOOST_AUTO_TEST_CASE(beam_search_is_batch_invariant) {
  SearchOptions search;
  search.nbest = 4;
  search.max_extra = 5;
  check_invariance(search);
}

BOOST_AUTO_TEST_CASE(greedy_search_is_batch_invariant) {
  SearchOptions search;
  search.beam = 1;
  search.max_extra = 5;
  check_invariance(search);
}

BOOST_AUTO_TEST_CASE(sampling_is_batch_invariant) {
  SearchOptions search;
  search.sample = true;
  search.nbest = 2;
  search.top_k = 20;
  search.max_extra = 5;
  check_invariance(search);
}

BOOST_AUTO_TEST_CASE(outputs_respect_their_longest_length) {
  TranslatorOptions o = options_of();
  o.search.max_extra = 2;
  const auto sources = random_sources(20, 12);
  const auto found = tiny_translator(o).translate(sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    BOOST_TEST(found[i][0].ids.size() <= sources[i].ids.size() + 2);
    for (int id : found[i][0].ids) BOOST_TEST((id == Vocabulary::unk || id > Vocabulary::eos));
  }
}

BOOST_AUTO_TEST_CASE(sources_without_tokens_have_the_empty_translation) {
  std::vector<Source> sources = random_sources(3);
  sources[1].ids.clear();
  const auto found = tiny_translator(options_of()).translate(sources);
  BOOST_TEST(found[1].size() == 1u);
  BOOST_TEST(found[1][0].ids.empty());
  BOOST_TEST(found[1][0].complete);
  BOOST_TEST(tiny_translator(options_of()).translate(std::vector<Source>(2)).size() == 2u);
}

BOOST_AUTO_TEST_CASE(an_ensemble_of_one_model_twice_is_that_model) {
  const auto sources = random_sources(12);
  const TranslatorOptions o = options_of();
  const Translator once(o, model_set(small_config(), DType::f32, {3}));
  const Translator twice(o, model_set(small_config(), DType::f32, {3, 3}));
  const Translator others(o, model_set(small_config(), DType::f32, {3, 4, 5}));
  const auto a = once.translate(sources), b = twice.translate(sources);
  const auto c = others.translate(sources);
  int different = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    BOOST_TEST(a[i][0].ids == b[i][0].ids);
    BOOST_TEST(std::abs(a[i][0].log_p - b[i][0].log_p) < 1e-4);
    different += a[i][0].ids != c[i][0].ids;
  }
  BOOST_TEST(different > 0);
}

BOOST_AUTO_TEST_CASE(an_ensemble_averages_log_probabilities) {
  auto backend = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  auto set = model_set(small_config(), DType::f32, {3, 4});
  const auto models = set->transformers();
  const std::vector<std::vector<int>> source = {random_sentence(1, 7)};
  const std::vector<IncrementalDecoder::Row> row = {{0, -1, Vocabulary::bos}};
  const auto scores = [&](std::vector<const Transformer*> which) {
    Scorer scorer(*backend, which, DType::f32, 0);
    const int64_t steps[] = {3};
    scorer.open({int64_t(source[0].size()), 1, 3, 3});
    BOOST_TEST(scorer.admit(source, steps, 1));
    const Scores s = scorer.step(row);
    return std::vector<float>(s.log_p, s.log_p + s.width);
  };
  const auto a = scores({models[0]}), b = scores({models[1]}), both = scores(models);
  BOOST_REQUIRE(both.size() == 71u);
  for (size_t i = 0; i < both.size(); ++i) {
    BOOST_TEST(std::abs(both[i] - (a[i] + b[i]) / 2) < 1e-5);
  }
  Scorer top(*backend, models, DType::f32, 5);
  const int64_t steps[] = {3};
  top.open({int64_t(source[0].size()), 1, 3, 3});
  BOOST_TEST(top.admit(source, steps, 1));
  const Scores best = top.step(row);
  BOOST_TEST(best.log_p[0] == *std::max_element(both.begin(), both.end()));
  BOOST_TEST(both[size_t(best.ids[4])] == best.log_p[4]);
}

BOOST_AUTO_TEST_CASE(models_of_other_vocabularies_are_refused_by_name) {
  auto backend = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  ModelConfig other = small_config();
  other.set_vocabularies(72);
  std::vector<LoadedModel> models;
  models.push_back(loaded_model(*backend, small_config(), DType::f32, 3, 100));
  models.push_back(loaded_model(*backend, other, DType::f32, 4, 100));
  const std::string message =
      message_of<DataError>([&] { ModelSet(std::move(backend), std::move(models)); });
  BOOST_TEST(message.find("model3 and model4 have different source vocabularies") == 0u);
}

BOOST_AUTO_TEST_CASE(an_encoder_gives_vectors_and_fills_masks) {
  ModelConfig config = small_config();
  config.set_kind(ModelKind::encoder);
  std::vector<Source> sources = random_sources(9);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].ids.empty()) continue;
    sources[i].encoding = std::array{Encoding::mean, Encoding::first, Encoding::masks}[i % 3];
    if (i % 3 == 2) sources[i].ids.back() = mask_token;
  }
  std::vector<Translation> wanted;
  for (const int64_t batch_tokens : {100000, 30, 1}) {
    TranslatorOptions o = options_of(2, batch_tokens);
    o.search.nbest = 4;
    const Translator translator(o, model_set(config, DType::f32));
    BOOST_TEST(translator.encodes());
    const std::vector<Translation> found = translator.translate(sources);
    if (wanted.empty()) wanted = found;
    for (size_t i = 0; i < sources.size(); ++i) {
      const TokenHypothesis &h = found[i].front(), &other = wanted[i].front();
      if (sources[i].blank()) continue;
      const bool filled = sources[i].encoding == Encoding::masks;
      BOOST_TEST(h.vector.size() == (filled ? 0u : size_t(config.d_model)));
      BOOST_TEST(h.masks.size() == size_t(filled));
      BOOST_TEST(h.vector == other.vector);
      if (!filled) continue;
      BOOST_TEST(h.masks[0].size() == 4u);
      BOOST_TEST(h.ids.back() == h.masks[0][0].token);
      BOOST_TEST(h.masks[0][0].probability == other.masks[0][0].probability);
      BOOST_TEST(h.masks[0][0].probability >= h.masks[0][1].probability);
    }
  }
}

BOOST_AUTO_TEST_CASE(models_of_two_kinds_are_no_ensemble) {
  auto backend = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  ModelConfig decoder = small_config();
  decoder.set_kind(ModelKind::decoder);
  std::vector<LoadedModel> models;
  models.push_back(loaded_model(*backend, small_config(), DType::f32, 3, 100));
  models.push_back(loaded_model(*backend, decoder, DType::f32, 4, 100));
  BOOST_TEST(message_of<DataError>([&] { ModelSet(std::move(backend), std::move(models)); }) ==
             "model3 is of kind encoder-decoder, model4 of kind decoder: only models of one kind "
             "can be joined");
}

BOOST_AUTO_TEST_CASE(batches_hold_every_source_once) {
  const auto sources = random_sources(200);
  for (const int64_t batch_tokens : {1, 100, 1024}) {
    for (const int threads : {1, 7}) {
      const Translator t = tiny_translator(options_of(threads, batch_tokens));
      const auto batches = t.batches(sources);
      std::vector<size_t> seen;
      for (const auto& batch : batches) {
        int64_t tokens = 0;
        for (size_t i : batch) tokens += int64_t(sources[i].ids.size()) + 1;
        BOOST_TEST((tokens <= Translator::batches_in_turn * batch_tokens || batch.size() == 1));
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      std::vector<size_t> wanted(sources.size());
      std::iota(wanted.begin(), wanted.end(), 0);
      BOOST_TEST(seen == wanted);
      BOOST_TEST(int(batches.size()) >= threads);
    }
  }
}
