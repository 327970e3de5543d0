#include "lib/search/lines/line_progress.h"

#include <boost/test/unit_test.hpp>

#include "tests/support.h"

using namespace tx;
using tx_test::TempFolder;

BOOST_AUTO_TEST_SUITE(line_progress)

BOOST_AUTO_TEST_CASE(lines_are_counted_where_they_can_be) {
  const TempFolder folder;
  const std::string three = folder.file("three", "a\nb\n\n"), open = folder.file("open", "a\nb");
  const auto none = std::optional<int64_t>();
  BOOST_TEST((count_lines({three}) == 3));
  BOOST_TEST((count_lines({three, open}) == 5));
  BOOST_TEST((count_lines({folder.file("empty", "")}) == 0));
  BOOST_TEST((count_lines({folder.file("gz", "\x1f\x8b\n\n")}) == none));
  BOOST_TEST((count_lines({three, folder.path()}) == none));
  BOOST_TEST((count_lines({folder / "missing"}) == none));
}

BOOST_AUTO_TEST_CASE(standard_input_counts_from_where_it_stands) {
  const TempFolder folder;
  const std::string text = folder.file("text", "a\nb\nc\n");
  const auto child = tx_test::run_in_child([&] {
    const int fd = open(text.c_str(), O_RDONLY);
    dup2(fd, 0);
    char skipped[2];
    if (read(0, skipped, 2) != 2) return 100;
    const int lines = int(count_lines({}).value_or(100));
    return lseek(0, 0, SEEK_CUR) == 2 ? lines : 101;
  });
  BOOST_TEST(child.status == 2);
}

BOOST_AUTO_TEST_CASE(lines_rate_and_time_left) {
  double now = 7;
  const Log log("tx-x", true);
  LineProgress known(1000, true, log, [&] { return now; });
  LineProgress unknown({}, true, log, [&] { return now; });
  BOOST_TEST(known.text() == "0 of 1000 lines (0.0 %)");
  now += 10;
  for (int i = 0; i < 50; ++i) known.add(), unknown.add();
  BOOST_TEST(known.text() == "50 of 1000 lines (5.0 %), 5.0 lines/s, 0:03:10 left");
  BOOST_TEST(unknown.text() == "50 lines, 5.0 lines/s");
  for (int i = 0; i < 950; ++i) known.add();
  BOOST_TEST(known.text() == "1000 of 1000 lines (100.0 %), 100 lines/s, 0:00:00 left");
}

BOOST_AUTO_TEST_SUITE_END()
