#include "lib/checkpoint/model_file.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/checkpoint/transfer.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

std::string reader_message(const std::string& path) {
  const std::string text = message_of<DataError>([&] { ModelReader reader(path); });
  return text.starts_with(path) ? text.substr(path.size()) : "not the file's name: " + text;
}

struct Saved {
  SampleModel model;
  TempFolder folder;
  std::string path = folder / "model.safetensors";
  std::string checksum = model.save(path);
  std::string bytes = bytes_of(path);

  // The error message for the file after one change in its header.
  std::string changed(const std::string& from, const std::string& to) const {
    return reader_message(folder.file("changed", with_header(bytes, from, to)));
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_saved_model_is_read_back_bit_for_bit) {
  const Saved saved;
  SampleModel other(2);
  const ModelReader reader(saved.path);
  BOOST_TEST(reader.path() == saved.path);
  BOOST_TEST(reader.checksum() == saved.checksum);
  BOOST_TEST(to_text(reader.config().to_json()) == to_text(small_config().to_json()));
  BOOST_TEST(reader.provenance().at("step") == 10);
  const Vocabularies& words = reader.vocabularies();
  BOOST_TEST(words.source().bytes() == saved.model.words->bytes());
  BOOST_TEST(&words.source() == &words.target());
  const std::string before = block_bytes(saved.model.parameters.fp32_weights());
  BOOST_TEST(block_bytes(other.parameters.fp32_weights()) != before);
  reader.load(other.parameters);
  BOOST_TEST(block_bytes(other.parameters.fp32_weights()) == before);
  BOOST_TEST(other.save(saved.folder / "again") == saved.checksum);
  BOOST_TEST(bytes_of(saved.folder / "again") == saved.bytes);
}

BOOST_AUTO_TEST_CASE(special_values_keep_their_bits) {
  Saved saved;
  const uint32_t bits[] = {0x7FC00001, 0xFF800000, 0x80000000, 0x00000001, 0x7F7FFFFF};
  std::memcpy(saved.model.parameters.fp32_weights().data, bits, sizeof bits);
  saved.model.save(saved.path);
  SampleModel other(2);
  ModelReader(saved.path).load(other.parameters);
  BOOST_TEST(std::memcmp(other.parameters.fp32_weights().data, bits, sizeof bits) == 0);
}

BOOST_AUTO_TEST_CASE(padding_stays_out_of_the_file_and_becomes_zero) {
  const Saved saved;
  SampleModel other(2);
  const ParameterEntry& e = other.parameters.table()[0];
  BOOST_REQUIRE(e.name == "embedding.weight" && e.rows == 7 && e.padded_rows == 64);
  float* values = other.parameters.fp32_weights(e).row<float>(0);
  values[e.rows * e.cols] = 5;
  values[e.padded_rows * e.cols - 1] = 5;
  const ModelReader reader(saved.path);
  BOOST_TEST(shape_text(reader.file().find(e.name)->shape) == "[7, 6]");
  reader.load(other.parameters);
  for (int64_t i = e.rows * e.cols; i < e.padded_rows * e.cols; ++i)
    BOOST_REQUIRE_EQUAL(values[i], 0.0f);
}

BOOST_AUTO_TEST_CASE(the_bf16_copy_and_doubles_follow_the_file) {
  const Saved saved;
  SampleModel half(2, DType::bf16), twice(2, DType::f64);
  const SampleModel fresh(1, DType::bf16);
  const ModelReader reader(saved.path);
  reader.load(half.parameters);
  reader.load(twice.parameters);
  BOOST_TEST(block_bytes(half.parameters.bf16_weights()) ==
             block_bytes(fresh.parameters.bf16_weights()));
  const Matrix single = saved.model.parameters.fp32_weights(),
               all = twice.parameters.fp32_weights();
  for (int64_t i = 0; i < single.cols; ++i)
    BOOST_REQUIRE_EQUAL(double(single.row<float>(0)[i]), all.row<double>(0)[i]);
  BOOST_TEST(twice.save(saved.folder / "twice") == saved.checksum);  // float values
}

BOOST_AUTO_TEST_CASE(bf16_files_are_rounded_to_nearest_even) {
  const double values[] = {1, 1.00390625, 1.01171875, 1.005, -1.00390625, 3.4e38, 1e-40, 0.1};
  const double rounded[] = {1, 1, 1.015625, 1.0078125, -1, INFINITY, 9.9e-41, 0.10009765625};
  char bytes[16];
  double back[8];
  from_doubles(values, 8, "BF16", bytes);
  to_doubles(bytes, "BF16", 8, back);
  for (int i = 0; i < 8; ++i) {
    if (i == 6)
      BOOST_TEST(std::abs(back[i] - rounded[i]) < 1e-41);
    else
      BOOST_TEST(back[i] == rounded[i]);
  }
  const double nan = std::bit_cast<float>(0x7F800001u);
  from_doubles(&nan, 1, "BF16", bytes);
  to_doubles(bytes, "BF16", 1, back);
  BOOST_TEST(std::isnan(back[0]));

  const Saved saved;
  save_model(saved.folder / "half", saved.model.parameters, {saved.model.words, 2}, Json::object(),
             DType::bf16);
  SampleModel other(2);
  const ModelReader reader(saved.folder / "half");
  reader.load(other.parameters);
  BOOST_TEST(reader.file().tensors()[0].dtype == "BF16");
  const SampleModel copied(1, DType::bf16);
  const ParameterEntry& e = other.parameters.table()[1];
  const Matrix copy = copied.parameters.entry_of(copied.parameters.bf16_weights(), e);
  const Matrix loaded = other.parameters.fp32_weights(e);
  for (int64_t i = 0; i < e.rows * e.cols; ++i)
    BOOST_REQUIRE_EQUAL(uint32_t(copy.row<uint16_t>(0)[i]) << 16,
                        std::bit_cast<uint32_t>(loaded.row<float>(0)[i]));
}

BOOST_AUTO_TEST_CASE(two_vocabularies_are_kept_apart) {
  ModelConfig config = small_config();
  config.tie = Tie::target;
  config.sides.front().vocabulary = 6;
  const SampleModel model(1, DType::f32, config);
  const TempFolder folder;
  save_model(folder / "two", model.parameters, {{word_list("x\ny\n"), model.words}},
             Json::object());
  const ModelReader reader(folder / "two");
  BOOST_TEST(reader.vocabularies().source().token(4) == "x");
  BOOST_TEST(reader.vocabularies().target().token(4) == "a");
  BOOST_TEST(reader.file().find("vocabulary") == nullptr);
  save_model(folder / "equal", SampleModel().parameters,
             {{word_list("a\nb\nc\n"), word_list("a\nb\nc\n")}}, Json::object());
  const ModelReader equal(folder / "equal");
  BOOST_TEST(&equal.vocabularies().source() == &equal.vocabularies().target());
  BOOST_TEST(equal.file().find("vocabulary") != nullptr);
}

BOOST_AUTO_TEST_CASE(models_of_one_stack_are_read_back) {
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder}) {
    ModelConfig config = small_config();
    config.set_kind(kind);
    const SampleModel model(1, DType::f32, config);
    SampleModel other(2, DType::f32, config);
    const TempFolder folder;
    model.save(folder / "one");
    const ModelReader reader(folder / "one");
    BOOST_TEST(reader.config().kind.name == config.kind.name);
    BOOST_TEST(reader.vocabularies().size() == 1u);
    BOOST_TEST(reader.vocabularies().target().bytes() == model.words->bytes());
    reader.load(other.parameters);
    BOOST_TEST(block_bytes(other.parameters.fp32_weights()) ==
               block_bytes(model.parameters.fp32_weights()));
    BOOST_TEST(other.save(folder / "again") == reader.checksum());
  }
}

