// Every kind of model on the GPU against the CPU: training steps, then outputs of the model.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>

#include "lib/checkpoint/model_file.h"
#include "lib/data/packing.h"
#include "lib/ops/ops.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/step/step.h"
#include "lib/tx.h"
#include "tests/model_support.h"
#include "tests/support.h"

using namespace tx;

namespace {

// Lines of consecutively numbered words.
struct Text {
  tx_test::TempFolder folder;
  Vocabularies::Pointer words;
  std::unique_ptr<IdCache> cache;

  explicit Text(bool denoise) {
    std::string list = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n", text;
    for (int i = 0; i < 30; ++i) list += "w" + std::to_string(i) + "\n";
    for (int i = 0; denoise && i < 4; ++i) list += sentinel_text(i) + "\n";
    for (int line = 0; line < 30; ++line) {
      for (int k = 0; k < 4 + line % 9; ++k) text += "w" + std::to_string((line + k) % 30) + " ";
      text += "\n";
    }
    words = parse_vocabulary(list, "words");
    CacheOptions options;
    options.context = 32;
    build_cache(folder / "cache", {{{folder.file("text", text)}, words.get()}}, options);
    cache = std::make_unique<IdCache>(folder / "cache");
  }
};

struct Task {
  ModelKind kind;
  bool denoise;
  Text text;
  PackerOptions packing;

  Task(ModelKind of, bool spans) : kind(of), denoise(spans), text(spans) {
    packing.batch_tokens = 48;
    packing.masked = kind == ModelKind::encoder;
    if (denoise) packing.sentinels = sentinels_of(*text.words);
  }

  ModelConfig config() const {
    ModelConfig c;
    c.set_kind(kind);
    c.set_vocabularies(text.words->size());
    c.set_layers(1);
    c.d_model = 32;
    c.d_ff = 32;
    c.heads = 2;
    c.norm = NormPosition::pre;
    c.resolve();
    return c;
  }

  // Trains a few steps on a device, saves the model under the device's name, returns the losses.
  std::vector<double> train(const std::string& device, DType dtype) const {
    Backend backend = make_backend(value_of_name<Device>(device), 1);
    Parameters parameters = Parameters::for_training(backend, config(), dtype);
    parameters.initialise(1);
    const Transformer model(backend, parameters, 80);
    TrainOptions options;
    options.dropout = 0.1;
    options.label_smoothing = options.clip_norm = 0;
    Packer packer(*text.cache, packing);
    Stepper stepper(backend, parameters, model, options);
    stepper.reserve(Stepper::plan(backend, parameters, model, options, packer.capacities()));
    std::vector<double> losses;
    std::vector<Batch> batches(1);
    for (int64_t step = 1; step <= 6 && packer.next(batches.front()); ++step) {
      const StepRecord record = stepper.step(batches, step, 0.02, 0);
      losses.push_back(record.loss * record.loss_scale);
    }
    const size_t sides = kind == ModelKind::encoder_decoder ? 2 : 1;
    save_model(text.folder / device, parameters, {text.words, sides}, Json::object());
    return losses;
  }

  // Loads the model that the CPU trained on a device.
  Model on_device(const std::string& device) const {
    TranslateOptions options;
    options.device = device;
    options.precision = "fp32";
    options.threads = 1;
    if (kind == ModelKind::decoder) options.max_new = 6;
    if (kind == ModelKind::encoder_decoder) options.max_extra = 2;
    return Model(text.folder / "cpu", options);
  }
};

bool near(double a, double b, double relative) {
  return std::isfinite(a) && std::abs(a - b) <= relative * std::max(std::abs(b), 1e-2);
}

// Compares the losses of both devices; the saved model of the CPU remains for later comparisons.
void compare_training(const Task& task) {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const std::vector<double> wanted = task.train("cpu", dtype);
    const std::vector<double> found = task.train("cuda", dtype);
    BOOST_REQUIRE(found.size() == wanted.size());
    BOOST_TEST(found.size() >= 4u);
    for (size_t i = 0; i < found.size(); ++i)
      BOOST_TEST(near(found[i], wanted[i], dtype == DType::f32 ? 1e-3 : 3e-2),
                 "step " << i + 1 << ": " << found[i] << " instead of " << wanted[i]);
    BOOST_TEST(wanted.back() != wanted.front());
  }
}

