#include "lib/attention/statistics.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/philox.h"

using namespace tx;

namespace {

constexpr auto near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
using Maps = std::vector<AttentionMap>;

Selection selected(AttentionKind kind, std::vector<int> layers = {0},
                   std::vector<int> heads = {0}) {
  Selection s;
  s.kinds = {{kind, std::move(layers)}};
  s.heads = std::move(heads);
  return s;
}

// "a" "," "</s>" to "x" "</s>".
AttentionRecord record_of(const std::vector<Maps>& layers) {
  AttentionRecord r;
  r.source = {"\u2581a", "\u2581,", "</s>"};
  r.input = {"<s>", "x"};
  r.target = {"x", "</s>"};
  r.source_ids = {4, 6, 3};
  r.target_ids = {5, 3};
  r.maps = {layers};
  return r;
}

const AttentionMap encoder{3, 3, {0.5f, 0.25f, 0.25f, 1, 0, 0, 0.1f, 0.2f, 0.7f}};

}  // namespace

BOOST_AUTO_TEST_CASE(figures_of_a_head) {
  AttentionStatistics statistics(selected(AttentionKind::encoder, {2}, {1}));
  statistics.add(record_of({{encoder}}));
  statistics.add(AttentionRecord());  // a blank line
  BOOST_TEST(statistics.lines() == 1);
  const auto heads = statistics.heads();
  BOOST_REQUIRE(heads.size() == 1u);
  BOOST_TEST(heads[0].layer == 2);
  BOOST_TEST(heads[0].head == 1);
  BOOST_TEST(heads[0].rows == 3);
  const double first_row = 0.5 * std::log(2) + 0.5 * std::log(4);
  const double last_row = -0.1 * std::log(0.1) - 0.2 * std::log(0.2) - 0.7 * std::log(0.7);
  const double wanted[] = {(first_row + last_row) / 3,
                           (0.25 + 2 * 0.25 + 1 + 2 * 0.1 + 0.2) / 3,
                           (1 + 0.2) / 3,
                           (0.5 + 0 + 0.7) / 3,
                           (0.25 + 0) / 3,
                           (0.5 + 1 + 0.1) / 3,
                           (0.25 + 0 + 0.7) / 3,
                           (0.25 + 0 + 0.2) / 3,
                           (0.5 + 1) / 2,  // without the row and the column of </s>
                           0,
                           0};
  BOOST_TEST(statistics.figures() == std::size(wanted));
  for (size_t i = 0; i < std::size(wanted); ++i)
    BOOST_TEST_CONTEXT(HeadFigures::names[i]) BOOST_TEST(near(heads[0].values[i], wanted[i]));
}

// The text of a model of kind encoder begins with <s> and has no </s>.
BOOST_AUTO_TEST_CASE(a_text_without_its_end) {
  AttentionRecord r;
  r.source = {"<s>", "\u2581a", "\u2581b"};
  r.source_ids = {2, 4, 5};
  r.maps = {{{encoder}}};
  AttentionStatistics statistics(selected(AttentionKind::encoder));
  statistics.add(r);
  const auto values = statistics.heads()[0].values;
  BOOST_TEST(values[HeadFigures::eos] == 0);
  BOOST_TEST(near(values[HeadFigures::confidence], (0.5 + 1 + 0.7) / 3));
}

// The rows of decoder and cross-attention are the target, whose input has no </s>.
BOOST_AUTO_TEST_CASE(sides_of_the_target) {
  AttentionStatistics decoder(selected(AttentionKind::decoder));
  decoder.add(record_of({{AttentionMap{2, 2, {1, 0, 0.25f, 0.75f}}}}));
  const auto of_decoder = decoder.heads()[0].values;
  BOOST_TEST(of_decoder[HeadFigures::eos] == 0);
  BOOST_TEST(near(of_decoder[HeadFigures::confidence], 1));  // only the first row
  Selection shifted = selected(AttentionKind::cross);
  const AttentionMap cross{2, 3, {0.2f, 0.2f, 0.6f, 0.1f, 0.8f, 0.1f}};
  AttentionStatistics predicted(shifted);
  predicted.add(record_of({{cross}}));
  BOOST_TEST(near(predicted.heads()[0].values[HeadFigures::confidence], 0.2));
  shifted.shift = true;
  AttentionStatistics read(shifted);
  read.add(record_of({{cross}}));
  BOOST_TEST(near(read.heads()[0].values[HeadFigures::confidence], (0.2 + 0.8) / 2));
}

// <s> a b a b reads: rows 3 and 4 have an earlier occurrence, followed by columns 2 and 3.
BOOST_AUTO_TEST_CASE(repeated_tokens) {
  AttentionRecord r;
  r.input = {"<s>", "a", "b", "a", "b"};
  r.target = {"a", "b", "a", "b", "</s>"};
  r.target_ids = {5, 6, 5, 6, 3};
  r.maps = {{{AttentionMap{5, 5, {1,    0,     0,      0,      0,  //
                                  0.5f, 0.5f,  0,      0,      0,  //
                                  0,    0.5f,  0.5f,   0,      0,  //
                                  0,    0.25f, 0.625f, 0.125f, 0,  //
                                  0,    0,     0.125f, 0.75f,  0.125f}}}}};
  AttentionStatistics statistics(selected(AttentionKind::decoder));
  statistics.add(r);
  const auto values = statistics.heads()[0].values;
  BOOST_TEST(near(values[HeadFigures::equal], (0.25 + 0.125) / 2));
  BOOST_TEST(near(values[HeadFigures::induction], (0.625 + 0.75) / 2));
}

