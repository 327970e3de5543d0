// Shortlists: the tokens that are listed for a line, and log P normalised over a list.
#include "lib/search/engine/shortlist.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "lib/search/engine/scorer.h"
#include "lib/subword/subword.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

using Ids = std::vector<int32_t>;

std::string text_of(const Vocabulary& v, const Ids& ids) {
  std::string out;
  for (const int32_t id : ids) out += (out.empty() ? "" : " ") + v.token(id);
  return out;
}

// The scores of a first step of two sentences, each as a row of the whole vocabulary.
std::vector<std::vector<float>> scored(const std::vector<const Transformer*>& models, int top,
                                       const TokenLists::Lists& lists) {
  Backend backend = make_backend(Device::cpu, 1);
  Scorer scorer(backend, models, DType::f32, top, true);
  if (!lists.empty()) scorer.use_lists();
  const std::vector<std::vector<int>> sources = {random_sentence(1, 7), random_sentence(2, 4)};
  const int64_t steps[] = {3, 3};
  scorer.open({11, 4, 12, 3});
  BOOST_REQUIRE(scorer.admit(sources, steps, 2, lists));
  const std::vector<IncrementalDecoder::Row> rows = {{0, -1, Vocabulary::bos},
                                                     {1, -1, Vocabulary::bos}};
  const Scores s = scorer.step(rows);
  const float none = -std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> out(2, std::vector<float>(71, none));
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < size_t(s.width); ++j) {
      const size_t at = i * size_t(s.width) + j;
      if (s.ids && s.ids[at] < 0) continue;
      out[i][s.ids ? size_t(s.ids[at]) : j] = s.log_p[at];
      if (s.ids && j > 0) BOOST_TEST(s.log_p[at] <= s.log_p[at - 1]);
    }
  const int32_t second = 1;
  if (top == 0) return out;
  const std::span<const float> again = scorer.look_again({&second, 1});
  for (size_t id = 0; id < 71; ++id)
    if (!std::isinf(out[1][id])) BOOST_TEST(again[id] == out[1][id]);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shortlist)

BOOST_AUTO_TEST_CASE(log_p_is_among_the_list) {
  ModelConfig config = small_config();
  config.output_bias = true;
  const RandomModel first(config, DType::f32, 300), second(config, DType::f32, 300, 1, true, 4);
  const std::vector both = {&first.transformer, &second.transformer};
  const TokenLists::Lists lists = {{3, 5, 6, 20, 69, 70}, {3, 4, 20}};
  for (const auto& models : {std::vector{both[0]}, both}) {
    const auto all = scored({both[0]}, 0, {}), other = scored({both[1]}, 0, {});
    for (const int top : {0, 2, 5, 71}) {
      const auto got = scored(models, top, lists);
      for (size_t i = 0; i < 2; ++i) {
        const auto share = [&](const std::vector<float>& row, size_t id) {
          double sum = 0;
          for (const int32_t listed : lists[i]) sum += std::exp(double(row[size_t(listed)]));
          return double(row[id]) - std::log(sum);
        };
        size_t found = 0;
        for (size_t id = 0; id < 71; ++id) {
          if (std::isinf(got[i][id])) continue;
          ++found;
          BOOST_TEST((std::ranges::count(lists[i], int32_t(id)) == 1));
          const double one = share(all[i], id);
          const double wanted = models.size() == 1 ? one : (one + share(other[i], id)) / 2;
          BOOST_TEST(std::abs(double(got[i][id]) - wanted) < 1e-5);
        }
        BOOST_TEST(found == (top ? std::min(size_t(top), lists[i].size()) : lists[i].size()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_union_follows_those_that_are_there) {
  Backend backend = make_backend(Device::cpu, 1);
  TokenLists lists(backend, 10);
  lists.add({{3, 5}, {4, 5, 9}});
  BOOST_TEST((lists.all() == Ids{3, 4, 5, 9}));
  BOOST_TEST((lists.of(1).columns[0] == 1 && lists.of(1).columns[2] == 3));
  lists.release(1);
  lists.add({{3, 8}});
  BOOST_TEST((lists.all() == Ids{3, 5, 8}));
  BOOST_TEST((lists.of(0).columns[1] == 1 && lists.of(2).columns[1] == 2));
  BOOST_TEST((lists.of(2).size() == 2 && lists.of(2).ids[1] == 8));
  BOOST_CHECK_THROW(lists.of(1), Bug);
}

BOOST_AUTO_TEST_CASE(what_is_on_a_list) {
  SubwordTraining training;
  training.vocab_size = 280;
  const WordCounts counts = {{"abcdefghi", 3}, {"ihgfedcba", 2}};
  const auto v = parse_vocabulary(train_subword(counts, training), "model");
  const TempFolder folder;
  SearchOptions options;
  options.shortlist = folder / "list";
  options.shortlist_first = 2;
  options.shortlist_best = 1;
  const auto token = [&](const char* text) {
    BOOST_REQUIRE(v->id_of(text) >= 0);
    return v->id_of(text);
  };
  write_atomically(options.shortlist,
                   "\ta\t0.1\n\tb\t0.3\n\tc\t0.2\n"
                   "d\te\t0.5\nd\tf\t0.6\ng\t<0x41>\t1\ng\t<unk>\t1\n<0xC3>\td\t1\n");
  const Shortlist shortlist(options, *v, *v);
  Source source;
  source.ids = {token("d"), token("g")};
  // <unk> is never listed, and bytes only if the source has some.
  Ids wanted = {Vocabulary::eos, token("b"), token("c"), token("f")};
  std::ranges::sort(wanted);
  BOOST_TEST(text_of(*v, shortlist.list(source)) == text_of(*v, wanted));
  source.prefix = {token("h")};
  source.phrases = {{token("i"), token("d")}};
  for (const char* more : {"h", "i", "d"}) wanted.push_back(token(more));
  std::ranges::sort(wanted);
  BOOST_TEST(text_of(*v, shortlist.list(source)) == text_of(*v, wanted));
  source.ids.push_back(token("<0xC3>"));
  BOOST_TEST(shortlist.list(source).size() == wanted.size() + 256);
}

BOOST_AUTO_TEST_SUITE_END()
