// The gradient of a head's gate is the slope of the loss when the head is scaled.
#include "lib/attention/importance.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/checkpoint/model_file.h"
#include "tests/model_support.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

struct Sample {
  Sample()
      : backend(make_backend(Device::cpu, 1)),
        parameters(Parameters::for_training(backend, config(), DType::f32)) {
    parameters.initialise(3);
    save("model");
    for (int i = 0; i < 3; ++i) {
      Item& item = items.emplace_back();
      item.line = i + 1;
      for (int j = 0; j <= 2 * i; ++j) item.source.ids.push_back(4 + (i * 3 + j) % 9);
      item.target = {5 + i, 8, 4 + i, Vocabulary::eos};
    }
  }
  static ModelConfig config() {
    ModelConfig c;
    c.set_vocabularies(13);
    c.set_layers(2);
    c.d_model = 16, c.d_ff = 24, c.heads = 4;
    c.resolve();
    return c;
  }
  std::string save(const std::string& name) {
    std::string words = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
    for (char c = 'a'; c < 'a' + 9; ++c) words += std::string(1, c) + "\n";
    save_model(folder / name, parameters, {parse_vocabulary(words, "words"), 2}, Json::object());
    return folder / name;
  }
  // Multiplies the output of one head, before the projection, by a gate.
  void gate(const std::string& projection, int head, float by) {
    for (const ParameterEntry& e : parameters.table()) {
      if (e.name != projection) continue;
      const Matrix w = parameters.fp32_weights(e);
      for (int64_t i = 0; i < w.rows; ++i)
        for (int64_t j = head * 4; j < head * 4 + 4; ++j) w.row<float>(i)[j] *= by;
    }
  }
  Importance measure(const std::string& name, const std::vector<Item>& of) {
    DumpOptions options;
    options.translator.models = {folder / name};
    options.translator.device = Device::cpu;
    options.translator.threads = 1;
    SelectionOptions selection;
    return measure_importance(options, selection.resolve(config()), of, Log("", true));
  }
  TempFolder folder;
  Backend backend;
  Parameters parameters;
  std::vector<Item> items;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(importance)

BOOST_AUTO_TEST_CASE(gradients_are_differences) {
  Sample sample;
  const std::vector<Item> one{sample.items[1]};
  const Importance found = sample.measure("model", one);
  BOOST_TEST(found.heads.size() == 24u);
  BOOST_TEST(found.tokens == 4);
  for (const auto& [index, projection, head] :
       {std::tuple(1, "encoder.layers.0.self_attn.out_proj.weight", 1),
        std::tuple(14, "decoder.layers.1.self_attn.out_proj.weight", 2),
        std::tuple(23, "decoder.layers.1.cross_attn.out_proj.weight", 3)}) {
    const float step = 0.01f;
    double loss[2];
    for (const int side : {0, 1}) {
      const float by = side ? 1 + step : 1 - step;
      sample.gate(projection, head, by);
      sample.save("changed");
      sample.gate(projection, head, 1 / by);
      loss[side] = sample.measure("changed", one).loss;
    }
    const double wanted = std::abs(loss[1] - loss[0]) / (2 * double(step));
    BOOST_TEST(wanted > 0);
    BOOST_TEST(std::abs(found.heads[size_t(index)].gradient - wanted) < 0.01 * wanted + 1e-4);
  }
}

// The gradient of a text is the sum of the absolute gradients of its sentences.
BOOST_AUTO_TEST_CASE(sentences_add_up) {
  Sample sample;
  const Importance all = sample.measure("model", sample.items);
  std::vector<double> sums(all.heads.size());
  double loss = 0;
  for (const Item& item : sample.items) {
    const Importance one = sample.measure("model", {item});
    loss += one.loss * double(one.tokens);
    for (size_t h = 0; h < sums.size(); ++h) sums[h] += one.heads[h].gradient * double(one.tokens);
  }
  BOOST_TEST(all.tokens == 12);
  BOOST_TEST(std::abs(all.loss - loss / 12) < 1e-5);
  for (size_t h = 0; h < sums.size(); ++h)
    BOOST_TEST(std::abs(all.heads[h].gradient - sums[h] / 12) < 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
