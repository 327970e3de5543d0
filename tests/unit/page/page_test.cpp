#include "lib/page/page.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <set>

#include "lib/base/error.h"

using namespace tx;

BOOST_AUTO_TEST_CASE(base64_of_known_texts) {  // RFC 4648, section 10
  BOOST_TEST(base64("") == "");
  BOOST_TEST(base64("f") == "Zg==");
  BOOST_TEST(base64("fo") == "Zm8=");
  BOOST_TEST(base64("foo") == "Zm9v");
  BOOST_TEST(base64("foobar") == "Zm9vYmFy");
  BOOST_TEST(base64(std::string("\0\xff\x80", 3)) == "AP+A");
}

BOOST_AUTO_TEST_CASE(shares_are_parts_of_65535) {
  const float values[] = {0, 1, 0.5F, 2, -1};
  // 0, 65535, 32768; values outside the range are clamped
  BOOST_TEST(base64_shares(values) == base64(std::string("\0\0\xff\xff\0\x80\xff\xff\0\0", 10)));
}

BOOST_AUTO_TEST_CASE(scaled_numbers_reach_the_largest) {
  const float values[] = {0, 2, -2, 1};
  const Json numbers = scaled_numbers(values);
  BOOST_TEST(numbers.at("scale").get<double>() == 2.0 / 32767);
  // 0, 32767, -32767, 16384
  BOOST_TEST(numbers.at("data").get<std::string>() ==
             base64(std::string("\0\0\xff\x7f\x01\x80\0\x40", 8)));
  const float nothing[] = {0, 0};
  BOOST_TEST(scaled_numbers(nothing).at("scale").get<double>() == 1.0);
}

BOOST_AUTO_TEST_CASE(text_cannot_leave_its_script) {
  const std::string text = "</script><!--&\u2028\u2029>";
  const std::string safe = script_safe(to_text(Json{{"text", text}}));
  for (const char* bad : {"<", ">", "&", "\u2028", "\u2029"})
    BOOST_TEST(safe.find(bad) == std::string::npos);
  BOOST_TEST(parse_json(safe, "page").at("text").get<std::string>() == text);
}

BOOST_AUTO_TEST_CASE(a_page_escapes_its_texts) {
  PageSpec spec;
  spec.title = "a < b & \"c\"";
  spec.notices = {"<i>"};
  spec.styles = {"lib/page/parts/chart.css"};
  const std::string page = html_page(spec, "{}");
  BOOST_TEST(page.find("<title>a &lt; b &amp; &quot;c&quot;</title>") != std::string::npos);
  BOOST_TEST(page.find("<p class=\"notice\">&lt;i&gt;</p>") != std::string::npos);
  BOOST_TEST(page.find("--paper:") != std::string::npos);  // of base.css
  BOOST_TEST(page.find(".charts {") != std::string::npos);
  spec.scripts = {"lib/page/parts/none.js"};
  BOOST_CHECK_THROW(html_page(spec, "{}"), Bug);
}

BOOST_AUTO_TEST_CASE(a_worker_and_texts_are_elements) {
  PageSpec spec;
  BOOST_TEST(html_page(spec, "{}").find("worker-src") == std::string::npos);
  spec.worker = {"lib/page/parts/palette.js"};
  spec.texts = {{"weights-0", "AAAA"}, {"weights-1", "BBBB"}};
  const std::string page = html_page(spec, "{}");
  BOOST_TEST(page.find("; worker-src blob:\">") != std::string::npos);
  BOOST_TEST(page.find("<script type=\"text/plain\" id=\"engine\">") != std::string::npos);
  BOOST_TEST(page.find("id=\"weights-1\">BBBB</script>") != std::string::npos);
  spec.texts = {{"weights-0", "</script>"}};
  BOOST_CHECK_THROW(html_page(spec, "{}"), Bug);
}

BOOST_AUTO_TEST_CASE(known_colours) {
  BOOST_TEST(oklch_colour(0, 0, 0) == "#000000");
  BOOST_TEST(oklch_colour(1, 0, 0) == "#ffffff");
  // sRGB's red and blue in OKLCh (Ottosson 2020, to the precision given there)
  BOOST_TEST(oklch_colour(0.62796, 0.25768, 29.234) == "#ff0000");
  BOOST_TEST(oklch_colour(0.45201, 0.31321, 264.052) == "#0000ff");
}

BOOST_AUTO_TEST_CASE(heads_have_colours_of_their_own) {
  std::set<std::string> colours;
  for (int i = 0; i < 24; ++i) colours.insert(distinct_colour(i));
  BOOST_TEST(colours.size() == 24U);
}
