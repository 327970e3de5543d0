// Gradients of an op against central differences in f64.
//
//   GradientCheck check;
//   const tx::Parameter w = check.parameter("w", 3, 5);
//   check({{7, 5}}, [&](auto& c, auto& x) { return Tensors{linear(c, x[0], w)}; });
//
// The objective is the sum of all outputs times fixed weights without any symmetry. Every element
// of every input and parameter is varied.
#pragma once
#include <boost/test/unit_test.hpp>
#include <deque>
#include <functional>

#include "tests/model_support.h"

namespace tx_test {

using Tensors = std::vector<tx::Tensor>;
using Forward = std::function<Tensors(tx::Context&, Tensors&)>;

class GradientCheck {
 public:
  using Shape = std::pair<int64_t, int64_t>;

  GradientCheck() : backend(tx::make_backend(tx::Device::cpu, 2)), arena_(backend, 1 << 24) {}

  // The values are those of value(name); the gradient is NaN until it is assigned.
  tx::Parameter parameter(const std::string& name, int64_t rows, int64_t cols) {
    tx::Parameter p;
    p.value = leaf(value(name, 0, size_t(rows * cols)), rows, cols);
    p.gradient = leaf(std::vector<double>(size_t(rows * cols), NAN), rows, cols);
    p.written = &written_.emplace_back(0);
    parameters_.push_back(p);
    return p;
  }

  void operator()(const std::vector<Shape>& shapes, const Forward& forward) {
    for (const auto& [rows, cols] : shapes)
      inputs_.push_back(value("input " + std::to_string(inputs_.size()), 0, size_t(rows * cols)));
    tx::Context context(backend, arena_, tx::DType::f64);
    context.recording = true;
    Tensors x = make(context, shapes), y = forward(context, x);
    for (size_t k = 0; k < y.size(); ++k) {
      bool add = true;
      const tx::Matrix dy = context.gradient(y[k], add);
      BOOST_TEST(!add);
      to_device(backend, weights(k, y[k]), dy);
    }
    y.clear();
    context.backward();
    for (size_t i = 0; i < x.size(); ++i)
      compare("input " + std::to_string(i), to_host(backend, std::as_const(context).gradient(x[i])),
              [&](size_t j, double step) {
                inputs_[i][j] += step;
                const double f = objective(shapes, forward);
                inputs_[i][j] -= step;
                return f;
              });
    for (size_t i = 0; i < parameters_.size(); ++i)
      compare("parameter " + std::to_string(i), to_host(backend, parameters_[i].gradient),
              [&](size_t j, double step) {
                double& w = parameters_[i].value.row<double>(0)[j];
                const double kept = w;
                w += step;
                const double f = objective(shapes, forward);
                w = kept;
                return f;
              });
  }

  tx::Backend backend;

 private:
  tx::Matrix leaf(const std::vector<double>& values, int64_t rows, int64_t cols) {
    const tx::Matrix m = tx::matrix(arena_.take(values.size() * 8), tx::DType::f64, rows, cols);
    to_device(backend, values, m);
    return m;
  }
  Tensors make(tx::Context& context, const std::vector<Shape>& shapes) {
    Tensors x;
    for (size_t i = 0; i < shapes.size(); ++i) {
      x.push_back(context.make(shapes[i].first, shapes[i].second));
      to_device(backend, inputs_[i], x[i].value());
    }
    return x;
  }
  static std::vector<double> weights(size_t output, const tx::Tensor& y) {
    return value("output " + std::to_string(output), 0, size_t(y.rows() * y.cols()));
  }
  double objective(const std::vector<Shape>& shapes, const Forward& forward) {
    tx::Context context(backend, arena_, tx::DType::f64);
    Tensors x = make(context, shapes), y = forward(context, x);
    double sum = 0;
    for (size_t k = 0; k < y.size(); ++k) {
      const std::vector<double> out = to_host(backend, y[k].value()), w = weights(k, y[k]);
      for (size_t i = 0; i < out.size(); ++i) sum += w[i] * out[i];
    }
    return sum;
  }
  template <class F>
  void compare(const std::string& what, const std::vector<double>& gradient, F&& moved) {
    constexpr double h = 1e-5;
    double largest = 0, off = 0;
    for (size_t j = 0; j < gradient.size(); ++j) {
      const double slope = (moved(j, h) - moved(j, -h)) / (2 * h);
      largest = std::max(largest, std::abs(slope));
      off = std::max(off, std::isfinite(gradient[j]) ? std::abs(slope - gradient[j]) : INFINITY);
    }
    BOOST_TEST_CONTEXT(what) {
      BOOST_TEST(largest > 1e-3);
      BOOST_TEST(off < 1e-7 * largest);
    }
  }

  tx::Arena arena_;
  std::vector<std::vector<double>> inputs_;
  std::vector<tx::Parameter> parameters_;
  std::deque<int> written_;
};

}  // namespace tx_test