BOOST_AUTO_TEST_CASE(other_files_are_refused_by_what_they_are) {
  const Saved saved;
  const std::string expected = "; expected a model that tx-train or tx-avg wrote";
  BOOST_TEST(reader_message(saved.folder.file("empty", "")) == " is empty" + expected);
  BOOST_TEST(contains(reader_message(saved.folder.file("text", saved.model.words->bytes())),
                      "is not a safetensors file (it does not begin with a header)" + expected));
  write_safetensors(saved.folder / "foreign", {byte_tensor("x", "abc")}, {});
  BOOST_TEST(reader_message(saved.folder / "foreign") ==
             " is not a tx model (its metadata has no \"format\")" + expected);
  BOOST_TEST(saved.changed(R"("format":"tx")", R"("format":"pt")") ==
             " is not a tx model (its format is \"pt\")" + expected);
  BOOST_TEST(contains(saved.changed(R"("format":"tx")", R"("format":"tx-state")"),
                      " is a training state, not a model; give the model-STEP.safetensors"));
  BOOST_TEST(saved.changed(R"("format_version":"1")", R"("format_version":"2")") ==
             ": format version 2 is newer than this tx reads (1): use a newer tx");
  for (const char* version : {"", "0", "x", "-1", "1.5", "99999999999999999999"})
    BOOST_TEST(
        contains(saved.changed(R"(_version":"1")", std::string("_version\":\"") + version + '"'),
                 "has no format version"));
  BOOST_TEST(contains(saved.changed(R"("kind":"encoder-decoder")", R"("kind":"mixture")"),
                      ": models of kind \"mixture\" are not supported by tx "));
  BOOST_TEST(
      contains(saved.changed(R"("kind":"encoder-decoder")", R"("kind":"decoder")"),
               "its kind is \"decoder\" in the metadata but \"encoder-decoder\" in the configuration"));
  BOOST_TEST(contains(saved.changed(R"(\"kind\":\"encoder-decoder\")", R"(\"kind\":\"mixture\")"),
                      ": unknown kind \"mixture\" in the model's configuration"));
}

