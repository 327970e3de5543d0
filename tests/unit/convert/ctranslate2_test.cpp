#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <functional>

#include "lib/convert/convert.h"
#include "lib/convert/output.h"
#include "lib/model/positions.h"
#include "tests/unit/checkpoint/samples.h"
#include "tests/unit/convert/samples.h"

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

namespace {

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The name of a variable in revision 1, that of OpenNMT-tf.
std::string old_name(std::string name) {
  const bool encoder = name.starts_with("encoder/");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"embeddings_0/weight", "w_embs"},
           {"embeddings/weight", "w_embs"},
           {"linear_0", "conv1d"},
           {"linear_", "conv1d_"},
           {"weight", "kernel"},
           {"layer_norm", "LayerNorm"},
           {"projection", "dense"},
           {"/self_attention", encoder ? "/multi_head" : "/masked_multi_head"},
           {"/attention", "/multi_head"}})
    name = replaced_all(name, from, to);
  return "transformer/" + name + ":0";
}

struct Form {
  int version = 6, revision = 7, type = 0;  // type: of matrices, as in the file
  std::string spec = "TransformerSpec";
};

// The variables of an exported model in another form. Before revision 5 only the settings that are
// not defaults, at the top.
std::string repacked(const Binary& b, const Form& form) {
  const auto text = [](const std::string& t) { return little(t.size() + 1, 2) + t + '\0'; };
  std::map<std::string, Variable> variables = b.variables;
  std::map<std::string, std::string> aliases = b.aliases;
  if (form.version < 3)
    for (const auto& [name, target] : aliases) variables[name] = variables.at(target);
  if (form.revision < 5) {
    std::erase_if(variables, [](const auto& v) {
      return v.second.shape.empty() || v.first.ends_with("encodings");
    });
    std::erase_if(aliases, [](const auto& alias) { return alias.first.ends_with("encodings"); });
    if (form.revision > 2) variables["num_heads"] = {{}, 2, little(8, 2)};
  }
  const std::map<std::string, Variable> floats = variables;
  for (const auto& [name, v] : floats) {
    if (v.shape.size() != 2 || form.type == 0 || name.ends_with("encodings")) continue;
    std::vector<float> x(v.data.size() / 4), scales;
    std::memcpy(x.data(), v.data.data(), v.data.size());
    Variable& to = variables[name];
    to.type = form.type;
    to.data.clear();
    for (size_t row = 0; row < v.shape[0]; ++row) {
      const auto begin = x.begin() + ptrdiff_t(row * v.shape[1]);
      float amax = 0;
      std::for_each(begin, begin + v.shape[1],
                    [&](float y) { amax = std::max(amax, std::abs(y)); });
      scales.push_back(form.type == 1 ? 127 / amax : 1000.0f);
      std::for_each(begin, begin + v.shape[1], [&](float y) {
        to.data += little(uint64_t(int64_t(std::trunc(y * scales.back()))), form.type);
      });
    }
    if (form.type == 2) scales.resize(form.version > 1);  // one, or none
    if (!scales.empty())
      variables[name + "_scale"] = {
          form.type == 1 ? std::vector{v.shape[0]} : std::vector<uint32_t>{}, 0,
          float_bytes(scales)};
  }
  std::string out = little(uint64_t(form.version), 4);
  if (form.version > 1) out += text(form.spec) + little(uint64_t(form.revision), 4);
  out += little(variables.size(), 4);
  for (const auto& [name, v] : variables) {
    out += text(form.revision == 1 ? old_name(name) : name) + little(v.shape.size(), 1);
    for (const uint32_t d : v.shape) out += little(d, 4);
    constexpr int sizes[] = {4, 1, 2, 4};
    const int size = sizes[v.type];
    out += form.version < 4 ? little(uint64_t(size), 1) + little(v.data.size() / size_t(size), 4)
                            : little(uint64_t(v.type), 1) + little(v.data.size(), 4);
    out += v.data;
  }
  if (form.version < 3) return out;
  out += little(aliases.size(), 4);
  for (const auto& [name, target] : aliases) out += text(name) + text(target);
  return out;
}

// A model like those of OpenNMT-tf: all that old revisions do not state has its default.
ModelConfig old_config() {
  ModelConfig config = small_config();
  config.d_model = 16, config.heads = config.kv_heads = 8, config.d_k = config.d_v = 2;
  config.norm = NormPosition::pre;
  config.positions = PositionEncoding::fairseq;
  config.position_offset = 1;
  config.attention_bias = true;
  config.norm_epsilon = 1e-5;
  return config;
}

