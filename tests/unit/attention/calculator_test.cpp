#include "lib/attention/calculator.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

namespace {

void check_near(const Rows& got, const Rows& wanted, double tolerance) {
  BOOST_REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    BOOST_REQUIRE(got[i].size() == wanted[i].size());
    for (size_t j = 0; j < got[i].size(); ++j)
      BOOST_TEST(std::abs(got[i][j] - wanted[i][j]) <= tolerance,
                 "row " << i << ", column " << j << ": " << got[i][j] << ", not " << wanted[i][j]);
  }
}

AttentionSteps steps_of(const char* json) { return attend(parse_matrices(json, "x")); }

std::string error_of(const char* json) {
  return message_of<DataError>([&] { parse_matrices(json, "m.json"); });
}

// R. Karim, Illustrated: Self-Attention, 2019.
constexpr char tutorial[] =
    R"("q": [[1,0,2],[2,2,2],[2,1,3]], "k": [[0,1,1],[4,4,0],[2,3,1]],
       "v": [[1,2,3],[2,8,0],[2,6,3]])";

std::string with_tutorial(const std::string& more) { return "{" + (tutorial + more) + "}"; }

}  // namespace

// Three tokens with q = k = v, by hand: e^(1/sqrt 2) = 2.02811, e^(2/sqrt 2) = 4.11325;
// row 1: 2.02811 / (2 * 2.02811 + 1) = 0.40111; row 3: 2.02811 / (2 * 2.02811 + 4.11325) = 0.24826.
BOOST_AUTO_TEST_CASE(three_tokens) {
  const AttentionSteps s =
      steps_of(R"({"q": [[1,0],[0,1],[1,1]], "k": [[1,0],[0,1],[1,1]], "v": [[1,0],[0,1],[1,1]]})");
  BOOST_TEST((s.scores == Rows{{1, 0, 1}, {0, 1, 1}, {1, 1, 2}}));
  const double r = 0.70711;
  check_near(s.scaled, {{r, 0, r}, {0, r, r}, {r, r, 2 * r}}, 1e-5);
  BOOST_TEST((s.masked == s.scaled));
  check_near(
      s.weights,
      {{0.40111, 0.19778, 0.40111}, {0.19778, 0.40111, 0.40111}, {0.24826, 0.24826, 0.50349}},
      1e-5);
  check_near(s.context, {{0.80222, 0.59889}, {0.59889, 0.80222}, {0.75174, 0.75174}}, 1e-5);
  // The scores 1 0 1 0 1 1 1 1 2 have the sum 8 and the sum of squares 10: 10/9 - (8/9)^2 = 26/81.
  BOOST_TEST(std::abs(s.scores_variance - 26.0 / 81) < 1e-12);
  BOOST_TEST(std::abs(s.scaled_variance - 13.0 / 81) < 1e-12);
}

// The tutorial does not scale: the temperature 1 / sqrt(3) cancels sqrt(d_k).
BOOST_AUTO_TEST_CASE(published_example) {
  const AttentionSteps s =
      attend(parse_matrices(with_tutorial(R"(, "temperature": 0.5773502691896258)"), "x"));
  BOOST_TEST((s.scores == Rows{{2, 4, 4}, {4, 16, 12}, {4, 12, 10}}));
  check_near(s.scaled, s.scores, 1e-12);
  check_near(s.context,
             {{1.9366, 6.6831, 1.5951}, {2.0000, 7.9640, 0.0540}, {1.9997, 7.7599, 0.3584}}, 5e-5);
}

// Equal scores: a causal row is the mean of the values so far.
BOOST_AUTO_TEST_CASE(causal_mask) {
  const AttentionInputs in = parse_matrices(
      R"({"q": [[0],[0],[0]], "k": [[5],[6],[7]], "v": [[6,0],[0,6],[3,3]], "mask": "causal"})",
      "x");
  const AttentionSteps s = attend(in);
  BOOST_TEST(std::isinf(s.masked[0][1]));
  check_near(s.weights, {{1, 0, 0}, {0.5, 0.5, 0}, {1 / 3.0, 1 / 3.0, 1 / 3.0}}, 1e-15);
  check_near(s.context, {{6, 0}, {3, 3}, {3, 3}}, 1e-14);
}

