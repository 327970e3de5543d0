// The parameter table: how many weights a model has, and their layout.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/model/parameters.h"

using namespace tx;

namespace {

using Change = std::function<void(ModelConfig&)>;

// The paper's base model with a change.
ModelConfig base(int64_t vocabulary, const Change& change = {}) {
  ModelConfig c;
  c.set_vocabularies(vocabulary);
  if (change) change(c);
  c.resolve();
  return c;
}

void make_big(ModelConfig& c) {
  c.d_model = 1024;
  c.d_ff = 4096;
  c.heads = 16;
}
void make_toy(ModelConfig& c) {
  c.set_layers(2);
  c.d_model = 64;
  c.d_ff = 256;
  c.heads = 4;
}
Change layers(int n) {
  return [n](ModelConfig& c) { c.set_layers(n); };
}
// Table 3 varies the queries and keys; the values keep their 64.
Change keys(int d_k) {
  return [d_k](ModelConfig& c) {
    c.d_k = d_k;
    c.d_v = 64;
  };
}
Change heads(int n) {
  return [n](ModelConfig& c) { c.heads = n; };
}
Change width(int d) {
  return [d](ModelConfig& c) { c.d_model = d; };
}
Change inner(int d_ff) {
  return [d_ff](ModelConfig& c) { c.d_ff = d_ff; };
}
void pre_norm(ModelConfig& c) { c.norm = NormPosition::pre; }

// Elements of the entries whose names begin with `prefix` and contain `part`.
int64_t count_of(const ModelConfig& config, const std::string& prefix,
                 const std::string& part = "") {
  int64_t count = 0;
  for (const ParameterEntry& e : parameter_table(config))
    if (e.name.starts_with(prefix) && e.name.find(part) != std::string::npos)
      count += e.rows * e.cols;
  return count;
}

struct NamedRow {
  const char* what;
  Change change;
  int64_t count;  // at a vocabulary of 37,000
  double paper;   // millions, as Table 3 prints them
};

std::vector<NamedRow> table_3() {
  return {{"base", {}, 63045632, 65},
          {"d_k 16", keys(16), 55967744, 58},
          {"d_k 32", keys(32), 58327040, 60},
          {"2 layers", layers(2), 33644544, 36},
          {"4 layers", layers(4), 48345088, 50},
          {"8 layers", layers(8), 77746176, 80},
          {"d_model 256", width(256), 26816512, 28},
          {"d_model 1024", width(1024), 163815424, 168},
          {"d_ff 1024", inner(1024), 50450432, 53},
          {"d_ff 4096", inner(4096), 88236032, 90}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(parts_of_the_base_model) {
  const ModelConfig c = base(37000);
  BOOST_TEST(count_of(c, "encoder.layers.0.self_attn.") == 1048576);
  BOOST_TEST(count_of(c, "decoder.layers.5.cross_attn.") == 1048576);
  BOOST_TEST(count_of(c, "encoder.layers.3.ffn.") == 2099712);
  BOOST_TEST(count_of(c, "decoder.layers.3.ffn_norm.") == 1024);
  BOOST_TEST(count_of(c, "encoder.layers.2.") == 3150336);
  BOOST_TEST(count_of(c, "decoder.layers.2.") == 4199936);
  BOOST_TEST(count_of(c, "encoder.layers.") + count_of(c, "decoder.layers.") == 44101632);
  BOOST_TEST(count_of(c, "embedding.weight") == 18944000);
  BOOST_TEST(parameter_count(base(37000, pre_norm)) == 63047680);
}

BOOST_AUTO_TEST_CASE(the_big_model) {
  const ModelConfig c = base(37000, make_big);
  BOOST_TEST(count_of(c, "encoder.layers.5.") == 12592128);
  BOOST_TEST(count_of(c, "decoder.layers.0.") == 16788480);
  BOOST_TEST(parameter_count(c) == 214171648);
  BOOST_TEST(parameter_count(base(32000)) == 60485632);
  BOOST_TEST(parameter_count(base(32000, make_big)) == 209051648);
}

BOOST_AUTO_TEST_CASE(variations_of_table_3) {
  for (const NamedRow& row : table_3()) {
    BOOST_TEST(parameter_count(base(37000, row.change)) == row.count, row.what);
    const double millions = double(parameter_count(base(41100, row.change))) / 1e6;
    BOOST_TEST(std::abs(millions - row.paper) <= 0.5, row.what << ": " << millions);
  }
  for (const int n : {1, 4, 16, 32})
    BOOST_TEST(parameter_count(base(37000, heads(n))) == 63045632, n << " heads");
  const double big = double(parameter_count(base(41100, make_big))) / 1e6;
  BOOST_TEST(std::abs(big - 218.4) < 0.05);  // the paper prints 213
}

BOOST_AUTO_TEST_CASE(the_toy_model) {
  ModelConfig c = base(13, make_toy);
  BOOST_TEST(parameter_count(c) == 232768);
  c.norm = NormPosition::pre;
  BOOST_TEST(parameter_count(c) == 233024);
}

BOOST_AUTO_TEST_CASE(tied_and_separate_embeddings) {
  ModelConfig c = base(1000);
  c.sides.back().vocabulary = 3000;
  const int64_t stacks = 44101632;
  c.tie = Tie::target;
  BOOST_TEST(parameter_count(c) == stacks + (1000 + 3000) * 512);
  c.tie = Tie::none;
  BOOST_TEST(parameter_count(c) == stacks + (1000 + 2 * 3000) * 512);
  c.positions = PositionEncoding::learned;
  c.max_positions = 77;
  BOOST_TEST(parameter_count(c) == stacks + (1000 + 2 * 3000 + 2 * 77) * 512);
}

BOOST_AUTO_TEST_CASE(attention_biases) {
  ModelConfig c = base(37000, keys(16));
  c.attention_bias = true;
  // Queries and keys have 8 x 16 outputs, values 8 x 64, the output projection 512.
  BOOST_TEST(parameter_count(c) == 55967744 + 18 * (2 * 128 + 512 + 512));
}

// The number of weights that each later block adds or removes.
BOOST_AUTO_TEST_CASE(later_blocks) {
  const auto more = [](const Change& change) {
    return parameter_count(base(37000, change)) - parameter_count(base(37000));
  };
  const int64_t layers = 12, norms = 12 + 18, attentions = 18;  // 6 + 6 layers
  BOOST_TEST(more([](ModelConfig& c) { c.activation = Activation::swiglu; }) ==
             layers * (512 + 1) * 2048);
  BOOST_TEST(more([](ModelConfig& c) { c.feed_forward_bias = false; }) == -layers * (2048 + 512));
  BOOST_TEST(more([](ModelConfig& c) { c.norm_type = NormType::rms; }) == -norms * 512);
  BOOST_TEST(more([](ModelConfig& c) { c.norm_type = NormType::none; }) == -norms * 2 * 512);
  BOOST_TEST(more([](ModelConfig& c) { c.kv_heads = 2; }) == -attentions * 2 * 6 * 64 * 512);
  BOOST_TEST(more([](ModelConfig& c) { c.output_bias = true; }) == 37000);
  BOOST_TEST(more([](ModelConfig& c) { c.tie = Tie::embeddings; }) == 37000 * 512);
  for (const char* positions : {"halves", "fairseq", "rotary", "alibi", "none"})
    BOOST_TEST(more([&](ModelConfig& c) { c.positions.name = positions; }) == 0);
  BOOST_TEST(more([](ModelConfig& c) { c.positions.name = "relative"; }) == 2 * 8 * 32);
}

BOOST_AUTO_TEST_CASE(every_field_is_written_and_read) {
  ModelConfig c = base(37000);
  BOOST_TEST((ModelConfig::from_json(c.to_json(), "test").to_json() == c.to_json()));
  c.kv_heads = 2, c.window = 9, c.norm_type = NormType::rms, c.feed_forward_bias = false;
  c.positions = PositionEncoding::rotary, c.rotary_base = 500, c.scaled_embeddings = false;
  c.residual = false;
  const Json json = c.to_json();
  const ModelConfig read = ModelConfig::from_json(json, "test");
  BOOST_TEST((read.to_json() == json));
  BOOST_TEST(read.kv_heads == 2);
  BOOST_TEST(read.window == 9);
  BOOST_TEST(!read.residual);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_missing_has_its_default) {
  const ModelConfig c = base(37000);
  Json json = c.to_json();
  for (const char* key : {"kv_heads", "window", "norm_type", "rotary_base", "scaled_embeddings"})
    BOOST_TEST(json.erase(key) == 1u);
  BOOST_TEST((ModelConfig::from_json(json, "test").to_json() == c.to_json()));
}

BOOST_AUTO_TEST_CASE(values_of_fields_are_checked) {
  const auto refused = [](const Change& change) {
    ModelConfig c;
    c.set_vocabularies(100);
    change(c);
    BOOST_CHECK_THROW(c.resolve(), UsageError);
  };
  refused([](ModelConfig& c) { c.kv_heads = 3; });
  refused([](ModelConfig& c) { c.positions = PositionEncoding::rotary, c.d_k = 5; });
  refused([](ModelConfig& c) { c.rotary_base = 0; });
  refused([](ModelConfig& c) { c.norm_epsilon = -1; });
  refused([](ModelConfig& c) {
    c.positions = PositionEncoding::learned, c.max_positions = c.position_offset = 2;
  });
  refused([](ModelConfig& c) {
    c.rotary_scaling = RotaryScaling::llama3, c.rotary_low = c.rotary_high = 4;
  });
}

// Entries do not overlap; joined ones have no gap, the others are aligned to 64 bytes of fp32; all
// matrices come before all vectors.
BOOST_AUTO_TEST_CASE(layout) {
  for (const bool bias : {false, true}) {
    ModelConfig c = base(1001, make_toy);
    c.d_k = 5;
    c.attention_bias = bias;
    c.positions = PositionEncoding::learned;
    const std::vector<ParameterEntry> table = parameter_table(c);
    std::set<std::string> names;
    int64_t end = 0;
    bool vectors = false;
    for (const ParameterEntry& e : table) {
      BOOST_TEST(names.insert(e.name).second, e.name);
      BOOST_TEST(e.padded_rows >= e.rows);
      if (e.joined)
        BOOST_TEST(e.offset == end, e.name);
      else
        BOOST_TEST((e.offset >= end && e.offset < end + 16 && e.offset % 16 == 0), e.name);
      BOOST_TEST((e.vector || !vectors), e.name << " is a matrix after a vector");
      vectors = e.vector;
      end = e.offset + e.padded_rows * e.cols;
    }
    BOOST_TEST(table.front().name == "embedding.weight");
    BOOST_TEST(table.front().padded_rows == 1024);
  }
}

BOOST_AUTO_TEST_CASE(keys_and_values_of_the_memory_lie_together) {
  const std::vector<ParameterEntry> table = parameter_table(base(100, layers(3)));
  size_t at = 0;
  while (table[at].name != "decoder.layers.0.cross_attn.k_proj.weight") ++at;
  for (int layer = 0; layer < 3; ++layer)
    for (const char* name : {"k_proj", "v_proj"}) {
      BOOST_TEST(table[at].name ==
                 "decoder.layers." + std::to_string(layer) + ".cross_attn." + name + ".weight");
      BOOST_TEST(table[at].joined == (layer > 0 || name[0] == 'v'));
      ++at;
    }
}
