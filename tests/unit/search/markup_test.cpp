// Parts that are taken out of lines and put back into outputs.
#include "lib/search/lines/markup.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

const std::vector<std::string> names = {"Anna", "17"};

// Words of the line and of the output as tokens; links[i]: the word that word i of the output is
// aligned to.
std::string translate(const Markup& markup, const std::string& text, const std::string& output,
                      const std::vector<int64_t>& links) {
  Markup::Line line = markup.take(text, names);
  const auto words_before = [&](size_t at) {
    int64_t words = 0;
    for (size_t i = 0; i < at; ++i)
      words += line.text[i] != ' ' && (i == 0 || line.text[i - 1] == ' ');
    return words;
  };
  for (Markup::Part& part : line.parts) part.token = words_before(part.at);
  line.tokens = words_before(line.text.size());
  std::vector<Markup::Token> tokens;
  for (size_t begin = 0; begin < output.size();) {
    const size_t end = std::min(output.find(' ', begin + 1), output.size());
    tokens.push_back({begin, end, links.at(tokens.size())});
    begin = end;
  }
  return markup.put_back(line, output, tokens);
}

Markup file_of(const std::string& expressions) {
  const TempFolder folder;
  return Markup(folder.file("list", expressions));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(markup)

BOOST_AUTO_TEST_CASE(lines_without_their_parts) {
  const Markup html("html"), printf("printf"), icu("icu");
  BOOST_TEST(html.take("Click <b>here</b> now", names).text == "Click here now");
  BOOST_TEST(html.take("one <br/> two", names).text == "one two");
  BOOST_TEST(html.take("A &amp; B&nbsp;C", names).text == "A & B C");
  BOOST_TEST(html.take("<!-- a <b> --> x", names).text == "x");
  BOOST_TEST(html.take("<a title=\"a > b\">x</a>", names).text == "x");
  BOOST_TEST(html.take("1 < 2", names).parts.empty());
  BOOST_TEST(printf.take("%s has %d, 50 % of %s", names).text == "Anna has 17, 50 % of Anna");
  BOOST_TEST(icu.take("{n, plural, one {# a} other {# b}} of {m}.", names).text == "Anna of 17.");
  BOOST_TEST(icu.take("{a} Anna", names).text == "17 Anna");
  BOOST_TEST(icu.take("see https://x.org/a.", names).text == "see Anna.");
  BOOST_TEST(icu.take("{a} {b} {c} d", names).text == "Anna 17 d");  // no third stand-in
}

BOOST_AUTO_TEST_CASE(tags_follow_the_alignment) {
  const Markup html("html");
  const auto check = [&](const std::string& text, const std::string& wanted) {
    BOOST_TEST(translate(html, text, "ein rotes haus steht dort", {0, 1, 2, 4, 3}) == wanted);
  };
  check("<p>a red house there stands</p>", "<p>ein rotes haus steht dort</p>");
  check("a <b>red</b> house there stands", "ein <b>rotes</b> haus steht dort");
  check("a <b>red <i>house</i></b> there stands", "ein <b>rotes <i>haus</i></b> steht dort");
  check("a red house <b>there</b> <i>stands</i>", "ein rotes haus <i>steht</i> <b>dort</b>");
  check("a red <br/> house there stands", "ein rotes <br/> haus steht dort");
  check("a red<br/>house there stands", "ein rotes<br/> haus steht dort");
  check("a <b>red house there stands", "ein <b>rotes haus steht dort");
  check("a <b></b>red house there stands", "ein<b></b> rotes haus steht dort");
}

BOOST_AUTO_TEST_CASE(stand_ins) {
  const Markup icu("icu"), html("html");
  const auto check = [&](const std::string& output, const std::string& wanted) {
    BOOST_TEST(translate(icu, "{user} sends a letter", output, {0, 1, 2, 3, 3}) == wanted);
  };
  check("Anna sendet einen brief", "{user} sendet einen brief");
  check("Annas brief", "{user}s brief");
  check("er sendet einen brief", "{user} er sendet einen brief");      // lost
  check("Anna sendet Anna einen brief", "{user} sendet einen brief");  // doubled
  check("Anna sendet einen {brief}", "{user} sendet einen");           // not in the line
  BOOST_TEST(translate(Markup("printf"), "%s has %d", "17 von Anna", {1, 1, 0}) == "%s von %d");
  BOOST_TEST(translate(Markup("printf"), "%1$s has %2$d", "17 von Anna", {1, 1, 0}) ==
             "%2$d von %1$s");
  BOOST_TEST(translate(html, "a &lt; b", "a < b & c", {0, 1, 2, 2, 2}) == "a &lt; b c");
  BOOST_TEST(translate(html, "a b", "a < &lt; b", {0, 1, 1, 1}) == "a b");
}

BOOST_AUTO_TEST_CASE(expressions_of_a_file) {
  const Markup terms = file_of("ACME-[0-9]+\n\nKubernetes\n");
  BOOST_TEST(translate(terms, "use ACME-42 now", "nutze jetzt", {0, 2}) == "nutze ACME-42 jetzt");
  BOOST_TEST(file_of("x\n[0-9]*").take("a x 10", names).text == "a Anna 17");
  const auto refuses = [](const std::string& expressions, const std::string& message) {
    BOOST_CHECK_EXCEPTION(file_of(expressions), DataError, [&](const DataError& e) {
      return std::string(e.what()).find(message) != std::string::npos;
    });
  };
  refuses("a\n(b\n", "list:2: the expression \"(b\" is not supported");
  refuses("a\n.*\n", "list:2: \".*\" matches any text");
  refuses("\\w+|.+\n", "list:1: \"\\\\w+|.+\" matches any text");
  refuses("\n", "has no regular expression");
}

BOOST_AUTO_TEST_CASE(what_needs_an_alignment) {
  const Markup markup("html");
  const auto needs = [&](const std::string& text, const std::string& output) {
    Markup::Line line = markup.take(text, names);
    line.tokens = int64_t(line.text.size());
    for (Markup::Part& part : line.parts) part.token = int64_t(part.at);
    return markup.needs_alignment(line, output);
  };
  BOOST_TEST(!needs("a house", "ein haus"));
  BOOST_TEST(needs("<p>a <!-- x -->&amp; b</p>", "a & b"));
  BOOST_TEST(!needs("<p>a &amp; b</p><br/>", "a & b"));
  BOOST_TEST(needs("a &amp; b", "a und b"));
  BOOST_TEST(needs("a &amp; b", "a & b & c"));
  BOOST_TEST(needs("a <b>house</b>", "ein haus"));
  BOOST_TEST(needs("a<br/>house", "ein haus"));
}

// Whatever the output and the alignment are, it has the parts of the line.
BOOST_AUTO_TEST_CASE(every_part_once) {
  std::mt19937 random(1);
  const auto pick = [&](int n) { return int(random() % unsigned(n)); };
  const std::vector<std::string> pieces = {
      "<b>",    "</b>",   "<i x='>'>",  "</i>", "<br/>", "&amp;", "&#8230;", "<!-- - -->",
      "{a}",    "{a}",    "%s",         "%%",   "%(n)d", "Anna",  "17",      "a",
      "b",      "haus",   "{",          "}",    "<",     "&",     "%",       "ü",
      "語",     "x@y.de", "http://a.b", "&lt;", "\"",    ".",     "{b, c}",  "Annas",
      "&nbsp;", "'",      "(",          ";"};
  for (const char* kind : {"html", "printf", "icu"}) {
    const Markup markup(kind);
    for (int round = 0; round < 3000; ++round) {
      std::string text, output;
      for (int i = pick(12); i >= 0; --i)
        text += pieces[size_t(pick(int(pieces.size())))] + (pick(2) ? " " : "");
      for (int i = pick(12); i >= 0; --i)
        output += pieces[size_t(pick(int(pieces.size())))] + (pick(2) ? " " : "");
      std::vector<int64_t> links(40);
      for (int64_t& link : links) link = pick(9) - 1;
      const std::string result = translate(markup, text, output, links);
      BOOST_TEST_CONTEXT(kind << ": " << text << " -> " << output << " -> " << result)
      BOOST_TEST(markup.parts_of(result) == markup.parts_of(text),
                 boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(stand_ins_that_a_model_copies) {
  const std::vector<std::string> words = {"one", "two", "three", "four", "five",
                                          "six", "ten", "nine",  "old"};
  const auto found = find_stand_ins(words, [](std::vector<std::string> texts) {
    for (std::string& text : texts)  // a model that knows no name but Maria, and doubles numbers
      for (const char* name : {"Anna", "London", "17", "42"})
        if (const size_t at = text.find(name); at != text.npos) text.replace(at, 2, "x 17 17");
    return texts;
  });
  BOOST_TEST(!std::ranges::count(found, "Anna"));
  BOOST_TEST(found.back() == "17");  // what is doubled comes last: one of its places is dropped
  BOOST_TEST(std::ranges::count(found, "Maria") == 1);
  BOOST_TEST(find_stand_ins({}, [](auto texts) { return texts; }).empty());
}

BOOST_AUTO_TEST_CASE(placeholders_stand_apart_from_words_if_they_did) {
  const Markup printf("printf"), html("html");
  const std::vector<std::string> none;
  const auto moved = [&](const Markup& markup, const std::string& text) {
    Markup::Line line = markup.take(text, none);
    for (Markup::Part& part : line.parts) part.token = part.at > 0;
    line.tokens = 2;
    const std::vector<Markup::Token> tokens = {{0, 3, 0}, {3, 7, 1}};
    return markup.put_back(line, "das Haus", tokens);
  };
  BOOST_TEST(moved(printf, "the:%s: house") == "das %s Haus");
  BOOST_TEST(moved(printf, "%s: the house") == "%s das Haus");
  BOOST_TEST(moved(printf, "%sthe house") == "%sdas Haus");
  BOOST_TEST(moved(html, "<br/>: the house") == "<br/>das Haus");
}

BOOST_AUTO_TEST_SUITE_END()