// In cross attention a row's token is the one predicted or, with --shift, the one read.
BOOST_AUTO_TEST_CASE(equal_tokens_of_both_sides) {
  AttentionRecord r = record_of({{AttentionMap{2, 3, {0.25f, 0.75f, 0, 0.5f, 0.25f, 0.25f}}}});
  r.source = {"x", "y", "</s>"};
  Selection selection = selected(AttentionKind::cross);
  AttentionStatistics predicted(selection);
  predicted.add(r);
  auto values = predicted.heads()[0].values;
  BOOST_TEST(near(values[HeadFigures::equal], (0.25 + 0.25) / 2));
  BOOST_TEST(values[HeadFigures::induction] == 0);
  selection.shift = true;
  AttentionStatistics read(selection);
  read.add(r);
  values = read.heads()[0].values;
  BOOST_TEST(near(values[HeadFigures::equal], 0.5));  // row 1 reads x; <s> is not in the source
}

// The rarest tokens of the sentence are counted in the whole text; several share the figure.
BOOST_AUTO_TEST_CASE(rarest_tokens) {
  AttentionRecord r = record_of({{encoder}}), other = r;
  TokenFrequencies frequencies;
  frequencies.add(r);
  other.source = {"\u2581a", "</s>"};
  frequencies.add(other);
  const Selection selection = selected(AttentionKind::encoder);
  AttentionStatistics statistics(selection, false, &frequencies);
  statistics.add(r);
  BOOST_TEST(statistics.figures() == HeadFigures::count);
  BOOST_TEST(near(statistics.heads()[0].values[HeadFigures::rarest], (0.25 + 0 + 0.2) / 3));
  BOOST_TEST(heads_table(statistics).text(false, 1).find("\trarest\n") != std::string::npos);
  frequencies = {};
  frequencies.add(r);  // all three occur once
  AttentionStatistics equal(selection, false, &frequencies);
  equal.add(r);
  BOOST_TEST(near(equal.heads()[0].values[HeadFigures::rarest], 1 / 3.0));
}

BOOST_AUTO_TEST_CASE(distances_of_pairs) {
  AttentionStatistics statistics(selected(AttentionKind::encoder, {0, 1}, {0, 3}), true);
  const AttentionMap same = encoder;
  const AttentionMap other{3, 3, {0, 0.5f, 0.5f, 0, 1, 0, 0.1f, 0.2f, 0.7f}};
  statistics.add(record_of({{encoder, same}, {other, encoder}}));
  const auto pairs = statistics.pairs();
  BOOST_REQUIRE(pairs.size() == 6u);
  BOOST_TEST(pairs[0].layer == 0);
  BOOST_TEST(pairs[0].other_head == 3);
  BOOST_TEST(pairs[0].distance < 1e-6);
  // Rows: (1/2, 1/4, 1/4) and (0, 1/2, 1/2), disjoint ones, the same ones.
  const double m = 0.25 * std::log(4) + 2 * 0.375 * -std::log(0.375);
  const double first = std::sqrt(m - (0.5 * std::log(2) + 0.5 * std::log(4) + std::log(2)) / 2);
  BOOST_TEST(pairs[1].other_layer == 1);
  BOOST_TEST(near(pairs[1].distance, (first + std::sqrt(std::log(2))) / 3));
}

// The statistics of parts, added in order, have the same bits as those of one object.
BOOST_AUTO_TEST_CASE(parts_add_up) {
  const Selection selection = selected(AttentionKind::encoder);
  AttentionStatistics whole(selection, true), sum(selection, true);
  PhiloxStream random(5, 1);
  for (int i = 0; i < 20; ++i) {
    AttentionMap map{3, 3, {}};
    for (int k = 0; k < 9; ++k) map.values.push_back(float(random.next() % 100) / 100);
    const AttentionRecord record = record_of({{map}});
    whole.add(record);
    AttentionStatistics part(selection, true);
    part.add(record);
    sum.add(part);
  }
  BOOST_TEST(sum.lines() == 20);
  for (size_t i = 0; i < HeadFigures::count; ++i)
    BOOST_TEST(near(sum.heads()[0].values[i], whole.heads()[0].values[i]));
}

BOOST_AUTO_TEST_CASE(tables) {
  AttentionStatistics statistics(selected(AttentionKind::encoder, {0}, {1, 2}), true);
  statistics.add(record_of({{encoder, encoder}}));
  BOOST_TEST(heads_table(statistics)
                 .text(false, 2)
                 .starts_with("kind\tlayer\thead\trows\tentropy\tdistance\tprevious\tself\tnext\tfi"
                              "rst\teos\tpunctuation\t"
                              "confidence\tequal\tinduction\nencoder\t0\t1\t3\t0.61\t"));
  BOOST_TEST(pairs_table(statistics).text(false, 3) ==
             "kind\tlayer\thead\tother_layer\tother_head\tdistance\nencoder\t0\t1\t0\t2\t0.000\n");
  BOOST_TEST(heads_table(statistics).json()["heads"][1]["head"] == 2);
  BOOST_TEST(heads_table(statistics).json()["lines"] == 1);
  BOOST_TEST(pairs_table(statistics).json()["pairs"].size() == 1u);
}