// Converts ct2/, whose model.bin gets these bytes, to the file m2.
ModelReader imported(const TempFolder& folder, const std::string& bytes) {
  std::filesystem::remove(folder / "ct2/model.bin");
  folder.file("ct2/model.bin", bytes);
  ConvertOptions options;
  options.input = folder / "ct2";
  options.out = folder / "m2";
  convert_model(options, Log("test", true));
  return ModelReader(folder / "m2");
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_exported_model_comes_back) {
  for (const bool modern : {false, true}) {
    const TempFolder folder;
    ModelConfig config = small_config();
    if (modern) {
      config.norm_type = NormType::rms;
      config.positions = PositionEncoding::rotary;
      config.activation = Activation::swiglu;
      config.heads = 3, config.kv_heads = 1, config.d_k = config.d_v = 2;
      config.tie = Tie::none;
    }
    const Binary b = written(folder, config);
    const std::string bytes = bytes_of(folder / "ct2/model.bin");
    const ModelReader before(folder / "m"), after = imported(folder, bytes);
    for (const ParameterEntry& e : before.table())
      BOOST_TEST(weights(after, {e.name}) == weights(before, {e.name}), e.name);
    Json wanted = before.config().to_json();
    wanted["output_bias"] = true;  // of the tokens that are never output
    BOOST_TEST(after.config().to_json() == wanted);
    BOOST_TEST(after.vocabularies().source().bytes() == before.vocabularies().source().bytes());
    OutputDirectory out(folder / "again");
    write_ctranslate2(out, after, 9);
    out.finish();
    const Binary again(bytes_of(folder / "again/model.bin"));
    for (const auto& [name, v] : b.variables)
      BOOST_TEST(again.variables.at(name).data == v.data, name);
    for (const char* file : {"/config.json", "/shared_vocabulary.json"})
      BOOST_TEST(bytes_of(folder / ("again" + std::string(file))) ==
                 bytes_of(folder / ("ct2" + std::string(file))));
  }
}

BOOST_AUTO_TEST_CASE(older_versions_hold_the_same_model) {
  const TempFolder folder;
  const Binary b = written(folder, old_config());
  std::filesystem::remove(folder / "ct2/config.json");  // since version 6
  folder.file("ct2/config.json", "{\"layer_norm_epsilon\": 1e-05}");
  imported(folder, repacked(b, {}));
  const std::string wanted = bytes_of(folder / "m2");
  const ModelReader model(folder / "m2");
  BOOST_TEST(!model.config().source_eos);
  BOOST_TEST(model.config().positions.name == "fairseq");
  for (const Form& form : std::vector<Form>{{1, 1, 0, ""},
                                            {2, 2, 0, "TransformerBase"},
                                            {3, 3, 0, "TransformerSpec"},
                                            {4, 4, 0, "TransformerSpec"},
                                            {5, 5, 0, "TransformerSpec"}}) {
    imported(folder, repacked(b, form));
    BOOST_TEST((bytes_of(folder / "m2") == wanted), form.version);
  }
}

