// The model against PyTorch: model.json is made by make_model.py. In f64 every number of the file;
// f32 and bf16 then against our own f64, element by element, and the ten training losses.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "tests/model_support.h"

using namespace tx_test;
using tx::DType;
using tx::Json;

namespace {

const Json& golden() {
  static const Json all =
      tx::parse_json(tx::read_file(TX_SOURCE_DIR "/tests/golden/model.json"), "model.json");
  return all;
}

std::vector<Sentence> sentences_of(const Json& batch) {
  std::vector<Sentence> out;
  for (const Json& s : batch)
    out.push_back({s["pair"].get<uint32_t>(), s["source"].get<std::vector<int32_t>>(),
                   s["target"].get<std::vector<int32_t>>(),
                   s["labels"].get<std::vector<int32_t>>()});
  return out;
}

tx::ModelConfig config_of(const Json& c) {
  tx::ModelConfig m;
  m.source_vocabulary = c["source_vocabulary"];
  m.target_vocabulary = c["target_vocabulary"];
  m.encoder_layers = c["encoder_layers"];
  m.decoder_layers = c["decoder_layers"];
  m.d_model = c["d_model"];
  m.d_ff = c["d_ff"];
  m.heads = c["heads"];
  m.d_k = c["d_k"];
  m.d_v = c["d_v"];
  m.activation = c["activation"];
  m.norm = c["norm"];
  m.positions = c["positions"];
  m.max_positions = c["max_positions"];
  m.tie = c["tie"];
  m.attention_bias = c["attention_bias"];
  m.resolve();
  return m;
}

tx::Regularisation masks_of(const Json& c, const tx::StepRecord* record) {
  return {c["dropout"], c["attention_dropout"], c["relu_dropout"], c["seed"], record};
}

// One model of the file, built in one dtype.
class Golden {
 public:
  Golden(const Json& entry, DType dtype)
      : entry_(entry),
        c_(entry["config"]),
        dtype_(dtype),
        backend_(tx::make_backend("cpu", 2)),
        parameters_(backend_, config_of(c_), dtype, true),
        model_(backend_, parameters_, 70),
        record_(backend_) {
    fill_weights(backend_, parameters_);
  }

  double loss = 0, nll = 0;
  std::map<std::string, std::vector<double>> tensors;  // "logits" and the gradients by name

  // Fills the members above from the file's batch.
  void run() {
    const PackedBatch batch(backend_, sentences_of(entry_["batch"]));
    tx::StepRecord r;
    r.step = 1;
    r.loss_scale = 1.0 / double(batch.labels);
    BOOST_TEST(batch.labels == entry_["labels"].get<int64_t>());
    record_.set(r);
    logits(batch);
    gradients({&batch});
    r = record_.get();
    BOOST_TEST(r.labels == batch.labels);
    loss = r.loss * r.loss_scale;
    nll = r.nll * r.loss_scale;
    for (const tx::ParameterEntry& e : parameters_.table())
      tensors[e.name] = to_host(backend_, parameters_.entry_of(parameters_.gradients(), e));
  }

  // Losses of the ten steps; gradient norms go to `norms`.
  std::vector<double> train(std::vector<double>& norms) {
    std::vector<double> losses;
    for (const Json& micro_batches : entry_["steps"]) {
      const tx::StepRecord r = training_step(micro_batches, int64_t(losses.size()) + 1);
      losses.push_back(r.loss * r.loss_scale);
      norms.push_back(r.gradient_norm);
    }
    return losses;
  }

 private:
  // Gradients of one or more micro-batches. Dry runs come first: they mark gradients as written.
  void gradients(const std::vector<const PackedBatch*>& batches) {
    const auto f = [&](tx::Context& context, const PackedBatch& batch) {
      forward_backward(context, model_, batch, masks_of(c_, record_.data), c_["label_smoothing"],
                       record_.data);
    };
    size_t bytes = 0;
    for (const PackedBatch* b : batches)
      bytes = std::max(bytes, peak_of(backend_, dtype_, [&](auto& context) { f(context, *b); }));
    tx::Arena arena(backend_, bytes);
    parameters_.begin_step();
    for (const PackedBatch* b : batches) {
      tx::Context context(backend_, arena, dtype_);
      f(context, *b);
    }
    parameters_.finish_gradients();
  }

  // A forward pass of its own: the loss overwrites its logits.
  void logits(const PackedBatch& batch) {
    const auto f = [&](tx::Context& context) {
      return forward(context, model_, batch, masks_of(c_, record_.data));
    };
    tx::Arena arena(backend_, peak_of(backend_, dtype_, f));
    tx::Context context(backend_, arena, dtype_);
    const tx::Tensor padded = f(context);
    const std::vector<double> all = to_host(backend_, padded.value());
    std::vector<double>& to = tensors["logits"];
    for (int64_t i = 0; i < padded.rows(); ++i)
      to.insert(to.end(), all.begin() + i * padded.cols(),
                all.begin() + i * padded.cols() + model_.config().target_vocabulary);
  }

  tx::StepRecord training_step(const Json& micro_batches, int64_t number) {
    std::vector<std::unique_ptr<PackedBatch>> batches;
    tx::StepRecord r;
    int64_t labels = 0;
    for (const Json& b : micro_batches) {
      batches.push_back(std::make_unique<PackedBatch>(backend_, sentences_of(b)));
      labels += batches.back()->labels;
    }
    const double n = double(number), warmup = c_["warmup"];
    r.step = number;
    r.rate = std::min(1 / std::sqrt(n), n * std::pow(warmup, -1.5)) /
             std::sqrt(double(model_.config().d_model));
    r.loss_scale = 1.0 / double(labels);
    r.clip_norm = c_["clip_norm"];
    record_.set(r);
    gradients({batches[0].get(), batches[1].get()});
    tx::AdamSettings settings;
    settings.weight_decay = c_["weight_decay"];
    tx::Parameters& p = parameters_;
    on(backend_, [&](auto& k) {
      k.gradient_norm(p.gradients(), record_.data);
      k.adam(p.master(), p.gradients(), p.moment1(), p.moment2(), p.copy(), p.decayed(), settings,
             record_.data);
    });
    return record_.get();
  }