BOOST_AUTO_TEST_CASE(a_file_must_hold_what_its_configuration_says) {
  const Saved saved;
  BOOST_TEST(contains(saved.changed(R"(\"d_ff\":10)", R"(\"d_ff\":11)"),
                      ": encoder.layers.0.ffn.in_proj.weight has the shape [10, 6], but its "
                      "configuration needs [11, 6]"));
  BOOST_TEST(contains(saved.changed(R"(\"norm\":\"post\")", R"(\"norm\":\"pre\")"),
                      ": the tensor encoder.norm.weight is missing"));
  BOOST_TEST(contains(saved.changed(R"(\"encoder_layers\":1)", R"(\"encoder_layers\":2)"),
                      "encoder.layers.1.self_attn.q_proj.weight is missing"));
  BOOST_TEST(contains(saved.changed(R"("decoder.layers.0.ffn_norm.bias":{)", R"("x":{)"),
                      "decoder.layers.0.ffn_norm.bias is missing"));
  BOOST_TEST(contains(saved.changed(R"(\"d_model\":6)", R"(\"d_model\":7)"), "even"));
  for (const char* heads : {"0", "-1", "2.0", "4294967298", "1e300", "18446744073709551615"})
    BOOST_TEST(
        contains(saved.changed(R"(\"heads\":2)", R"(\"heads\":)" + std::string(heads)),
                 "configuration is damaged: heads is not a whole number from 1 to 16,777,216"));
  // A value of the wrong type is reported with its key.
  BOOST_TEST(contains(saved.changed(R"(\"kind\":\"encoder-decoder\")", R"(\"kind\":7)"),
                      "configuration is damaged: kind is 7, not a string"));
  BOOST_TEST(contains(saved.changed(R"(\"norm_epsilon\":1e-06)", R"(\"norm_epsilon\":[])"),
                      "configuration is damaged: norm_epsilon is [], not a number"));
  BOOST_TEST(contains(saved.changed(R"(\"attention_bias\":false)", R"(\"attention_bias\":\"no\")"),
                      "configuration is damaged: attention_bias is \"no\", not true or false"));
  // A missing field has its default, which does not fit these weights.
  BOOST_TEST(contains(saved.changed(R"(\"heads\":2,)", ""), "but its configuration needs"));
  const std::string fewer = with_header(saved.bytes, R"(\"max_positions\":1024,)", "");
  BOOST_TEST(ModelReader(saved.folder.file("fewer", fewer)).config().max_positions == 1024);
  BOOST_TEST(contains(saved.changed(R"(\"heads\":2,)", R"(\"heads\":2,\"depth\":2,)"),
                      "has the key \"depth\", which tx "));
  BOOST_TEST(contains(saved.changed(R"("config":"{)", R"("config":"[)"),
                      ": configuration: not valid JSON"));
  BOOST_TEST(contains(saved.changed(R"({\"step\":10})", "[]"), "provenance is not a JSON object"));
  BOOST_TEST(
      contains(saved.changed(R"("vocabulary")", R"("vocabularx")"), "tensors, but its conf"));
}

BOOST_AUTO_TEST_CASE(huge_sizes_in_the_configuration_take_no_memory) {
  const Saved saved;
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"(\"encoder_layers\":1)", R"(\"encoder_layers\":16777216)"},
           {R"(\"d_ff\":10)", R"(\"d_ff\":16777216)"},
           {R"(\"heads\":2,\"d_k\":3)", R"(\"heads\":16777216,\"d_k\":16777216)"},
           {R"(\"d_v\":3)", R"(\"d_v\":16777216)"},
           {R"(\"d_model\":6)", R"(\"d_model\":16777216)"},
           {R"(\"source_vocabulary\":7,\"target_vocabulary\":7)",
            R"(\"source_vocabulary\":16777216,\"target_vocabulary\":16777216)"},
           {R"(\"positions\":\"sinusoid\",\"max_positions\":1024)",
            R"(\"positions\":\"learned\",\"max_positions\":16777216)"}})
    BOOST_TEST(contains(saved.changed(from, to), "needs more weights than the file holds"), to);
}

