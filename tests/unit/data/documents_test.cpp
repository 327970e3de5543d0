// Documents of a language model: where they are cut, and the labels of each sequence.
#include "lib/data/documents.h"

#include <map>

#include "lib/base/error.h"
#include "lib/data/masking.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

using Ids = std::vector<int32_t>;

struct Sentence {
  Ids ids;
  int64_t line;
  bool continues;
  bool operator==(const Sentence&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Sentence& s) {
  for (const int32_t id : s.ids) out << id << " ";
  return out << "of line " << s.line << (s.continues ? ", continues" : "");
}

CacheOptions documents(int context, bool blank_lines = false, bool cross_documents = false) {
  CacheOptions options;
  options.context = context;
  options.blank_lines = blank_lines;
  options.cross_documents = cross_documents;
  return options;
}

std::vector<Sentence> cut(const CacheOptions& o, const std::vector<Ids>& lines) {
  std::vector<Sentence> out;
  DocumentCutter cutter(o.context, o.blank_lines, o.cross_documents,
                        [&](std::span<const int32_t> ids, int64_t line, bool continues) {
                          out.push_back({{ids.begin(), ids.end()}, line, continues});
                        });
  int64_t number = 0;
  for (const Ids& line : lines) cutter.add_line(line, ++number);
  cutter.end();
  return out;
}

struct TextFixture : PackingFixture {
  IdCache open(const std::string& text, const CacheOptions& options) const {
    build_cache(folder / "text", {{{folder.file("text.txt", text)}, words.get()}}, options);
    return IdCache(folder / "text");
  }
  // How often each pair of an input token and its label occurs in an epoch.
  static std::map<std::pair<int, int>, int> asked(const IdCache& cache) {
    PackerOptions packing;
    packing.batch_tokens = 24;
    packing.epochs = 1;
    Packer packer(cache, packing);
    std::map<std::pair<int, int>, int> counts;
    for (Batch batch; packer.next(batch);)
      for (size_t i = 0; i < batch.labels.size(); ++i)
        if (batch.labels[i] != no_label) ++counts[{batch.sides[0].ids[i], batch.labels[i]}];
    return counts;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(data_documents)

BOOST_AUTO_TEST_CASE(lines_are_documents) {
  const std::vector<Ids> lines{{10, 11, 12, 13, 14}, {}, {20, 21}, {30, 31, 32}};
  const std::vector<Sentence> wanted{{{10, 11}, 1, false}, {{12, 13}, 1, true},  {{14}, 1, true},
                                     {{20, 21}, 3, false}, {{30, 31}, 4, false}, {{32}, 4, true}};
  BOOST_TEST(cut(documents(3), lines) == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(blank_lines_part_documents) {
  const std::vector<Ids> lines{{}, {10, 11}, {12}, {}, {}, {20}, {21, 22, 23, 24}};
  const std::vector<Sentence> wanted{
      {{10, 11, 12}, 2, false}, {{20, 21, 22}, 6, false}, {{23, 24}, 6, true}};
  BOOST_TEST(cut(documents(4, true), lines) == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sentences_may_cross_documents) {
  const int eos = Vocabulary::eos, bos = Vocabulary::bos;
  const std::vector<Ids> lines{{10, 11}, {20}, {30, 31}};
  const std::vector<Sentence> wanted{
      {{10, 11, eos}, 1, false}, {{bos, 20, eos}, 1, true}, {{bos, 30, 31}, 1, true}};
  BOOST_TEST(cut(documents(4, false, true), lines) == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(words_and_bytes_are_counted) {
  TextTally tally;
  for (const char* line : {"one two", "", "  three\tfour ", " "}) tally.add(line);
  BOOST_TEST(tally.words == 4);
  BOOST_TEST(tally.bytes == 8 + 14);
}

// Wherever documents are cut, each token is a label once, after its predecessor.
BOOST_FIXTURE_TEST_CASE(every_token_is_asked_for_once, TextFixture) {
  const int bos = Vocabulary::bos, eos = Vocabulary::eos;
  const auto id = [&](const char* word) { return words->id_of(word); };
  std::map<std::pair<int, int>, int> wanted;
  std::string text;
  for (const int length : {1, 7, 8, 9, 30, 3}) {
    int before = bos;
    for (int i = 0; i < length; ++i) {
      const std::string word = "w" + std::to_string(10 * length + i);
      text += word + " ";
      ++wanted[{before, id(word.c_str())}];
      before = id(word.c_str());
    }
    ++wanted[{before, eos}];
    text += "\n";
  }
  for (const CacheOptions& options :
       {documents(20), documents(2), documents(3), documents(8), documents(9),
        documents(8, false, true), documents(2, false, true)}) {
    const IdCache cache = open(text, options);
    BOOST_TEST(cache.longest(0) < options.context);
    BOOST_TEST(cache.report().documents == 6);
    BOOST_TEST((asked(cache) == wanted), options.context << " " << options.cross_documents);
  }
  const IdCache cache = open(text, documents(8));
  BOOST_TEST(cache.report().text.words == 58);
  BOOST_TEST(cache.report().text.bytes == int64_t(text.size()));
  BOOST_TEST(!cache.continues(0));
  BOOST_TEST(cache.continues(cache.pairs() - 2));
  BOOST_TEST(cache.line(cache.pairs() - 1) == 6);
}

BOOST_FIXTURE_TEST_CASE(empty_lines_are_told, TextFixture) {
  const IdCache cache = open("w1\n\n  \nw2\n", documents(8));
  BOOST_TEST(describe_dropped(cache.report(), 0) == "left out 2 empty lines of 4");
  BOOST_TEST(describe_dropped(open("w1\n\nw2\n", documents(8, true)).report(), 0) == "");
  BOOST_TEST(tx_test::message_of<DataError>([&] { open("\n\n", documents(8)); }).find("no pair") !=
             std::string::npos);
}

// 15 % of the tokens are predicted, in their own row: 80 % masked, 10 % replaced, 10 % unchanged.
BOOST_FIXTURE_TEST_CASE(masks_have_their_shares, TextFixture) {
  int64_t all = 0, guessed = 0, hidden = 0, same = 0;
  for (uint32_t place = 0; place < 400; ++place) {
    Ids ids(100, 500), labels(100);
    mask_tokens({1, 0, place}, 1004, ids, labels);
    for (size_t i = 0; i < ids.size(); ++i) {
      all += 1;
      BOOST_REQUIRE((labels[i] == no_label || labels[i] == 500));
      if (labels[i] == no_label) BOOST_REQUIRE(ids[i] == 500);
      if (labels[i] == no_label) continue;
      guessed += 1;
      hidden += ids[i] == mask_token;
      same += ids[i] == 500;
      BOOST_REQUIRE((ids[i] == mask_token || (ids[i] >= Vocabulary::specials && ids[i] < 1004)));
    }
  }
  BOOST_TEST(std::abs(double(guessed) / double(all) - 0.15) < 0.01);
  BOOST_TEST(std::abs(double(hidden) / double(guessed) - 0.8) < 0.02);
  BOOST_TEST(std::abs(double(same) / double(guessed) - 0.1) < 0.02);
  for (uint32_t place = 0; place < 50; ++place) {  // at least one per sentence
    Ids ids{500}, labels{0};
    mask_tokens({1, 3, place}, 1004, ids, labels);
    BOOST_TEST(labels[0] == 500);
  }
}

// A sentence's masks do not depend on the size of batches, and differ between epochs.
BOOST_FIXTURE_TEST_CASE(masks_do_not_depend_on_packing, TextFixture) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 1 + i % 9; ++k) text += "w" + std::to_string((7 * i + k) % 1000) + " ";
    text += "\n";
  }
  const IdCache cache = open(text, documents(32));
  using Seen = std::map<std::pair<int64_t, uint32_t>, std::pair<Ids, Ids>>;  // by epoch and place
  const auto pass = [&](int batch_tokens, uint64_t seed) {
    PackerOptions packing;
    packing.batch_tokens = batch_tokens;
    packing.epochs = 2;
    packing.masked = true;
    packing.seed = seed;
    Packer packer(cache, packing);
    Seen seen;
    for (Batch batch; packer.next(batch);) {
      const BatchSide& side = batch.sides[0];
      for (int s = 0; s < batch.sentences; ++s) {
        auto& [ids, labels] = seen[{batch.epoch, side.pair[size_t(side.offsets[size_t(s)])]}];
        for (int row = side.offsets[size_t(s)]; row < side.offsets[size_t(s) + 1]; ++row) {
          ids.push_back(side.ids[size_t(row)]);
          labels.push_back(batch.labels[size_t(row)]);
        }
        BOOST_REQUIRE(ids[0] == Vocabulary::bos);
        BOOST_REQUIRE(labels[0] == no_label);
        BOOST_REQUIRE(std::count(labels.begin(), labels.end(), no_label) < int64_t(labels.size()));
      }
    }
    return seen;
  };
  const Seen one = pass(64, 1);
  BOOST_TEST(one.size() == 400u);
  BOOST_TEST((pass(333, 1) == one));
  BOOST_TEST((pass(64, 2) != one));
  int64_t moved = 0;
  for (uint32_t place = 0; place < 200; ++place)
    moved += one.at({0, place}).second != one.at({1, place}).second;
  BOOST_TEST(moved > 100);
}

BOOST_AUTO_TEST_SUITE_END()
