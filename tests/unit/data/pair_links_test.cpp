// Links between the rows of batches, for the usual subwords and for those of BPE-dropout.
#include <boost/test/unit_test.hpp>

#include "lib/data/links.h"
#include "lib/subword/subword.h"
#include "lib/subword/words.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

// Lines of words of several tokens. Word w of the source is linked to two words of the target, word
// w and the last one. Every fifth line has no links.
struct LinkFixture : PackingFixture {
  LinkFixture() {
    const char* const nouns[] = {"house", "river", "machine", "children", "window", "letter"};
    PhiloxStream random(3, 1);
    std::string links, files[2];
    std::vector<std::string> text;
    for (int i = 0; i < 200; ++i) {
      std::string line;
      words_of.push_back(2 + int(random.next() % 8));
      for (int k = 0; k < words_of.back(); ++k) {
        line += std::string(k ? " " : "") + nouns[random.next() % 6];
        const std::string number = std::to_string(k);
        if (i % 5)
          links += number + "-" + number + " " + number + "-" +
                   std::to_string(words_of.back() - 1) + " ";
      }
      text.push_back(line);
      links += "\n";
      for (std::string& file : files) file += line + "\n";
    }
    SubwordTraining training;
    training.vocab_size = 300;
    model = parse_vocabulary(train_subword(count_words(source_of(text), 1), training), "model");
    CacheOptions options;
    options.links = folder.file("links", links);
    build_cache(
        folder / "text.ids",
        {{{folder.file("s", files[0])}, model.get()}, {{folder.file("t", files[1])}, model.get()}},
        options);
    cache = std::make_unique<IdCache>(folder / "text.ids");
  }

  std::shared_ptr<const Vocabulary> model;
  std::unique_ptr<IdCache> cache;
  std::vector<int> words_of;  // of each line
};

// The word of each token of a sentence, without <bos> and <eos>.
std::vector<int> words(const Vocabulary& model, const BatchSide& side, int sentence, bool target) {
  const auto begin = side.ids.begin() + side.offsets[size_t(sentence)] + target;
  const std::vector<int> ids(begin,
                             side.ids.begin() + side.offsets[size_t(sentence) + 1] - !target);
  std::vector<int> out;
  int word = -1;
  for (const int id : ids) out.push_back(word += model.token(id).starts_with("\u2581"));
  return out;
}

int check(const LinkFixture& f, const Batch& batch, bool shift) {
  int linked = 0;
  BOOST_REQUIRE(batch.links.starts.size() == batch.labels.size() + 1);
  std::vector<std::vector<int32_t>> want(batch.labels.size());
  for (int s = 0; s < batch.sentences; ++s) {
    const int64_t line = batch.lines[size_t(s)] - 1;
    const std::vector<int> from = words(*f.model, batch.sides[0], s, false);
    const std::vector<int> to = words(*f.model, batch.sides[1], s, true);
    BOOST_REQUIRE(to.back() + 1 == f.words_of[size_t(line)]);
    for (size_t i = 0; i < to.size() && line % 5; ++i)
      for (size_t j = 0; j < from.size(); ++j)
        if (from[j] == to[i] || to[i] == to.back())
          want[size_t(batch.sides[1].offsets[size_t(s)]) + i + shift].push_back(int32_t(j));
  }
  for (size_t row = 0; row < want.size(); ++row) {
    const auto begin = batch.links.columns.begin();
    const std::vector<int32_t> got(begin + batch.links.starts[row],
                                   begin + batch.links.starts[row + 1]);
    BOOST_REQUIRE((got == want[row]));
    linked += !got.empty();
  }
  return linked;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pair_links, LinkFixture)

BOOST_AUTO_TEST_CASE(every_token_of_a_word_is_linked) {
  for (const bool shift : {false, true}) {
    const PairLinks links(*cache, {model, 2}, shift);
    PackerOptions options;
    options.batch_tokens = 300;
    options.links = &links;
    options.epochs = 1;
    Packer packer(*cache, options);
    int linked = 0;
    for (Batch batch; packer.next(batch);) linked += check(*this, batch, shift);
    BOOST_TEST(linked > 1000);
  }
}

BOOST_AUTO_TEST_CASE(links_follow_the_tokens_of_bpe_dropout) {
  const PairDropout dropout(*cache, {model, 2}, 0.3, 9);
  const PairLinks links(*cache, {model, 2}, false);
  PackerOptions options;
  options.batch_tokens = 400;
  options.dropout = &dropout;
  options.links = &links;
  options.epochs = 2;
  Packer packer(*cache, options);
  int linked = 0;
  for (Batch batch; packer.next(batch);) linked += check(*this, batch, false);
  BOOST_TEST(linked > 3000);  // two epochs, with more tokens than usual
}

BOOST_AUTO_TEST_CASE(a_text_without_links_has_none) {
  const IdCache plain = make(captions(20));
  Packer packer(plain, {});
  Batch batch;
  BOOST_TEST(packer.next(batch));
  BOOST_TEST(batch.links.starts.empty());
}

BOOST_AUTO_TEST_SUITE_END()
