// Means of models: exact, complete, and only of compatible models.
#include "lib/checkpoint/average.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;
using tx_test::TempFolder;

namespace {

using Words = std::shared_ptr<const Vocabulary>;

Words word_list(const std::string& last, int count) {
  std::string text = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  for (int i = 1; i < count; ++i) text += "w" + std::to_string(i) + "\n";
  return parse_vocabulary(text + last + "\n", "words");
}

constexpr int words = 600;  // with 32 columns: more weights than one chunk of the average

ModelConfig shape(const std::string& tie = "all") {
  ModelConfig c;
  c.set_vocabularies(words + Vocabulary::specials);
  c.set_layers(1);
  c.d_model = 32;
  c.d_ff = 8;
  c.heads = 4;
  c.tie.name = tie;
  c.resolve();
  return c;
}

struct Model {
  explicit Model(uint32_t seed, const ModelConfig& config = shape())
      : backend(make_backend(Device::cpu, 1)),
        parameters(Parameters::only_weights(backend, config, DType::f32)) {
    parameters.initialise(seed);
  }
  std::span<float> operator[](const ParameterEntry& e) const {
    return {static_cast<float*>(parameters.fp32_weights(e).data), size_t(e.rows * e.cols)};
  }
  std::string save(const std::string& path, const Json& provenance = Json::object()) const {
    return save_model(path, parameters, {{source, target}}, provenance);
  }
  Backend backend;
  Parameters parameters;
  Words source = word_list("z", words), target = source;
};

void average(const std::vector<std::string>& inputs, const std::string& out) {
  average_models({inputs, {}, {}, out}, Log("test", true));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_weight_is_the_mean) {
  const TempFolder folder;
  std::vector<std::unique_ptr<Model>> models;
  std::vector<std::string> files;
  for (const uint32_t seed : {1, 2, 3}) {
    models.push_back(std::make_unique<Model>(seed));
    files.push_back(folder / std::to_string(seed));
    models.back()->save(files.back());
  }
  average(files, folder / "mean");
  Model mean(9);
  ModelReader(folder / "mean").load(mean.parameters);
  for (const ParameterEntry& e : mean.parameters.table()) {
    const std::span<float> got = mean[e];
    for (size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (const auto& m : models) sum += (*m)[e][i];
      BOOST_REQUIRE_MESSAGE(got[i] == float(sum / 3), e.name << " at " << i);
    }
  }
}

// In fp32 the sum of 1e8, 1 and -1e8 would be 0, and that of the largest floats would overflow.
BOOST_AUTO_TEST_CASE(sums_are_double) {
  const TempFolder folder;
  const float max = std::numeric_limits<float>::max(), tiny = 1e-45F;
  const std::vector<std::vector<float>> rows = {
      {1e8F, max, tiny}, {1, max, tiny}, {-1e8F, max, tiny}};
  std::vector<std::string> files;
  for (const auto& row : rows) {
    const Model model(1);
    const std::span<float> first = model[model.parameters.table().front()];
    std::copy(row.begin(), row.end(), first.begin());
    files.push_back(folder / std::to_string(files.size()));
    model.save(files.back());
  }
  average(files, folder / "mean");
  Model mean(9);
  ModelReader(folder / "mean").load(mean.parameters);
  const std::span<float> first = mean[mean.parameters.table().front()];
  BOOST_TEST(first[0] == float(1.0 / 3));
  BOOST_TEST(first[1] == max);
  BOOST_TEST(first[2] == tiny);
}

BOOST_AUTO_TEST_CASE(the_mean_of_one_is_itself) {
  const TempFolder folder;
  const std::string checksum = Model(5).save(folder / "one");
  average({folder / "one"}, folder / "mean");
  BOOST_TEST(ModelReader(folder / "mean").checksum() == checksum);
}

BOOST_AUTO_TEST_CASE(both_vocabularies_are_kept) {
  const TempFolder folder;
  Model first(1, shape("target")), second(2, shape("target"));
  first.target = second.target = word_list("y", words);
  first.save(folder / "1");
  second.save(folder / "2");
  average({folder / "1", folder / "2"}, folder / "mean");
  const ModelReader mean(folder / "mean");
  BOOST_TEST(mean.vocabularies().source().bytes() == first.source->bytes());
  BOOST_TEST(mean.vocabularies().target().bytes() == first.target->bytes());
  BOOST_TEST(mean.file().find("encoder.embedding.weight"));
}

BOOST_AUTO_TEST_CASE(provenance_lists_the_inputs) {
  const TempFolder folder;
  const std::string a = folder / "a", b = folder / "b";
  const std::string hash = Model(1).save(a, {{"command", "train"},
                                             {"step", 10},
                                             {"seed", 3},
                                             {"tokens", 5},
                                             {"validation_loss", 2.5},
                                             {"validation_accuracy", 0.5}});
  Model(2).save(b, {{"command", "train"},
                    {"step", 20},
                    {"seed", 4},
                    {"tokens", 5},
                    {"validation_accuracy", 0.5}});
  average({a, b}, folder / "mean");
  const Json p = ModelReader(folder / "mean").provenance();
  BOOST_TEST(p.at("command") == "tx-avg " + a + " " + b);
  BOOST_TEST(p.at("inputs").size() == 2U);
  BOOST_TEST(to_text(p.at("inputs")[0]) ==
             to_text(Json{{"file", a}, {"xxh3", hash}, {"step", 10}, {"validation_loss", 2.5}}));
  BOOST_TEST(p.at("inputs")[1].at("step") == 20);
  BOOST_TEST(!p.at("inputs")[1].contains("validation_loss"));
  BOOST_TEST(to_text(p.at("common")) == R"({"command":"train"})");  // what both runs share
}

BOOST_AUTO_TEST_CASE(values_that_are_not_finite_are_refused) {
  const TempFolder folder;
  Model(1).save(folder / "good");
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    const Model model(2);
    model[model.parameters.table()[1]].back() = bad;
    model.save(folder / "bad");
    const std::string message = message_of<DataError>([&] {
      average({folder / "good", folder / "bad"}, folder / "out");
    });
    BOOST_TEST(
        message.starts_with((folder / "bad") + ": the tensor " + model.parameters.table()[1].name),
        message);
    BOOST_TEST(!file_exists(folder / "out"));
  }
  BOOST_TEST(folder.entries() == 2);  // no temporary file is left
}