// A masked score changes neither the weights nor the variance. e^ln(3) : e^0 is 3 : 1.
BOOST_AUTO_TEST_CASE(given_mask) {
  const AttentionSteps s = steps_of(
      R"({"q": [[1]], "k": [[1.0986122886681098],[100],[0]],
         "v": [[4],[9],[8]], "mask": [[1,0,1]]})");
  check_near(s.weights, {{0.75, 0, 0.25}}, 1e-15);
  check_near(s.context, {{5}}, 1e-14);
  BOOST_TEST(std::abs(s.scores_variance - std::pow(std::log(3) / 2, 2)) < 1e-12);
  check_near(
      steps_of(R"({"q": [[1]], "k": [[3],[100]], "v": [[4],[9]], "mask": [[true,false]]})").context,
      {{4}}, 0);
}

// d_k = 4: the scores 4 and 0 are scaled to 2 and 0, with the temperature 2 to 1 and 0.
BOOST_AUTO_TEST_CASE(temperature) {
  const AttentionSteps s = steps_of(
      R"({"q": [[1,1,1,1]], "k": [[1,1,1,1],[0,0,0,0]], "v": [[1],[0]], "temperature": 2})");
  BOOST_TEST((s.scaled == Rows{{1, 0}}));
  check_near(s.context, {{0.731059}}, 1e-6);  // e / (1 + e)
  BOOST_TEST(s.scores_variance == 4);
  BOOST_TEST(s.scaled_variance == 0.25);
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow) {
  check_near(steps_of(R"({"q": [[1e30]], "k": [[1e30],[0]], "v": [[2],[1]]})").context, {{2}}, 0);
}

BOOST_AUTO_TEST_CASE(text) {
  const AttentionInputs in = parse_matrices(
      R"({"q": [[0],[0]], "k": [[-1.5],[10]], "v": [[6,0],[0,6]], "mask": "causal"})", "x");
  BOOST_TEST(steps_as_text(in, attend(in), 3) ==
             R"(q: 2 x 1 (queries x d_k)
  0
  0

k: 2 x 1 (keys x d_k)
  -1.5
  10.0

v: 2 x 2 (keys x d_v)
  6  0
  0  6

scores = q k^T: 2 x 2 (queries x keys), variance 0
  0  0
  0  0

scaled = scores / sqrt(1): 2 x 2 (queries x keys), variance 0
  0  0
  0  0

masked = scaled, mask causal: 2 x 2 (queries x keys)
     0  -inf
     0     0

weights = softmax(masked): 2 x 2 (queries x keys), each row sums to 1
  1.0  0.0
  0.5  0.5

context = weights v: 2 x 2 (queries x d_v), the output
  6  0
  3  3
)");
  const AttentionInputs warm = parse_matrices(
      R"({"q": [[1,1,1,1]], "k": [[1,1,1,1]], "v": [[1]], "temperature": 0.25})", "x");
  const std::string out = steps_as_text(warm, attend(warm), 3);
  BOOST_TEST(out.find("scaled = scores / (sqrt(4) * 0.25): 1 x 1") != out.npos);
}

BOOST_AUTO_TEST_CASE(json) {
  const AttentionInputs in =
      parse_matrices(R"({"q": [[0],[0]], "k": [[1],[2]], "v": [[6],[0]], "mask": "causal"})", "x");
  BOOST_TEST(to_text(steps_as_json(in, attend(in))) ==
             R"({"d_k":1,"temperature":1.0,"mask":"causal","q":[[0.0],[0.0]],"k":[[1.0],[2.0]],)"
             R"("v":[[6.0],[0.0]],"scores":[[0.0,0.0],[0.0,0.0]],"scaled":[[0.0,0.0],[0.0,0.0]],)"
             R"("masked":[[0.0,null],[0.0,0.0]],"weights":[[1.0,0.0],[0.5,0.5]],)"
             R"("context":[[6.0],[3.0]],"scores_variance":0.0,"scaled_variance":0.0})");
}

