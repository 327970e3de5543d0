// The diagram of --describe: its numbers of parameters add up to the model's, its shapes and
// computations are those of the configuration.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <regex>
#include <sstream>

#include "lib/base/json.h"
#include "lib/model/parameters.h"

using namespace tx;

namespace {

using Change = std::function<void(ModelConfig&)>;

ModelConfig small(const Change& change) {
  ModelConfig c;
  c.d_model = 12;
  c.d_ff = 20;
  c.heads = 4;
  c.set_layers(3);
  change(c);
  if (c.target().vocabulary == 0) c.set_vocabularies(70);
  c.resolve();
  return c;
}

int64_t number(std::string digits) {
  std::erase(digits, ',');
  return std::stoll(digits);
}

// The sum of the numbers on the right, those of a layer times the number of layers. Checks that the
// numbers of a layer add up to the one before them.
int64_t sum_of(const std::string& diagram) {
  static const std::regex layers("  ([0-9,]+) layers? of ([0-9,]+) parameters"),
      parameters("   *([0-9,]+)( \\+ shared)?$");
  std::istringstream lines(diagram.substr(diagram.find("\n\n")));
  int64_t sum = 0, times = 1, layer = 0, stated = 0;
  const auto end_layers = [&] {
    BOOST_TEST(layer == stated);
    sum += times * layer;
    layer = stated = 0;
  };
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, layers)) {
      times = number(found[1]);
      stated = number(found[2]);
    } else if (line.empty() || line == "  after the last layer") {
      end_layers();
    } else if (std::regex_search(line, found, parameters)) {
      (stated ? layer : sum) += number(found[1]);
    }
  }
  return sum;
}

bool has_line(const std::string& diagram, const std::string& line) {
  return diagram.find("\n" + line + "\n") != diagram.npos ||
         diagram.find("\n" + line + "   ") != diagram.npos;
}

void expect_lines(const ModelConfig& config, const std::vector<std::string>& lines) {
  const std::string diagram = data_flow(config);
  for (const std::string& line : lines) BOOST_TEST(has_line(diagram, line), line + "\n" + diagram);
}

void expect_none(const ModelConfig& config, const std::string& text) {
  const std::string diagram = data_flow(config);
  BOOST_TEST(diagram.find(text) == diagram.npos, text + "\n" + diagram);
}

void decoder(ModelConfig& c) {
  c.set_kind(ModelKind::decoder);
  c.set_layers(3);
}
void encoder(ModelConfig& c) {
  c.set_kind(ModelKind::encoder);
  c.set_layers(3);
}
void modern(ModelConfig& c) {
  c.norm = NormPosition::pre;
  c.norm_type = NormType::rms;
  c.positions = PositionEncoding::rotary;
  c.activation = Activation::swiglu;
  c.feed_forward_bias = false;
  c.kv_heads = 2;
  c.d_k = 6;
  c.d_v = 5;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_data_flow)

BOOST_AUTO_TEST_CASE(the_parameters_are_the_models) {
  const Change changes[] = {[](ModelConfig&) {},
                            modern,
                            [](ModelConfig& c) { c.norm = NormPosition::pre; },
                            [](ModelConfig& c) { c.attention_bias = c.output_bias = true; },
                            [](ModelConfig& c) { c.activation = Activation::geglu; },
                            [](ModelConfig& c) { c.positions = PositionEncoding::learned; },
                            [](ModelConfig& c) { c.tie = Tie::embeddings; },
                            [](ModelConfig& c) { c.tie = Tie::target; },
                            [](ModelConfig& c) {
                              c.tie = Tie::none;
                              c.output_bias = true;
                              c.set_vocabularies(int64_t(c.sides.size()) == 2
                                                     ? std::vector<int64_t>{60, 50}
                                                     : std::vector<int64_t>{50});
                              c.sides.back().layers = 1;
                            }};
  for (const Change& kind : {Change([](ModelConfig&) {}), Change(decoder), Change(encoder)})
    for (const Change& change : changes) {
      const ModelConfig c = small([&](ModelConfig& m) {
        kind(m);
        change(m);
      });
      BOOST_TEST_CONTEXT(to_text(c.to_json()))
      BOOST_TEST(sum_of(data_flow(c)) == parameter_count(c));
    }
}