void compare_outputs(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& wanted) {
  BOOST_REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST(found[i].text == wanted[i].text);
    BOOST_TEST(near(found[i].log_p, wanted[i].log_p, 1e-3));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kinds_gpu)

BOOST_AUTO_TEST_CASE(a_decoder_learns_and_continues) {
  const Task task(ModelKind::decoder, false);
  compare_training(task);
  const Model gpu = task.on_device("cuda"), cpu = task.on_device("cpu");
  for (const std::string prompt : {"w3 w4 w5", "w9"})
    compare_outputs(gpu.continued(prompt), cpu.continued(prompt));
  BOOST_TEST(near(gpu.score("w3", "w4 w5").log_p, cpu.score("w3", "w4 w5").log_p, 1e-3));
}

BOOST_AUTO_TEST_CASE(an_encoder_learns_and_embeds) {
  const Task task(ModelKind::encoder, false);
  compare_training(task);
  const std::vector<std::string> lines = {"w3 w4 w5", "", "w9"};
  for (const Pooling pooling : {Pooling::mean, Pooling::first}) {
    const auto found = task.on_device("cuda").embed(lines, pooling);
    const auto wanted = task.on_device("cpu").embed(lines, pooling);
    for (size_t i = 0; i < lines.size(); ++i)
      for (size_t k = 0; k < wanted[i].size(); ++k)
        BOOST_TEST(std::abs(found[i][k] - wanted[i][k]) < 1e-3);
  }
}

BOOST_AUTO_TEST_CASE(an_encoder_decoder_learns_to_restore_and_does) {
  const Task task(ModelKind::encoder_decoder, true);
  compare_training(task);
  const Model gpu = task.on_device("cuda"), cpu = task.on_device("cpu");
  for (const std::string line : {"w3 <extra_id_0> w5 w6", "w9 w10 <extra_id_0>"})
    compare_outputs(gpu.hypotheses(line), cpu.hypotheses(line));
  compare_outputs(gpu.complete("w3 <extra_id_0> w5", "<extra_id_0>"),
                  cpu.complete("w3 <extra_id_0> w5", "<extra_id_0>"));
}

// A product beside others keeps its operands until it ends; without branches they are freed at
// once.
BOOST_AUTO_TEST_CASE(only_branches_keep_operands) {
  const char* const before = std::getenv("TX_CUDA_TRY");
  const std::string words = before ? before : "";
  const auto peak = [](const char* tried) {
    ::setenv("TX_CUDA_TRY", tried, 1);
    Backend backend = make_backend(Device::cuda, 1);
    int written[2] = {};
    const auto parameter = [&](int i, int64_t outputs, int64_t inputs) {
      Parameter p;
      p.value = matrix(nullptr, DType::bf16, outputs, inputs);
      p.gradient = matrix(nullptr, DType::f32, outputs, inputs);
      p.written = &written[i];
      return p;
    };
    Arena counting;
    Context context(backend, counting, DType::bf16);
    context.recording = true;
    Tensor x = context.make(1000, 64);
    x = linear(context, linear(context, x, parameter(0, 512, 64)), parameter(1, 64, 512));
    bool add = false;
    context.gradient(x, add);
    x = Tensor();
    context.backward();
    return counting.peak();
  };
  const size_t without = peak(""), with = peak("branches");
  ::setenv("TX_CUDA_TRY", words.c_str(), 1);
  BOOST_TEST(without < with);
}

BOOST_AUTO_TEST_SUITE_END()
