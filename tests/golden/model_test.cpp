// The model against PyTorch: model.json is made by make_model.py. f64 is compared with every number
// of the file; f32 and bf16 with our own f64, element by element, and with the ten training losses.
#include <boost/test/unit_test.hpp>

#include "tests/golden/golden_model.h"
#include "tests/golden/summary.h"

using namespace tx_test;

namespace {

// Largest difference over largest magnitude.
double difference(const std::vector<double>& x, const std::vector<double>& expected) {
  BOOST_REQUIRE(x.size() == expected.size());
  double max = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return INFINITY;
    max = std::max(max, std::abs(x[i] - expected[i]));
  }
  return max == 0 ? 0 : max / largest(expected);
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

// Adding one number to all scores of a query changes no weight, so the gradient of the keys' bias
// is zero, unless the keys are normalised. Both programs compute rounding errors.
bool zero_but_for_rounding(const std::string& name, const std::string& model) {
  return name.ends_with("k_proj.bias") && (model != "qwen" || name.find("cross") != name.npos);
}

// Checks of one dtype; --log_level=message shows the worst figure of each kind.
class Figures {
 public:
  explicit Figures(const std::string& dtype) : dtype_(dtype) {}
  ~Figures() {
    for (const auto& [what, x] : worst_) BOOST_TEST_MESSAGE(dtype_ << " " << what << ": " << x);
  }
  void below(double bound, const std::string& what, double x) {
    BOOST_TEST(x < bound);
    worst_[what] = std::max(worst_[what], x);
  }

 private:
  std::string dtype_;
  std::map<std::string, double> worst_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_model)

BOOST_AUTO_TEST_CASE(f64_logits_loss_and_gradients) {
  Figures figures("f64");
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::f64);
    model.run();
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(model.labels == entry["labels"].get<int64_t>());
      figures.below(1e-12, "loss", std::abs(model.loss / entry["loss"].get<double>() - 1));
      figures.below(1e-12, "nll", std::abs(model.nll / entry["nll"].get<double>() - 1));
      figures.below(1e-10, "logits",
                    difference("logits", model.tensors["logits"], entry["logits"]));
      BOOST_TEST(model.tensors.size() == entry["gradients"].size() + 1);
      for (const auto& [parameter, summary] : entry["gradients"].items()) {
        const std::vector<double>& gradient = model.tensors[parameter];
        BOOST_TEST_CONTEXT(parameter) {
          if (zero_but_for_rounding(parameter, name))
            figures.below(1e-15, "zero gradients", largest(gradient));
          else
            figures.below(1e-10, "gradients", difference(parameter, gradient, summary));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(f64_ten_losses) {
  Figures figures("f64");
  for (const auto& [name, entry] : golden().items()) {
    std::vector<double> norms;
    const std::vector<double> losses = Golden(entry, DType::f64).train(norms);
    BOOST_TEST_CONTEXT(name) {
      figures.below(1e-10, "ten losses", difference(losses, entry["losses"]));
      figures.below(1e-9, "ten norms", difference(norms, entry["norms"]));
    }
  }
}

// f32 and bf16 against f64, which the cases above compare with PyTorch.
BOOST_AUTO_TEST_CASE(f32_logits_gradients_and_ten_losses) {
  Figures figures("f32");
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::f32), reference(entry, DType::f64);
    model.run();
    reference.run();
    std::vector<double> norms;
    const std::vector<double> losses = model.train(norms);
    BOOST_TEST_CONTEXT(name) {
      figures.below(1e-6, "loss", std::abs(model.loss / reference.loss - 1));
      figures.below(1e-5, "ten losses", difference(losses, entry["losses"]));
      for (const auto& [tensor, x] : model.tensors) {
        if (zero_but_for_rounding(tensor, name)) continue;
        BOOST_TEST_CONTEXT(tensor)
        figures.below(2e-5, tensor == "logits" ? "logits" : "gradients",
                      difference(x, reference.tensors[tensor]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bf16_logits_gradients_and_ten_losses) {
  Figures figures("bf16");
  for (const auto& [name, entry] : golden().items()) {
    Golden model(entry, DType::bf16), reference(entry, DType::f64);
    model.run();
    reference.run();
    std::vector<double> norms;
    const std::vector<double> losses = model.train(norms);
    // Without residual connections a norm amplifies the rounding of a small sub-layer output.
    // Scores that are not divided by sqrt(d_k) are rounded more coarsely.
    const Json& c = entry["config"];
    const double wider = !c.value("scaled_attention", true) ? 4 : c.value("residual", true) ? 1 : 3;
    BOOST_TEST_CONTEXT(name) {
      figures.below(5e-3, "loss", std::abs(model.loss / reference.loss - 1));
      figures.below(5e-3, "ten losses", difference(losses, entry["losses"]));
      figures.below(2e-2 * wider, "logits",
                    difference(model.tensors["logits"], reference.tensors["logits"]));
      for (const auto& [tensor, x] : model.tensors) {
        if (zero_but_for_rounding(tensor, name)) continue;
        // The gradient of a gate is small: a difference of cells times s (1 - s).
        const double of_gate = tensor.find(".recurrence.gate_proj.") != std::string::npos ? 8 : 1;
        BOOST_TEST_CONTEXT(tensor)
        figures.below(0.005 * wider * of_gate, "1 - cosine",
                      1 - cosine(x, reference.tensors[tensor]));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
