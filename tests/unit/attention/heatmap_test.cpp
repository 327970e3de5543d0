#include "lib/attention/heatmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <boost/test/unit_test.hpp>

#include "tests/support.h"

using namespace tx;

namespace {

Selection one_map(AttentionKind kind = AttentionKind::cross) {
  Selection s;
  s.kinds = {{kind, {1}}};
  s.heads = {0, 1};
  s.mean_of_heads = true;
  return s;
}

AttentionRecord two_by_three() {
  AttentionRecord r;
  r.line = 4;
  r.source = {"\u2581one", "x", "</s>"};
  r.input = {"<s>", "\u2581ein"};
  r.target = {"\u2581ein", "</s>"};
  r.maps = {{{AttentionMap{2, 3, {0.8f, 0.2f, 0, 0.05f, 0.35f, 0.6f}}}}};
  return r;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '\n') out.emplace_back();
    if (c != '\n') out.back() += c;
  }
  return out;
}

AttentionRecord identity(size_t tokens) {
  AttentionRecord r;
  r.line = 1;
  AttentionMap map{int64_t(tokens), int64_t(tokens), std::vector<float>(tokens * tokens)};
  for (size_t i = 0; i < tokens; ++i) {
    r.source.push_back("piece" + std::to_string(i));
    map.values[i * tokens + i] = 1;
  }
  r.target = r.input = r.source;
  r.maps = {{{map}}};
  return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(labels_side_by_side) {
  BOOST_TEST(draw_heatmap(two_by_three(), one_map(), {80, false}) ==
             "line 4: cross, layer 1, mean of 2 heads; columns: source, rows: token predicted\n"
             "     ▁one x  </s>\n"
             "▁ein ████ ░░\n"
             "</s>      ▒▒ ▓▓▓▓\n"
             "largest 0.80; ░ 0.20 ▒ 0.40 ▓ 0.60 █ 0.80\n");
}

BOOST_AUTO_TEST_CASE(labels_as_steps_where_they_do_not_fit) {
  BOOST_TEST(draw_heatmap(two_by_three(), one_map(), {17, false}) ==
             "line 4: cross, layer 1, mean of 2 heads; columns: source, rows: token predicted\n"
             "     ▁one\n"
             "     │ x\n"
             "     │ │ </s>\n"
             "▁ein ██░░\n"
             "</s>   ▒▒▓▓\n"
             "largest 0.80; ░ 0.20 ▒ 0.40 ▓ 0.60 █ 0.80\n");
}

BOOST_AUTO_TEST_CASE(parts_where_even_steps_do_not_fit) {
  BOOST_TEST(draw_heatmap(two_by_three(), one_map(), {10, false}) ==
             "line 4: cross, layer 1, mean of 2 heads; columns: source, rows: token predicted\n"
             "     ▁one\n"
             "▁ein ██\n"
             "</s>\n"
             "\n"
             "     x\n"
             "▁ein ░░\n"
             "</s> ▒▒\n"
             "\n"
             "     </s>\n"
             "▁ein\n"
             "</s> ▓▓\n"
             "largest 0.80; ░ 0.20 ▒ 0.40 ▓ 0.60 █ 0.80\n");
}

BOOST_AUTO_TEST_CASE(steps_lead_down_to_their_columns) {
  const auto lines = lines_of(draw_heatmap(identity(12), one_map(), {60, false}));
  BOOST_REQUIRE(lines.size() == 1u + 12 + 12 + 1 + 1);
  BOOST_TEST(lines[1] == "        piece0");
  BOOST_TEST(lines[3] == "        │ │ piece2");
  BOOST_TEST(lines[13] == " piece0 ██");
  BOOST_TEST(lines[15] == " piece2     ██");
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
  for (const int width : {20, 40, 79, 80, 81, 200}) {
    for (const size_t tokens : {1, 5, 9, 10, 40}) {
      const auto lines = lines_of(draw_heatmap(identity(tokens), one_map(), {width, false}));
      for (size_t i = 1; i + 2 < lines.size(); ++i) BOOST_TEST(display_width(lines[i]) <= width);
      // All weights are drawn, in any number of parts.
      size_t full = 0;
      for (size_t i = 1; i + 2 < lines.size(); ++i) full += lines[i].find("█") != std::string::npos;
      BOOST_TEST(full == tokens);
    }
  }
}

BOOST_AUTO_TEST_CASE(kinds_name_their_sides) {
  AttentionRecord r = two_by_three();
  r.maps = {{{AttentionMap{3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}}};
  const auto encoder = lines_of(draw_heatmap(r, one_map(AttentionKind::encoder), {80, false}));
  BOOST_TEST(encoder[0] == "line 4: encoder, layer 1, mean of 2 heads; columns and rows: source");
  BOOST_TEST(encoder[3] == "   x      ██");
  r.maps = {{{AttentionMap{2, 2, {1, 0, 0, 1}}}}};
  Selection s = one_map(AttentionKind::decoder);
  s.mean_of_heads = false;
  const auto decoder = lines_of(draw_heatmap(r, s, {80, false}));
  BOOST_TEST(decoder[0] ==
             "line 4: decoder, layer 1, head 0; columns: target read, rows: token predicted");
  BOOST_TEST(decoder[1] == "     <s> ▁ein");
  s.shift = true;
  const auto shifted = lines_of(draw_heatmap(r, s, {80, false}));
  BOOST_TEST(shifted[0] ==
             "line 4: decoder, layer 1, head 0; columns: target read, rows: token read");
  BOOST_TEST(shifted[2] == " <s> ███");
}

BOOST_AUTO_TEST_CASE(a_blank_line_has_no_map) {
  AttentionRecord r;
  r.line = 2;
  BOOST_TEST(draw_heatmap(r, one_map(), {80, true}) == "line 2: blank\n");
}

BOOST_AUTO_TEST_CASE(colours_only_where_wanted) {
  const std::string plain = draw_heatmap(two_by_three(), one_map(), {80, false});
  std::string coloured = draw_heatmap(two_by_three(), one_map(), {80, true});
  BOOST_TEST(plain.find('\x1b') == plain.npos);
  BOOST_TEST(coloured.find("\x1b[38;5;226m████\x1b[0m") != coloured.npos);
  for (size_t at; (at = coloured.find('\x1b')) != coloured.npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  // Eight shades: two colours for each of four block characters.
  BOOST_TEST(coloured ==
             "line 4: cross, layer 1, mean of 2 heads; columns: source, rows: token predicted\n"
             "     ▁one x  </s>\n"
             "▁ein ████ ░░\n"
             "</s> ░░░░ ▒▒ ▓▓▓▓\n"
             "largest 0.80; ░ 0.10 ░ 0.20 ▒ 0.30 ▒ 0.40 ▓ 0.50 ▓ 0.60 █ 0.70 █ 0.80\n");
}

BOOST_AUTO_TEST_CASE(every_map_is_drawn) {
  AttentionRecord r = two_by_three();
  Selection s;
  s.kinds = {{AttentionKind::encoder, {0}}, {AttentionKind::cross, {1, 3}}};
  s.heads = {0, 2};
  const AttentionMap cross = r.maps[0][0][0];
  const AttentionMap encoder{3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  r.maps = {{{encoder, encoder}}, {{cross, cross}, {cross, cross}}};
  std::vector<std::string> titles;
  int legends = 0, parted = 0;
  for (const std::string& line : lines_of(draw_heatmap(r, s, {80, false}))) {
    if (line.starts_with("line 4")) titles.push_back(line.substr(0, line.find(';')));
    legends += line.starts_with("largest ");
    parted += line.empty();
  }
  BOOST_TEST(titles == (std::vector<std::string>{
                           "line 4: encoder, layer 0, head 0", "line 4: encoder, layer 0, head 2",
                           "line 4: cross, layer 1, head 0", "line 4: cross, layer 1, head 2",
                           "line 4: cross, layer 3, head 0", "line 4: cross, layer 3, head 2"}),
             boost::test_tools::per_element());
  BOOST_TEST(legends == 6);
  BOOST_TEST(parted == 6);  // five between the maps, and one after the last line
}

BOOST_AUTO_TEST_CASE(the_legend_has_figures_of_small_weights) {
  AttentionRecord r = two_by_three();
  for (float& weight : r.maps[0][0][0].values) weight = 0.0035f;
  const auto lines = lines_of(draw_heatmap(r, one_map(), {80, false}));
  BOOST_TEST(lines[4] == "largest 0.00350; ░ 0.00088 ▒ 0.00175 ▓ 0.00263 █ 0.00350");
  for (float& weight : r.maps[0][0][0].values) weight = 0;
  const auto none = lines_of(draw_heatmap(r, one_map(), {80, false}));
  BOOST_TEST(none[4].starts_with("largest 0.00; "));
}

BOOST_AUTO_TEST_CASE(a_token_that_does_not_fit_stands_in_full_below) {
  AttentionRecord r = two_by_three();
  r.source[1] = "abcdefghijklmnopqrstuvwxyz";
  r.target[0] = "zyxwvutsrqponmlkjihgfedcba";
  const auto wide = lines_of(draw_heatmap(r, one_map(), {90, false}));
  BOOST_TEST(wide[1].find(r.source[1]) != std::string::npos);
  BOOST_TEST(wide.size() == 6u);
  const std::string drawn = draw_heatmap(r, one_map(), {30, false});
  const auto narrow = lines_of(drawn);
  BOOST_TEST(drawn.find(" abcdefghijklmno…\n") != std::string::npos);
  BOOST_TEST(narrow[narrow.size() - 3] == "row 0 is zyxwvutsrqponmlkjihgfedcba");
  BOOST_TEST(narrow[narrow.size() - 2] == "column 1 is abcdefghijklmnopqrstuvwxyz");
}

BOOST_AUTO_TEST_CASE(columns_of_a_text) {
  BOOST_TEST(display_width("") == 0);
  BOOST_TEST(display_width("▁zwölf") == 6);
  BOOST_TEST(display_width("日本") == 4);
  BOOST_TEST(display_width("e\u0301") == 1);
  BOOST_TEST(display_width("\U0001F600") == 2);
  BOOST_TEST(shorten("▁zwölf", 6) == "▁zwölf");
  BOOST_TEST(shorten("▁zwölfte", 6) == "▁zwöl…");
  BOOST_TEST(shorten("日本語", 4) == "日…");
}

BOOST_AUTO_TEST_CASE(the_terminal_says_what_it_can) {
  const auto style_is = [](int width, bool color) {
    return [=] {
      const HeatmapStyle style = terminal_style();
      return int(style.width != width) + 2 * int(style.color != color);
    };
  };
  setenv("TERM", "xterm", 1);
  setenv("COLUMNS", "41", 1);
  unsetenv("NO_COLOR");
  BOOST_TEST(tx_test::run_in_child(style_is(41, false)).status == 0);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 && (errno == ENODEV || errno == ENOENT)) {
    BOOST_TEST_WARN(false, "no /dev/pts in this container: not tested");
    return;
  }
  BOOST_REQUIRE(terminal >= 0);
  BOOST_REQUIRE(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  const int other_side = open(name.c_str(), O_RDWR | O_NOCTTY);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 57;
  BOOST_REQUIRE(ioctl(other_side, TIOCSWINSZ, &size) == 0);
  BOOST_TEST(tx_test::run_in_child(style_is(57, true), name).status == 0);
  setenv("NO_COLOR", "1", 1);
  BOOST_TEST(tx_test::run_in_child(style_is(57, false), name).status == 0);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  BOOST_TEST(tx_test::run_in_child(style_is(57, false), name).status == 0);
  unsetenv("COLUMNS");
  BOOST_TEST(tx_test::run_in_child(style_is(80, false)).status == 0);
  close(other_side);
  close(terminal);
}