BOOST_AUTO_TEST_CASE(errors_name_the_member) {
  BOOST_TEST(error_of("[]") == "m.json: is not an object with the members q, k and v");
  BOOST_TEST(error_of(R"({"q": [[1]], "k": [[1]]})") ==
             "m.json: v is missing: it must be a matrix, such as [[1, 0]]");
  BOOST_TEST(error_of(R"({"q": [[1]], "K": [[1]]})") ==
             "m.json: \"K\" is not a member: use q, k, v, mask and temperature");
  BOOST_TEST(error_of(R"({"q": [1, 2]})") == "m.json: q is not a matrix, such as [[1, 0], [0, 1]]");
  BOOST_TEST(error_of(R"({"q": [[]]})") == "m.json: q is not a matrix, such as [[1, 0], [0, 1]]");
  BOOST_TEST(error_of(R"({"q": [[1, 2], 3]})") == "m.json: q, row 2 is not a list of numbers");
  BOOST_TEST(error_of(R"({"q": [[1, 2], [3]]})") == "m.json: q, row 2 has 1 column, row 1 has 2");
  BOOST_TEST(error_of(R"({"q": [[1, NaN]]})") ==
             "m.json: q, row 1, column 2 is \"NaN\", not a number");
  BOOST_TEST(error_of(R"({"q": [[1], [-Infinity]]})") ==
             "m.json: q, row 2, column 1 is \"-Infinity\", not a number");
  BOOST_TEST(error_of(R"({"q": [[1, null]]})") ==
             "m.json: q, row 1, column 2 is null, not a number");
  BOOST_TEST(error_of(R"({"q": [[true]]})") == "m.json: q, row 1, column 1 is true, not a number");
  BOOST_TEST(error_of(R"({"q": [[2e30]]})") == "m.json: q, row 1, column 1 is larger than 1e30");
  BOOST_TEST(error_of(R"({"q": [[1, 2]], "k": [[1]], "v": [[1]]})") ==
             "m.json: k has 1 column, q has 2: both must have d_k columns");
  BOOST_TEST(error_of(R"({"q": [[1]], "k": [[1], [2]], "v": [[1]]})") ==
             "m.json: v has 1 row, k has 2: each key needs a value");
  const auto masked = [](const std::string& mask) {
    return error_of(
        (R"({"q": [[1], [2]], "k": [[1], [2], [3]], "v": [[1], [2], [3]], "mask": )" + mask + "}")
            .c_str());
  };
  BOOST_TEST(masked(R"("causal")") ==
             "m.json: mask is causal, which needs as many queries as keys: q has 2 rows, k has 3");
  BOOST_TEST(masked(R"("future")") ==
             "m.json: mask is \"future\": give \"none\", \"causal\" or a matrix of 1 (visible) and "
             "0 (masked)");
  BOOST_TEST(masked("[[1, 0], [1, 1]]") ==
             "m.json: mask is 2 x 2, but the scores are 2 x 3 (rows of q x rows of k)");
  BOOST_TEST(masked("[[1, 0, 1], [1, 2, 1]]") ==
             "m.json: mask, row 2, column 2 is neither 1 (visible) nor 0 (masked)");
  BOOST_TEST(masked("[[1, 0, 1], [0, 0, 0]]") ==
             "m.json: mask, row 2 masks every key: make one visible");
  const auto warm = [](const std::string& value) {
    return message_of<DataError>(
        [&] { parse_matrices(with_tutorial(", \"temperature\": " + value), "m.json"); });
  };
  BOOST_TEST(warm("0") == "m.json: temperature is 0: it must be at least 0.000001");
  BOOST_TEST(warm("\"hot\"") == "m.json: temperature is \"hot\", not a number");
  std::string wide = "[[0";
  for (int i = 0; i < 1000; ++i) wide += ",0";
  BOOST_TEST(error_of(("{\"q\": " + wide + "]]}").c_str()) ==
             "m.json: q is 1 x 1001: at most 1,000 rows and columns are supported");
}
