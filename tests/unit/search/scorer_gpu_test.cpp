// Scorer on the GPU: a step is a recorded graph, and the bits are those of single launches. Under
// the emulator (tests/emulator) also what the host calls in a step.
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <string>

#include "lib/search/engine/scorer.h"
#include "lib/subword/vocabulary.h"
#include "tests/unit/model/small_model.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr int words = 301;
constexpr int beam = 4, steps = 12;

// Calls of the emulated CUDA runtime by kind; empty on a real GPU.
using Calls = std::map<std::string, long long>;
Calls calls_so_far() {
  void* const library = ::dlopen("libtx-cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return {};
  using Count = long long (*)(const char*);
  const auto count = reinterpret_cast<Count>(::dlsym(library, "emulated_calls"));
  Calls calls;
  if (count)
    for (const char* kind : {"kernel", "graph", "copy", "wait", "event", "allocation", "recording"})
      calls[kind] = count(kind);
  ::dlclose(library);
  return calls;
}

Calls calls_of(const std::function<void()>& work) {
  const Calls before = calls_so_far();
  work();
  Calls made = calls_so_far();
  for (auto& [kind, count] : made) count -= before.at(kind);
  std::erase_if(made, [](const auto& call) { return call.second == 0; });
  return made;
}

std::string text_of(const Calls& calls) {
  std::string text;
  for (const auto& [kind, count] : calls) text += kind + " " + std::to_string(count) + " ";
  return text;
}

ModelConfig config_of(const char* norm) {
  ModelConfig config = tx_test::small_config(norm);
  config.d_model = 128, config.heads = config.kv_heads = 2, config.d_k = config.d_v = 64;
  config.set_vocabularies(words);
  config.resolve();
  return config;
}

std::vector<std::vector<int>> sources(std::initializer_list<uint32_t> lengths) {
  std::vector<std::vector<int>> out;
  for (const uint32_t length : lengths) {
    const std::vector<int32_t> source = sentence_of(length, length, 1).source;
    out.emplace_back(source.begin(), source.end());
  }
  return out;
}

// All scores of a search in which sentence s has `beam` rows that continue one another, by step.
struct Search {
  Search(Backend& backend, std::vector<const Transformer*> models, int top, bool lists)
      : scorer(backend, models, DType::bf16, top), lists(lists) {
    if (lists) scorer.use_lists();
    scorer.open({100, 3 * beam, 3 * beam * steps, steps});
  }
  bool admit(std::initializer_list<uint32_t> lengths) {
    const std::vector<int64_t> longest(lengths.size(), steps);
    TokenLists::Lists own;
    for (const uint32_t length : lengths) {
      if (!lists) break;
      own.push_back({3});
      for (int32_t id = int32_t(length); id < words; id += 3) own.back().push_back(id);
    }
    const bool fits = scorer.admit(sources(lengths), longest, beam, own);
    for (size_t i = 0; fits && i < lengths.size(); ++i) rows.push_back({sentences++, -1, 2});
    return fits;
  }
  void release(int32_t sentence) {
    scorer.release(sentence);
    std::erase_if(rows, [&](const auto& row) { return row.sentence == sentence; });
  }
  Calls step() {
    Scores scores;
    const Calls made = calls_of([&] { scores = scorer.step(rows); });
    const size_t count = rows.size() * size_t(scores.width);
    all.insert(all.end(), scores.log_p, scores.log_p + count);
    if (scores.ids) all_ids.insert(all_ids.end(), scores.ids, scores.ids + count);
    std::vector<IncrementalDecoder::Row> next;
    for (size_t r = 0; r < rows.size(); ++r) {
      const int32_t places = rows[r].parent < 0 ? beam : 1;
      for (int32_t place = 0; place < places; ++place) {
        const size_t at = r * size_t(scores.width) + size_t(place);
        next.push_back(
            {rows[r].sentence, int32_t(r), scores.ids ? scores.ids[at] : 5 + int32_t(r) + place});
      }
    }
    rows = next;
    return made;
  }

  Scorer scorer;
  bool lists;
  int32_t sentences = 0;
  std::vector<IncrementalDecoder::Row> rows;
  std::vector<float> all;
  std::vector<int32_t> all_ids;
};

struct Models {
  SmallModel post{config_of("post"), DType::bf16, true}, pre{config_of("pre"), DType::bf16, true};
  Backend backend = make_backend(Device::cuda, 1), plain = make_backend(Device::cuda, 1);
  Models() { plain->start_profile(); }  // every kernel is launched by itself
  std::vector<const Transformer*> of(bool both) const {
    if (both) return {post.model.get(), pre.model.get()};
    return {post.model.get()};
  }
};

}  // namespace

