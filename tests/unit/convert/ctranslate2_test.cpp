#include <boost/test/unit_test.hpp>

#include "lib/convert/output.h"
#include "lib/model/positions.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

struct Variable {
  std::vector<uint32_t> shape;
  int type = 0;
  std::string data;
};

// model.bin read as CTranslate2 reads it.
class Binary {
 public:
  explicit Binary(std::string bytes) : bytes_(std::move(bytes)) {
    version = number(4);
    spec = text();
    revision = number(4);
    for (uint64_t n = number(4); n > 0; --n) {
      const std::string name = text();
      Variable v;
      for (uint64_t dims = number(1); dims > 0; --dims) v.shape.push_back(uint32_t(number(4)));
      v.type = int(number(1));
      v.data = take(number(4));
      names.push_back(name);
      variables[name] = v;
    }
    for (uint64_t n = number(4); n > 0; --n) {
      const std::string name = text();
      aliases[name] = text();
    }
    whole = at_ == bytes_.size();
  }
  std::vector<float> floats(const std::string& name) const {
    const std::string& data = variables.at(name).data;
    std::vector<float> values(data.size() / 4);
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }

  uint64_t version = 0, revision = 0;
  std::string spec;
  std::vector<std::string> names;
  std::map<std::string, Variable> variables;
  std::map<std::string, std::string> aliases;
  bool whole = false;

