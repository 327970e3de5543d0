// Names of the tensors of PyTorch models: patterns, parts, ambiguities, and what messages suggest.
#include "lib/convert/families/names.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

// Tensors of F32 whose element i is i; shapes by name.
std::string safetensors(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, shape] : tensors) {
    const size_t begin = data.size();
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = float(i);
      data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = to_text(header);
  return little(text.size(), 8) + text + data;
}

struct Sample {
  TempFolder folder;
  std::string path;
  Json names;
  explicit Sample(Json table)
      : path(folder.file("m.safetensors", safetensors({{"net.encoder.0.qkv_weight", {6, 2}},
                                                       {"net.encoder.0.qkv_bias", {6}},
                                                       {"net.encoder.0.fc.weight", {3, 2}},
                                                       {"net.decoder.0.fc.weight", {3, 2}},
                                                       {"net.pe", {1, 5, 2}}}))),
        names(std::move(table)) {}
  NamedTensors tensors() const { return {path, names, "TABLE"}; }
};

std::vector<float> values(const WeightRows& rows) {
  std::vector<float> out(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, out.data());
  return out;
}

void refused(const Sample& sample, const std::string& ours, const std::string& why) {
  try {
    sample.tensors().at(ours);
    BOOST_ERROR("no error: " << why);
  } catch (const DataError& e) {
    BOOST_TEST(std::string(e.what()).find(why) != std::string::npos, e.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(parts_of_rows) {
  const Sample sample(Json{{"encoder.layers.#.self_attn.k_proj.*", "encoder.#.qkv_* 3/3"}});
  NamedTensors tensors = sample.tensors();
  const std::string ours = "encoder.layers.0.self_attn.k_proj.";
  BOOST_TEST(tensors.size(ours + "weight", 0) == 2);
  const std::vector<float> matrix = {8, 9, 10, 11}, vector = {4, 5};
  BOOST_TEST(values(tensors.take(ours + "weight", {2, 2})) == matrix);
  BOOST_TEST(values(tensors.take(ours + "bias", {2})) == vector);
  BOOST_TEST(!tensors.has("encoder.layers.1.self_attn.k_proj.weight"));
  BOOST_TEST(!tensors.has("encoder.layers.0.self_attn.v_proj.weight"));
}

BOOST_AUTO_TEST_CASE(alternatives_and_tables) {
  const Sample sample(
      {{"output.*", {"generator.*", "decoder.0.fc.*"}}, {"encoder.norm.*", nullptr}});
  NamedTensors tensors = sample.tensors();
  BOOST_TEST(tensors.at("output.weight").name == "net.decoder.0.fc.weight");
  BOOST_TEST(!tensors.has("encoder.norm.weight"));
  BOOST_TEST(tensors.take_table("net.pe").rows == 5);
  BOOST_TEST(tensors.ending("fc.weight").size() == 2u);
  BOOST_TEST(tensors.ending("c.weight").empty());  // not at a dot
}

BOOST_AUTO_TEST_CASE(messages) {
  refused(Sample(Json{{"output.weight", "fc.weight"}}), "output.weight",
          "is both \"net.decoder.0.fc.weight\" and \"net.encoder.0.fc.weight\"");
  refused(Sample(Json{{"output.weight", "decoder.0.fc.weight 1/2"}}), "output.weight",
          "cannot be divided: its shape is [3, 2]");
  for (const char* part : {" 0/3", " 3/2", " 1/x", " 1", " "})
    refused(Sample(Json{{"output.weight", std::string("decoder.0.fc.weight") + part}}),
            "output.weight", "must end in a part such as 1/3");
  refused(Sample(Json{{"output.weight", {"a", 1}}}), "output.weight", "TABLE");
  refused(Sample(Json{{"encoder.layers.#.ffn.in_proj.*", "encoder.#.fc1.*"},
                      {"decoder.layers.#.ffn.in_proj.*", "decoder.#.fc.*"}}),
          "encoder.layers.0.ffn.in_proj.weight",
          "the most similar is \"net.encoder.0.fc.weight\": if that is the one, add "
          "\"encoder.layers.#.ffn.in_proj.*\": \"net.encoder.#.fc.*\" to \"names\"");
}

BOOST_AUTO_TEST_SUITE_END()