BOOST_AUTO_TEST_CASE(models_that_differ_are_named) {
  const TempFolder folder;
  const std::string a = folder / "a", b = folder / "b";
  Model(1).save(a);
  const auto refusal = [&] {
    return message_of<DataError>([&] { average({a, b}, folder / "o"); });
  };
  const std::string begin = b + " cannot be averaged with " + a + ": ";

  ModelConfig other = shape();
  other.heads = other.kv_heads = 8;
  other.d_k = other.d_v = 4;  // the tensors have the same shapes
  Model(1, other).save(b);
  BOOST_TEST(refusal() == begin + "its heads is 8 instead of 4");

  other = shape();
  other.d_ff = 9;
  Model(1, other).save(b);
  BOOST_TEST(refusal() == begin +
                              "its d_ff is 9 instead of 8; its tensor "
                              "encoder.layers.0.ffn.in_proj.weight is F32 [9, 32] instead of "
                              "F32 [8, 32]");

  Model words_differ(1);
  words_differ.target = word_list("other", words);
  words_differ.save(b);
  BOOST_TEST(refusal() == begin + "its target vocabulary differs (604 and 604 entries)");
}

BOOST_AUTO_TEST_CASE(the_best_are_those_of_lowest_loss) {
  const TempFolder folder;
  const std::vector<std::pair<int, Json>> losses = {
      {10, 3.5}, {20, 1.5}, {30, "1.0"}, {40, 2.5}, {50, nullptr}, {60, 2.5}, {0, 0.5}};
  for (const auto& [step, loss] : losses)
    Model(1).save(folder / ("model-" + std::to_string(step) + ".safetensors"),
                  {{"step", step}, {"validation_loss", loss}});
  const Log log("tx-avg");
  const auto best = [&](int n) { return models_to_average({{folder.path()}, {}, n, "out"}, log); };
  const auto name = [&](int step) {
    return folder / ("model-" + std::to_string(step) + ".safetensors");
  };
  BOOST_TEST(best(1) == std::vector{name(20)});
  BOOST_TEST(best(2) == (std::vector{name(20), name(40)}));  // a tie goes to the earlier
  BOOST_TEST(best(4) == (std::vector{name(10), name(20), name(40), name(60)}));
  BOOST_TEST(message_of<DataError>([&] { best(5); }) ==
             "--best 5: " + folder.path() +
                 " holds only 4 models with a validation loss; use --best 4");
  BOOST_TEST(models_to_average({{folder.path()}, 3, {}, "out"}, log) ==
             (std::vector{name(40), name(50), name(60)}));
}