 private:
  std::string take(uint64_t count) {
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  uint64_t number(int width) {
    const std::string b = take(uint64_t(width));
    uint64_t value = 0;
    for (int i = width; i-- > 0;) value = value << 8 | uint8_t(b[size_t(i)]);
    return value;
  }
  std::string text() {
    const std::string all = take(number(2));
    BOOST_TEST(all.back() == '\0');
    return all.substr(0, all.size() - 1);
  }
  std::string bytes_;
  size_t at_ = 0;
};

Binary written(const TempFolder& folder, const ModelConfig& config) {
  const SampleModel sample(1, DType::f32, config);
  sample.save(folder / "m");
  OutputDirectory out(folder / "ct2");
  write_ctranslate2(out, ModelReader(folder / "m"), 9);
  out.finish();
  return Binary(bytes_of(folder / "ct2/model.bin"));
}

std::vector<float> weights(const ModelReader& model, const std::vector<std::string>& names) {
  std::vector<float> all;
  for (const std::string& name : names) {
    const TensorInfo& t = *model.file().find(name);
    const size_t before = all.size();
    all.resize(before + size_t(t.elements()));
    std::memcpy(all.data() + before, model.file().data(t), size_t(t.bytes()));
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(variables_of_a_tied_model) {
  const TempFolder folder;
  const Binary b = written(folder, small_config());
  const ModelReader model(folder / "m");
  BOOST_TEST(b.whole);
  BOOST_TEST(b.version == 6u);
  BOOST_TEST(b.spec == "TransformerSpec");
  BOOST_TEST(b.revision == 7u);
  BOOST_TEST(std::is_sorted(b.names.begin(), b.names.end()));
  BOOST_TEST(b.floats("encoder/embeddings_0/weight") == weights(model, {"embedding.weight"}));
  for (const char* copy : {"decoder/embeddings/weight", "decoder/projection/weight"})
    BOOST_TEST(b.aliases.at(copy) == "encoder/embeddings_0/weight");
  const std::string self = "encoder.layers.0.self_attn.";
  BOOST_TEST(
      b.floats("encoder/layer_0/self_attention/linear_0/weight") ==
      weights(model, {self + "q_proj.weight", self + "k_proj.weight", self + "v_proj.weight"}));
  BOOST_TEST(b.variables.at("encoder/layer_0/self_attention/linear_0/weight").shape ==
             (std::vector<uint32_t>{18, 6}));
  BOOST_TEST(b.floats("decoder/layer_0/ffn/linear_1/bias") ==
             weights(model, {"decoder.layers.0.ffn.out_proj.bias"}));
  BOOST_TEST(b.variables.at("encoder/num_heads").data == std::string("\2\0", 2));
  BOOST_TEST(b.variables.at("encoder/pre_norm").data == std::string("\0", 1));
  BOOST_TEST(b.variables.count("encoder/layer_norm/gamma") == 0u);
  const std::vector<float> table = b.floats("encoder/position_encodings/encodings");
  BOOST_TEST(table.size() == 9u * 6);
  BOOST_TEST(table[6 * 8 + 1] == float(sinusoid(8, 6)[1]));
}

BOOST_AUTO_TEST_CASE(other_settings) {
  const TempFolder folder;
  ModelConfig config = small_config();
  config.norm = NormPosition::pre;
  config.tie = Tie::none;
  config.positions = PositionEncoding::learned;
  config.max_positions = 5;
  config.attention_bias = true;
  const Binary b = written(folder, config);
  const ModelReader model(folder / "m");
  BOOST_TEST(b.aliases.empty());
  BOOST_TEST(b.floats("decoder/projection/weight") == weights(model, {"output.weight"}));
  BOOST_TEST(b.floats("encoder/embeddings_0/weight") ==
             weights(model, {"encoder.embedding.weight"}));
  BOOST_TEST(b.floats("decoder/position_encodings/encodings") ==
             weights(model, {"decoder.positions.weight"}));
  BOOST_TEST(b.floats("decoder/layer_norm/gamma") == weights(model, {"decoder.norm.weight"}));
  const std::string cross = "decoder.layers.0.cross_attn.";
  BOOST_TEST(b.floats("decoder/layer_0/attention/linear_1/bias") ==
             weights(model, {cross + "k_proj.bias", cross + "v_proj.bias"}));
}

BOOST_AUTO_TEST_CASE(the_layers_of_preset_modern) {
  const TempFolder folder;
  ModelConfig config = small_config();
  config.norm_type = NormType::rms;
  config.positions = PositionEncoding::rotary;
  config.activation = Activation::swiglu;
  config.heads = 3, config.kv_heads = 1;
  config.d_k = config.d_v = 2;
  const Binary b = written(folder, config);
  const ModelReader model(folder / "m");
  BOOST_TEST(b.whole);
  const std::string self = "encoder/layer_0/self_attention/", cross = "decoder/layer_0/attention/";
  BOOST_TEST(b.variables.at(self + "layer_norm/gamma").shape == std::vector<uint32_t>{6});
  BOOST_TEST(b.variables.count(self + "layer_norm/beta") == 0u);  // its absence means RMSNorm
  BOOST_TEST(b.variables.count("encoder/position_encodings/encodings") == 0u);
  BOOST_TEST(b.variables.at(self + "rotary_dim").data == std::string("\2\0\0\0", 4));
  BOOST_TEST(b.variables.at(self + "rotary_interleave").data == std::string("\0", 1));
  BOOST_TEST(b.floats(self + "rotary_base") == std::vector<float>{10000});
  BOOST_TEST(b.variables.count(cross + "rotary_dim") == 0u);
  for (const std::string& attention : {self, cross}) {
    const Variable& heads = b.variables.at(attention + "num_heads_kv");
    BOOST_TEST(heads.type == 3);
    BOOST_TEST(heads.data == std::string("\1\0\0\0", 4));
  }
  BOOST_TEST(b.floats("decoder/layer_0/ffn/linear_0/weight") ==
             weights(model, {"decoder.layers.0.ffn.gate_proj.weight"}));
  BOOST_TEST(b.floats("decoder/layer_0/ffn/linear_0_noact/bias") ==
             weights(model, {"decoder.layers.0.ffn.in_proj.bias"}));
  BOOST_TEST(b.variables.at("decoder/activation").data == std::string("\2", 1));
}

BOOST_AUTO_TEST_CASE(the_rest_of_the_folder) {
  const TempFolder folder;
  written(folder, small_config());
  const Json config = parse_json(bytes_of(folder / "ct2/config.json"), "config");
  BOOST_TEST(config["add_source_eos"] == true);
  BOOST_TEST(config["decoder_start_token"] == "<s>");
  BOOST_TEST(config["layer_norm_epsilon"] == 1e-6);
  BOOST_TEST(parse_json(bytes_of(folder / "ct2/shared_vocabulary.json"), "pieces") ==
             Json({"<pad>", "<unk>", "<s>", "</s>", "a", "b", "c"}));
}

BOOST_AUTO_TEST_CASE(a_folder_is_whole_or_not_there) {
  const TempFolder folder;
  folder.file("there", "x");
  BOOST_TEST(message_of<UsageError>([&] {
               OutputDirectory out(folder / "there");
             }).find("exists") != std::string::npos);
  {
    OutputDirectory out(folder / "new/");
    write_atomically(out.file("a"), "b");
    BOOST_TEST(!file_exists(folder / "new"));
  }
  BOOST_TEST(folder.entries() == 1);
}
