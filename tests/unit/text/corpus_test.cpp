#include "lib/text/corpus.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;

namespace {

std::vector<std::string> lines_of(TextReader& reader) {
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(corpus)

BOOST_AUTO_TEST_CASE(files_are_read_as_one_text) {
  const tx_test::TempFolder folder;
  const std::string a = folder.file("a", "1\n2"), empty = folder.file("e", ""),
                    b = folder.file("b", "3\n");
  TextReader reader({a, empty, b});
  BOOST_TEST(lines_of(reader) == (std::vector<std::string>{"1", "2", "3"}),
             boost::test_tools::per_element());
  BOOST_TEST(reader.line_number() == 3);
  BOOST_TEST(reader.place(2) == a + ":2");
  BOOST_TEST(reader.place(3) == b + ":1");
  BOOST_TEST(reader.warnings().empty());
  BOOST_CHECK_THROW(TextReader({folder / "none"}), IoError);
  TextReader late({a, folder / "none"});
  BOOST_CHECK_THROW(lines_of(late), IoError);
}

BOOST_AUTO_TEST_CASE(odd_lines_are_counted_and_the_first_is_named) {
  const tx_test::TempFolder folder;
  const std::string a = folder.file("a", "fine\r\nx\xFFy\r\n"),
                    b = folder.file("b", std::string("\xC3\n\0\n", 4));
  TextReader reader({a, b});
  const std::vector<std::string> lines = lines_of(reader);
  BOOST_TEST(lines[1] == "x\uFFFDy\r");
  BOOST_TEST(lines[2] == "\uFFFD");
  const std::vector<std::string> warnings = reader.warnings();
  BOOST_REQUIRE(warnings.size() == 3u);
  BOOST_TEST(warnings[0] ==
             a + ":2: not valid UTF-8; replaced by U+FFFD (the first of 2 such lines)");
  BOOST_TEST(warnings[1] == b + ":2: has a NUL byte; is this a text file?");
  BOOST_TEST(warnings[2] == a + ":1: ends with CR LF; the carriage return is kept as text: remove "
                                "it with tr -d '\\r' (the first of 2 such lines)");
  TextReader strict({a, b}, true);
  BOOST_TEST(tx_test::message_of<DataError>([&] {
               lines_of(strict);
             }).starts_with(a + ":2: not valid UTF-8"));
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_no_text) {
  const tx_test::TempFolder folder;
  const std::string a = folder.file("a", "\uFEFFone\n\uFEFFtwo\n"), b = folder.file("b", "\uFEFF");
  TextReader reader({b, a, a});
  BOOST_TEST(lines_of(reader) == (std::vector<std::string>{"one", "\uFEFFtwo", "one", "\uFEFFtwo"}),
             boost::test_tools::per_element());
  BOOST_REQUIRE(reader.warnings().size() == 1u);
  BOOST_TEST(reader.warnings()[0] ==
             a + ":1: begins with a byte order mark, which is ignored (the first of "
                 "2 such lines)");
}

BOOST_AUTO_TEST_SUITE_END()
