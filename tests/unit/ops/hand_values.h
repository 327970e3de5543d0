// Small tensors with values written by hand, in f64, and rows for dropout masks.
#pragma once
#include <boost/test/unit_test.hpp>
#include <deque>
#include <initializer_list>
#include <numeric>

#include "tests/model_support.h"

namespace tx_test {

class Hand {
 public:
  Hand()
      : backend(tx::make_backend(tx::Device::cpu, 2)),
        arena(backend, 1 << 22),
        context(backend, arena, tx::DType::f64) {}

  tx::Tensor tensor(int64_t rows, int64_t cols, const std::vector<double>& values) {
    tx::Tensor t = context.make(rows, cols);
    to_device(backend, values, t.value());
    return t;
  }
  tx::Tensor tensor(int64_t rows, int64_t cols) {
    return tensor(rows, cols, value("hand", 0, size_t(rows * cols)));
  }
  tx::Parameter parameter(int64_t rows, int64_t cols, const std::vector<double>& values) {
    kept_.push_back(tensor(rows, cols, values));
    kept_.push_back(tensor(rows, cols));
    tx::Parameter p;
    p.value = kept_[kept_.size() - 2].value();
    p.gradient = kept_.back().value();
    p.written = &flags_.emplace_back(0);
    return p;
  }
  tx::Parameter parameter(int64_t rows, int64_t cols) {
    return parameter(rows, cols, value("hand", 1, size_t(rows * cols)));
  }
  std::vector<double> values(const tx::Tensor& t) { return to_host(backend, t.value()); }

  tx::Backend backend;
  tx::Arena arena;
  tx::Context context;

 private:
  std::vector<tx::Tensor> kept_;
  std::deque<int> flags_;
};

// Row keys of `rows` rows: pair 3, positions from 0. Dropout masks of step 2.
class MaskedRows {
 public:
  MaskedRows(tx::Backend& backend, int64_t rows)
      : pair_(backend), position_(backend), record_(backend) {
    std::vector<uint32_t> pairs(size_t(rows), 3), positions(static_cast<size_t>(rows));
    std::iota(positions.begin(), positions.end(), 0);
    keys = {pair_.set<uint32_t>(pairs), position_.set<uint32_t>(positions)};
    tx::StepRecord record;
    record.step = 2;
    record_.set(record);
  }
  tx::Dropout dropout(double p, uint32_t site = 5) const {
    return tx::dropout(p, 17, site, record_.data, keys);
  }
  tx::RowKeys keys;

 private:
  tx::DeviceInts pair_, position_;
  Record record_;
};

inline void check_close(const std::vector<double>& x, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  BOOST_REQUIRE(x.size() == expected.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - expected[i]) <= tolerance))
      BOOST_ERROR("element " << i << ": " << x[i] << " for " << expected[i]);
  }
}

}  // namespace tx_test
