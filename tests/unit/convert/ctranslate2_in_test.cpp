// Models of CTranslate2 become models of tx: exported ones, and these in older versions and
// narrower types.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <functional>

#include "lib/convert/convert.h"
#include "tests/unit/convert/ctranslate2_binary.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

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
  // A vocabulary as lines, which may end in CR LF.
  const Json tokens = Json::parse(bytes_of(folder / "ct2/shared_vocabulary.json"));
  std::filesystem::remove(folder / "ct2/shared_vocabulary.json");
  for (const std::string end : {"\n", "\r\n"}) {
    std::string lines;
    for (const Json& token : tokens) lines += token.get<std::string>() + end;
    folder.file("ct2/shared_vocabulary.txt", lines);
    imported(folder, repacked(b, {}));
    BOOST_TEST((bytes_of(folder / "m2") == wanted), end.size());
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