const boost::unit_test::precondition emulated([](boost::unit_test::test_unit_id) {
  return boost::test_tools::assertion_result(!calls_so_far().empty());
});

BOOST_AUTO_TEST_SUITE(scorer_gpu)

BOOST_AUTO_TEST_CASE(recorded_steps_have_the_bits_of_single_launches) {
  Models models;
  for (const bool both : {false, true})
    for (const int top : {0, 7, 70})
      for (const bool lists : {false, true}) {
        Search recorded(models.backend, models.of(both), top, lists);
        Search single(models.plain, models.of(both), top, lists);
        for (Search* each : {&recorded, &single}) {
          BOOST_REQUIRE(each->admit({7, 20}));
          for (int i = 0; i < 4; ++i) each->step();
          BOOST_REQUIRE(each->admit({6}));
          for (int i = 4; i < steps; ++i) each->step();
        }
        BOOST_TEST_CONTEXT(both << " " << top << " " << lists) {
          BOOST_TEST((recorded.all == single.all));
          BOOST_TEST((recorded.all_ids == single.all_ids));
        }
      }
}

// The host writes the rows, launches the graphs and waits for them.
BOOST_AUTO_TEST_CASE(a_step_is_one_launch, *emulated) {
  Models models;
  for (const bool both : {false, true}) {
    Search search(models.backend, models.of(both), 2 * beam, false);
    BOOST_REQUIRE(search.admit({7, 20}));
    for (int i = 0; i < 6; ++i) search.step();
    const Calls made = search.step();
    BOOST_TEST_MESSAGE("step: " << text_of(made));
    BOOST_TEST(text_of(made) == (both ? "graph 2 wait 1 " : "graph 1 wait 1 "));
  }
}

// A product computes the norm before it, and an attention the product and the norm before it. Of
// the norms of two layers, the last one precedes a product of odd width, and that before queries,
// keys and values one with more blocks than the emulated GPU has multiprocessors.
BOOST_AUTO_TEST_CASE(a_step_of_few_rows_has_fewer_kernels, *emulated) {
  long long kernels[3] = {};
  const char* const before = std::getenv("TX_CUDA_TRY");
  const std::string words = before ? before : "";
  const char* const tried[] = {"", "norms", "norms,heads"};
  for (const int i : {0, 1, 2}) {
    ::setenv("TX_CUDA_TRY", tried[i], 1);
    Models models;
    Search search(models.backend, models.of(false), 2 * beam, false);
    BOOST_REQUIRE(search.admit({7, 20}));
    search.step();
    kernels[i] = search.step()["kernel"];
  }
  ::setenv("TX_CUDA_TRY", words.c_str(), 1);
  BOOST_TEST_MESSAGE("kernels: " << kernels[0] << ", " << kernels[1] << ", " << kernels[2]);
  BOOST_TEST(kernels[0] - kernels[1] == 4);
  BOOST_TEST(kernels[1] - kernels[2] == 5);
}

// A step that nobody waited for keeps its rows, which the device reads from the host's memory.
BOOST_AUTO_TEST_CASE(steps_may_follow_without_a_wait) {
  SmallModel model(config_of("post"), DType::bf16, true);
  std::vector<double> logits[2];
  for (const bool waits : {false, true}) {
    IncrementalDecoder decoder(model.backend, *model.model, DType::bf16);
    decoder.begin(sources({7, 20}), 2, steps);
    for (int32_t i = 0; i < steps; ++i) {
      const IncrementalDecoder::Row rows[] = {{0, i ? 0 : -1, 5 + i}, {1, i ? 1 : -1, 20 + i}};
      const Matrix all = decoder.step(rows);
      if (i + 1 == steps) logits[waits] = to_host(model.backend, all);
      if (waits) model.backend->wait();
    }
  }
  BOOST_TEST((logits[0] == logits[1]));
}

// Neither memory nor recordings for sentences that enter, even if their lists differ.
BOOST_AUTO_TEST_CASE(an_admission_with_lists_keeps_the_recordings, *emulated) {
  Models models;
  Search search(models.backend, models.of(false), 2 * beam, true);
  BOOST_REQUIRE(search.admit({7, 20}));
  for (int i = 0; i < 6; ++i) search.step();
  search.release(0);
  Calls made = calls_of([&] { BOOST_REQUIRE(search.admit({5})); });
  BOOST_TEST_MESSAGE("admission: " << text_of(made));
  BOOST_TEST(made["allocation"] == 0);
  for (int i = 0; i < 4; ++i) {
    made = search.step();
    BOOST_TEST_MESSAGE("step: " << text_of(made));
    BOOST_TEST(text_of(made) == "graph 1 wait 1 ");
  }
}

BOOST_AUTO_TEST_SUITE_END()