BOOST_AUTO_TEST_CASE(the_base_model) {
  ModelConfig c;
  c.set_vocabularies(37000);
  c.resolve();
  BOOST_TEST(sum_of(data_flow(c)) == 63045632);
  expect_lines(c, {"  B sentences of S source and T target tokens",
                   "  d = 512, d_ff = 2,048, h = 8, d_k = 64, d_v = 64, V = 37,000",
                   "     embedding: E[token] sqrt(d)",
                   "     positions: x + PE(position)",
                   "  6 layers of 3,150,336 parameters",
                   "  |  q = x W_Q, k = x W_K, v = x W_V",
                   "  |  | q: B x h x S x d_k, k: B x h x S x d_k, v: B x h x S x d_v",
                   "  |  scores = q k^T / sqrt(d_k)",
                   "  |  | B x h x S x S",
                   "  |  heads = softmax(scores) v",
                   "  |  | B x h x S x d_v",
                   "  |  Concat(heads) W_O",
                   "  |  | B x S x d",
                   "  |  y = max(0, x W_1 + b_1)",
                   "  |  | B x S x d_ff",
                   "  |  y W_2 + b_2",
                   "  6 layers of 4,199,936 parameters",
                   "  |  scores = q k^T / sqrt(d_k), causal mask",
                   "  |  | B x h x T x T",
                   "  +--+  cross-attention to e, B x S x d",
                   "  |  q = x W_Q, k = e W_K, v = e W_V",
                   "  |  | q: B x h x T x d_k, k: B x h x S x d_k, v: B x h x S x d_v",
                   "  |  | B x h x T x S",
                   "     LayerNorm",
                   "     logits = x E^T",
                   "     | B x T x V"});
}

BOOST_AUTO_TEST_CASE(a_stack_alone_attends_to_itself) {
  expect_lines(small(decoder), {"  B sentences of T tokens", "  |  | B x h x T x T",
                                "  |  scores = q k^T / sqrt(d_k), causal mask"});
  expect_none(small(decoder), "x S");
  expect_lines(small(encoder),
               {"  B sentences of S tokens", "  |  | B x h x S x S", "     | B x S x V"});
  expect_none(small(encoder), "causal mask");
  expect_none(small(encoder), "x T");
  for (const Change& kind : {Change(decoder), Change(encoder)})
    expect_none(small(kind), "cross-attention");
}

// The norm precedes the sub-layer inside the residual connection; one more follows the last layer.
BOOST_AUTO_TEST_CASE(pre_norm) {
  const std::string diagram = data_flow(small(modern));
  const auto count = [&](const std::string& part) {
    size_t n = 0;
    for (size_t at = 0; (at = diagram.find(part, at)) != diagram.npos; ++at) ++n;
    return n;
  };
  BOOST_TEST(count("\n  |  RMSNorm ") == 5U);
  BOOST_TEST(count("\n  after the last layer\n     RMSNorm ") == 2U);
  BOOST_TEST(count("RMSNorm") == 7U);
  const std::string post = data_flow(small([](ModelConfig&) {}));
  BOOST_TEST(post.find("  |  LayerNorm") == post.npos);
}

BOOST_AUTO_TEST_CASE(other_layers) {
  expect_lines(small(modern),
               {"  g = 2: heads of keys and values, each shared by 2 query heads",
                "  |  | q: B x h x S x d_k, k: B x g x S x d_k, v: B x g x S x d_v",
                "  |  rotate q and k by position", "  |  y = silu(x W_g) * (x W_1)", "  |  y W_2"});
  expect_none(small(modern), "PE(position)");
  expect_lines(
      small([](ModelConfig& c) {
        c.window = 9;
        c.positions = PositionEncoding::alibi;
        c.scaled_attention = c.causal_mask = false;
        c.attention_bias = true;
        c.activation = Activation::gelu;
        c.scaled_embeddings = false;
      }),
      {"     embedding: E[token]", "  |  q = x W_Q + b_Q, k = e W_K + b_K, v = e W_V + b_V",
       "  |  scores = q k^T - slope |t - s|, window |t - s| < 9", "  |  scores = q k^T",
       "  |  Concat(heads) W_O + b_O", "  |  y = gelu(x W_1 + b_1)"});
  expect_lines(small([](ModelConfig& c) {
                 c.positions = PositionEncoding::relative;
                 c.activation = Activation::geglu_tanh;
               }),
               {"  |  scores = q k^T / sqrt(d_k) + bias of s - t, causal mask",
                "  |  y = gelu-tanh(x W_g + b_g) * (x W_1 + b_1)"});
}

BOOST_AUTO_TEST_SUITE_END()