  const Json& entry_;
  const Json& c_;
  DType dtype_;
  tx::Backend backend_;
  tx::Parameters parameters_;
  tx::Transformer model_;
  Record record_;
};

double largest(const std::vector<double>& x) {
  double most = 0;
  for (double v : x) most = std::max(most, std::abs(v));
  return most;
}

// Largest difference over largest magnitude.
double difference(const std::vector<double>& x, const std::vector<double>& expected) {
  BOOST_REQUIRE(x.size() == expected.size());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return INFINITY;
    most = std::max(most, std::abs(x[i] - expected[i]));
  }
  return most == 0 ? 0 : most / largest(expected);
}

double cosine(const std::vector<double>& x, const std::vector<double>& y) {
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx == yy ? xy / xx : xy / std::sqrt(xx * yy);
}

// The difference between a tensor and its summary in the file, relative to the largest magnitude.
// Probes are in [-1, 1): an error e in one element moves each by e times about one half.
double difference(const std::string& name, const std::vector<double>& x, const Json& summary) {
  BOOST_REQUIRE(x.size() == summary["size"].get<size_t>());
  double most = std::abs(largest(x) - summary["largest"].get<double>());
  for (size_t i = 0; i < summary["at"].size(); ++i) {
    const double element = x[summary["at"][i].get<size_t>()];
    most = std::max(most, std::abs(element - summary["elements"][i].get<double>()));
  }
  for (size_t k = 0; k < summary["probes"].size(); ++k) {
    const std::vector<double> probe = value(name, uint32_t(k) + 1, x.size());
    double product = 0;
    for (size_t i = 0; i < x.size(); ++i) product += x[i] * probe[i];
    most = std::max(most, std::abs(product - summary["probes"][k].get<double>()));
  }
  const double scale = summary["largest"];
  return std::isfinite(most) ? most / scale : INFINITY;
}

// Adding one number to all scores of a query changes no weight, so the bias of the keys has the
// gradient zero; both sides store the rounding of that.
bool zero_but_for_rounding(const std::string& name) { return name.ends_with("k_proj.bias"); }

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_model)

BOOST_AUTO_TEST_CASE(f64_logits_loss_and_gradients) {
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::f64);
    model.run();
    BOOST_TEST_CONTEXT(name) {
      const double loss = entry["loss"], nll = entry["nll"];
      BOOST_TEST(std::abs(model.loss / loss - 1) < 1e-12);
      BOOST_TEST(std::abs(model.nll / nll - 1) < 1e-12);
      BOOST_TEST(difference("logits", model.tensors["logits"], entry["logits"]) < 1e-10);
      BOOST_TEST(model.tensors.size() == entry["gradients"].size() + 1);
      for (const auto& [parameter, summary] : entry["gradients"].items()) {
        const std::vector<double>& gradient = model.tensors[parameter];
        BOOST_TEST_CONTEXT(parameter) {
          if (zero_but_for_rounding(parameter))
            BOOST_TEST(largest(gradient) < 1e-15);
          else
            BOOST_TEST(difference(parameter, gradient, summary) < 1e-10);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(f64_ten_losses) {
  for (const auto& [name, entry] : golden().items()) {
    std::vector<double> norms;
    const std::vector<double> losses = Golden(entry, DType::f64).train(norms);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(difference(losses, entry["losses"].get<std::vector<double>>()) < 1e-10);
      BOOST_TEST(difference(norms, entry["norms"].get<std::vector<double>>()) < 1e-9);
    }
  }
}

// f32 and bf16 against f64, which the cases above tie to PyTorch.
BOOST_AUTO_TEST_CASE(f32_logits_gradients_and_ten_losses) {
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::f32), reference(entry, DType::f64);
    model.run();
    reference.run();
    std::vector<double> norms;
    const std::vector<double> losses = model.train(norms);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(std::abs(model.loss / reference.loss - 1) < 1e-6);
      BOOST_TEST(difference(losses, entry["losses"].get<std::vector<double>>()) < 1e-5);
      for (const auto& [tensor, x] : model.tensors) {
        if (zero_but_for_rounding(tensor)) continue;
        BOOST_TEST_CONTEXT(tensor)
        BOOST_TEST(difference(x, reference.tensors[tensor]) < 2e-5);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bf16_logits_gradients_and_ten_losses) {
  if (!tx::Cpu::no_bf16_reason().empty()) {
    BOOST_TEST_MESSAGE("no bf16: " << tx::Cpu::no_bf16_reason());
    BOOST_TEST(true);
    return;
  }
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::bf16), reference(entry, DType::f64);
    model.run();
    reference.run();
    std::vector<double> norms;
    const std::vector<double> losses = model.train(norms);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(std::abs(model.loss / reference.loss - 1) < 5e-3);
      BOOST_TEST(difference(losses, entry["losses"].get<std::vector<double>>()) < 5e-3);
      BOOST_TEST(difference(model.tensors["logits"], reference.tensors["logits"]) < 2e-2);
      for (const auto& [tensor, x] : model.tensors) {
        if (zero_but_for_rounding(tensor)) continue;
        BOOST_TEST_CONTEXT(tensor)
        BOOST_TEST(cosine(x, reference.tensors[tensor]) >= 0.995);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
