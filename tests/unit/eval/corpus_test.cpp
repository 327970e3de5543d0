#include "lib/eval/corpus.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "tests/support.h"

namespace {

using Segments = std::vector<std::vector<std::string>>;  // hypothesis, then its references

Segments read(const tx::CorpusFiles& files) {
  Segments segments;
  tx::SegmentReader reader(files);
  for (tx::Segment segment; reader.next(segment);) {
    segments.push_back(segment.hypotheses);
    segments.back().insert(segments.back().end(), segment.references.begin(),
                           segment.references.end());
  }
  BOOST_TEST(reader.segments() == int64_t(segments.size()));
  return segments;
}

tx::CorpusFiles tabs(const std::string& hypotheses, const std::string& references, int count) {
  tx::CorpusFiles files{{hypotheses}, {references}};
  files.tab_references = count;
  return files;
}

struct Corpus {
  tx_test::TempFolder folder;
  std::string three = folder.file("three", "a\nb\nc\n"), two = folder.file("two", "x\ny");
  std::string other = folder.file("other", "d\ne\nf"), empty = folder.file("empty", "");
  std::string bad = folder.file("bad", "g\n\xFFh\n\n");
  std::string tabbed = folder.file("tabbed", "u\tv\tw\n\tv\nu\t\n");
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
  BOOST_TEST((read({{three}, {other, three}}) == expected));
  BOOST_TEST(read({{empty}, {empty}}).empty());
}

BOOST_AUTO_TEST_CASE(the_first_line_without_a_counterpart_is_named) {
  BOOST_CHECK_EXCEPTION(read({{two}, {three}}), tx::DataError, names_both_counts);
  BOOST_CHECK_EXCEPTION(read({{three}, {two}}), tx::DataError, names_both_counts);
  BOOST_CHECK_EXCEPTION(read({{three}, {three, two}}), tx::DataError, names_both_counts);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced_or_refused) {
  BOOST_TEST(read({{bad}, {three}})[1][0] == "\uFFFDh");
  tx::CorpusFiles strict{{bad}, {three}};
  strict.strict = true;
  BOOST_CHECK_THROW(read(strict), tx::DataError);
  strict.systems = {other};
  BOOST_CHECK_NO_THROW(read(strict));
}

BOOST_AUTO_TEST_CASE(several_systems_come_together) {
  const Segments expected = {{"a", "d", "a"}, {"b", "e", "b"}, {"c", "f", "c"}};
  BOOST_TEST((read({{three, other}, {three}}) == expected));
  BOOST_CHECK_THROW(read({{three, two}, {three}}), tx::DataError);
}

BOOST_AUTO_TEST_CASE(references_separated_by_tabs) {
  const Segments expected = {{"a", "u", "v\tw"}, {"b", "", "v"}, {"c", "u", ""}};
  BOOST_TEST((read(tabs(three, tabbed, 2)) == expected));
  BOOST_CHECK_THROW(read(tabs(three, tabbed, 3)), tx::DataError);
  tx::CorpusFiles skipping = tabs(three, tabbed, 2);
  skipping.skip_empty = true;
  BOOST_TEST((read(skipping) == Segments{{"a", "u", "v\tw"}, {"b", "v"}, {"c", "u"}}));
  skipping.systems = {bad};
  skipping.references = {bad};
  skipping.tab_references = 1;
  BOOST_CHECK_THROW(read(skipping), tx::DataError);  // the last line has no reference
}

BOOST_AUTO_TEST_CASE(files_that_contradict_each_other) {
  BOOST_CHECK_THROW(read({{three}, {}}), tx::UsageError);
  BOOST_CHECK_THROW(read({{three}, {folder / "none"}}), tx::IoError);
  tx::CorpusFiles files{{three}, {three, other}};
  files.tab_references = 2;
  BOOST_CHECK_THROW(read(files), tx::UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
