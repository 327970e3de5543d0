#include "lib/eval/corpus.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/eval/bleu.h"
#include "tests/support.h"

namespace {

using Segments = std::vector<std::vector<std::string>>;  // hypothesis, then its references

Segments read(const tx::CorpusFiles& files) {
  Segments segments;
  const tx::Log log("test", true);
  const int64_t count = tx::for_each_segment(
      files, log, [&](const std::string& hypothesis, std::span<const std::string> references) {
        segments.push_back({hypothesis});
        segments.back().insert(segments.back().end(), references.begin(), references.end());
      });
  BOOST_TEST(count == int64_t(segments.size()));
  return segments;
}

struct Corpus {
  tx_test::TempFolder folder;
  std::string three = folder.file("three", "a\nb\nc\n"), two = folder.file("two", "x\ny");
  std::string other = folder.file("other", "d\ne\nf"), empty = folder.file("empty", "");
  std::string bad = folder.file("bad", "g\n\xFFh\n\n");
};

bool names_both_counts(const tx::DataError& e) {
  const std::string message = e.what();
  return message.find("two has 2 lines") != std::string::npos &&
         message.find("three has 3 lines") != std::string::npos &&
         message.find("line 3 of") != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(corpus, Corpus)

BOOST_AUTO_TEST_CASE(lines_of_all_files_come_together) {
  const Segments expected = {{"a", "d", "a"}, {"b", "e", "b"}, {"c", "f", "c"}};
  BOOST_TEST((read({three, {other, three}}) == expected));
  BOOST_TEST(read({empty, {empty}}).empty());
}

BOOST_AUTO_TEST_CASE(the_first_line_without_a_counterpart_is_named) {
  BOOST_CHECK_EXCEPTION(read({two, {three}}), tx::DataError, names_both_counts);
  BOOST_CHECK_EXCEPTION(read({three, {two}}), tx::DataError, names_both_counts);
  BOOST_CHECK_EXCEPTION(read({three, {three, two}}), tx::DataError, names_both_counts);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced_or_refused) {
  BOOST_TEST(read({bad, {three}})[1][0] == "\uFFFDh");
  BOOST_CHECK_THROW(read({bad, {three}, true}), tx::DataError);
  BOOST_CHECK_NO_THROW(read({three, {other}, true}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_scored) {
  tx::Bleu bleu({});
  const tx::Log log("test", true);
  BOOST_CHECK_THROW(tx::score_corpus(bleu, {empty, {empty}}, log), tx::DataError);
  BOOST_CHECK_THROW(tx::score_corpus(bleu, {"-", {"-"}}, log), tx::UsageError);
  BOOST_CHECK_THROW(tx::score_corpus(bleu, {three, {}}, log), tx::UsageError);
  BOOST_CHECK_THROW(tx::score_corpus(bleu, {three, {folder / "none"}}, log), tx::IoError);
}

BOOST_AUTO_TEST_SUITE_END()
