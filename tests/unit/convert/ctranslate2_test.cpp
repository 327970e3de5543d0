#include <boost/test/unit_test.hpp>

#include "lib/model/positions.h"
#include "tests/unit/convert/ctranslate2_binary.h"

using namespace tx;
using namespace tx_test;

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