BOOST_AUTO_TEST_CASE(narrow_weights) {
  const TempFolder folder;
  const Binary b = written(folder, old_config());
  const ModelReader before(folder / "m");
  for (const Form& form : std::vector<Form>{{1, 1, 1, ""},
                                            {2, 2, 1, "TransformerBase"},
                                            {6, 7, 1, "TransformerSpec"},
                                            {1, 1, 2, ""},
                                            {2, 2, 2, "TransformerBase"},
                                            {6, 7, 2, "TransformerSpec"}}) {
    const ModelReader after = imported(folder, repacked(b, form));
    BOOST_TEST(after.has_int8() == (form.type == 1));
    // Truncated as in old models: the largest of a row is 126 or 127 there, and stays so.
    if (form.type == 1) {
      const std::string name = "encoder.layers.0.ffn.in_proj.weight.scale";
      std::vector<float> scales(10), theirs = b.floats("encoder/layer_0/ffn/linear_0/weight");
      std::memcpy(scales.data(), after.file().data(*after.file().find(name)), 40);
      for (size_t row = 0; row < 10; ++row) {
        float amax = 0;
        for (size_t i = 0; i < 16; ++i) amax = std::max(amax, std::abs(theirs[row * 16 + i]));
        BOOST_TEST(scales[row] == amax / 127, boost::test_tools::tolerance(1e-6f));
      }
    }
    for (const ParameterEntry& e : before.table()) {
      if (e.vector) continue;
      std::vector<float> x(size_t(e.cols)), y(x);
      for (int64_t row = 0; row < e.rows; ++row) {
        before.rows(e).read(row, 1, x.data());
        after.rows(e).read(row, 1, y.data());
        float amax = 0;
        for (const float value : x) amax = std::max(amax, std::abs(value));
        const float step = form.type == 1 ? amax / 127 : 0.001f;
        for (size_t i = 0; i < x.size(); ++i)
          if (!(std::abs(x[i] - y[i]) <= 1.001f * step))
            BOOST_ERROR(e.name + ": " + std::to_string(x[i]) + ", " + std::to_string(y[i]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_named) {
  const TempFolder folder;
  const Binary b = written(folder, old_config());
  const auto refused = [&](const std::function<void(Binary&, Form&)>& change) {
    Binary changed = b;
    Form form;
    change(changed, form);
    return message_of<DataError>([&] { imported(folder, repacked(changed, form)); });
  };
  const auto names = [&](const char* text, const std::function<void(Binary&, Form&)>& change) {
    const std::string message = refused(change);
    BOOST_TEST(message.find(text) != message.npos, text << ": " << message);
  };
  names("WhisperSpec", [](Binary&, Form& f) { f.spec = "WhisperSpec"; });
  names("version is 7", [](Binary&, Form& f) { f.version = 7; });
  names("relative_position_keys", [](Binary& x, Form&) {
    x.variables["decoder/layer_0/self_attention/relative_position_keys"] =
        x.variables.at("encoder/layer_norm/gamma");
  });
  names("decoder/alibi", [](Binary& x, Form&) {
    x.variables["decoder/alibi"] = {{}, 1, std::string(1, '\1')};
  });
  names("has no tensor decoder/layer_0/ffn/linear_1/weight",
        [](Binary& x, Form&) { x.variables.erase("decoder/layer_0/ffn/linear_1/weight"); });
  names("embeddings by 3.0", [](Binary& x, Form&) {
    for (const char* stack : {"encoder", "decoder"})
      x.variables[stack + std::string("/scale_embeddings")] = {{}, 0, float_bytes({3})};
  });
  names("activation, number 9", [](Binary& x, Form&) {
    for (const char* stack : {"encoder", "decoder"})
      x.variables[stack + std::string("/activation")] = {{}, 1, std::string(1, '\x09')};
  });
  const std::string whole = repacked(b, {});
  for (size_t size = 0; size < whole.size(); size += 97)
    BOOST_CHECK_THROW(imported(folder, whole.substr(0, size)), DataError);
}

BOOST_AUTO_TEST_CASE(a_package_of_argos_translate) {
  const TempFolder folder;
  const Binary b = written(folder, old_config());
  const std::string name = "translate-en_de-1_0/";
  const std::string pieces = bytes_of(TX_SOURCE_DIR "/tests/golden/marian/source.spm");
  Json tokens = {"<blank>", "<s>", "</s>", "<unk>", "a", "b", "c"};
  folder.file("en_de.argosmodel",
              zip_bytes({{name + "README.md", "x"},
                         {name + "metadata.json",
                          "{\"from_code\": \"en\", \"to_name\": \"German\", \"n\": 1}"},
                         {name + "sentencepiece.model", pieces},
                         {name + "model/shared_vocabulary.json", to_text(tokens)},
                         {name + "model/model.bin", repacked(b, {5, 5, 0, "TransformerSpec"})}}));
  ConvertOptions options;
  options.input = folder / "en_de.argosmodel";
  options.out = folder / "m2";
  convert_model(options, Log("test", true));
  const ModelReader model(folder / "m2");
  BOOST_TEST(model.vocabularies().source().kind() == "mapped");
  BOOST_TEST(model.vocabularies().source().token(0) == "<blank>");
  BOOST_TEST(model.provenance()["package"] == (Json{{"from_code", "en"}, {"to_name", "German"}}));
  BOOST_TEST(describe_file(model).find("package\n  from_code: en\n  to_name: German\n") !=
             std::string::npos);
  // Their row 2, </s>, is our row 3.
  std::vector<float> row(16), theirs = b.floats("encoder/embeddings_0/weight");
  for (const ParameterEntry& e : model.table())
    if (e.name == "embedding.weight") model.rows(e).read(3, 1, row.data());
  BOOST_TEST(row == std::vector<float>(theirs.begin() + 32, theirs.begin() + 48));
  folder.file("bad.argosmodel", zip_bytes({{"a/metadata.json", "{}"}}));
  options.input = folder / "bad.argosmodel";
  BOOST_TEST(message_of<DataError>([&] {
               convert_model(options, Log("test", true));
             }).find("has no folder with model/model.bin") != std::string::npos);
}