BOOST_AUTO_TEST_CASE(vocabularies_are_checked) {
  const Saved saved;
  const SampleModel& model = saved.model;
  const auto message = [&](const std::string& words) {
    save_model(saved.folder / "x", model.parameters, {word_list(words), 2}, Json::object());
    return reader_message(saved.folder / "x");
  };
  BOOST_TEST(
      contains(message("a\nb\n"), ": its vocabulary has 6 tokens, but its configuration says 7"));
  const std::string damaged = replaced(saved.bytes, "tx-words 1", "tx-words 9");
  BOOST_TEST(contains(reader_message(saved.folder.file("x", damaged)), " is damaged: its data"));
  // Without a checksum (a file of another program) the vocabulary is still checked.
  const std::string bare = with_header(damaged, R"("xxh3")", R"("xxh4")");
  BOOST_TEST(contains(reader_message(saved.folder.file("x", bare)), ", its vocabulary"));
}

BOOST_AUTO_TEST_CASE(no_cut_or_changed_byte_gives_a_wrong_model) {
  const Saved saved;
  const std::string& good = saved.bytes;
  const size_t data = 8 + header_of(good).size();
  for (size_t size = 0; size < good.size(); size += size < 100 ? 1 : 97)
    BOOST_TEST(!reader_message(saved.folder.file("x", good.substr(0, size))).starts_with("not"));
  for (size_t i = 0; i < good.size(); i += i < data ? 1 : 61) {
    std::string bytes = good;
    bytes[i] = char(bytes[i] ^ 0x11);
    const std::string path = saved.folder.file("x", bytes);
    try {
      const ModelReader reader(path);
      // A change that the checksum of the data cannot detect leaves the weights intact.
      BOOST_REQUIRE(i < data);
      SampleModel other(2);
      if (to_text(reader.config().to_json()) != to_text(small_config().to_json())) continue;
      reader.load(other.parameters);
      BOOST_TEST(block_bytes(other.parameters.fp32_weights()) ==
                 block_bytes(saved.model.parameters.fp32_weights()));
    } catch (const DataError& e) {
      BOOST_TEST(std::string(e.what()).starts_with(path));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_directory_names_its_best_else_last_model) {
  const Saved saved;
  const TempFolder run;
  BOOST_TEST(resolve_model(saved.path) == saved.path);
  BOOST_TEST(resolve_model(run / "missing") == run / "missing");
  BOOST_TEST(message_of<DataError>([&] { resolve_model(run.path()); }) ==
             run.path() + " is a directory without best.safetensors or last.safetensors (it is " +
                 "empty); give a model file, or the directory of a run that has saved a model");
  run.file("model-1.safetensors", "");
  run.file("config.json", "");
  BOOST_TEST(contains(message_of<DataError>([&] { ModelReader reader(run.path()); }),
                      "(it holds config.json, model-1.safetensors)"));
  saved.model.save(run / "last.safetensors");
  BOOST_TEST(ModelReader(run.path()).path() == run / "last.safetensors");
  std::filesystem::create_symlink("none", run / "best.safetensors");  // its model was removed
  BOOST_TEST(resolve_model(run.path()) == run / "last.safetensors");
  std::filesystem::remove(run / "best.safetensors");
  saved.model.save(run / "best.safetensors");
  BOOST_TEST(ModelReader(run.path()).path() == run / "best.safetensors");
}

BOOST_AUTO_TEST_CASE(a_model_of_another_shape_is_not_loaded) {
  const Saved saved;
  ModelConfig config = small_config();
  config.d_ff = 12;
  SampleModel other(1, DType::f32, config);
  const ModelReader reader(saved.path);
  BOOST_CHECK_THROW(reader.load(other.parameters), Bug);
}
