// What the groups of cuda_bench share: a GPU, its clock and memory, and lines that compare a time
// with that of a copy or of a large product in the same run.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda.h"
#include "kernels/cuda/runtime/clock.h"
#include "lib/base/philox.h"
#include "lib/model/parameters.h"

namespace tx_test {

class Measure {
 public:
  // Rows and vocabulary are divided by `divisor`; if it is above 1, only one round runs.
  explicit Measure(int64_t divisor)
      : rows(25000 / divisor),
        vocabulary(std::max<int64_t>(37000 / divisor, 64)),
        padded(tx::padded_vocabulary(vocabulary)),
        divisor_(divisor) {}
  ~Measure() { release_from(0); }
  Measure(const Measure&) = delete;
  Measure& operator=(const Measure&) = delete;

  const int64_t rows, vocabulary;
  const int64_t padded;  // the padded vocabulary of the model's products
  tx::Cuda cuda;

  // A number of rows for decoding, divided too, but at least four.
  int64_t few(int64_t count) const { return std::max<int64_t>(count / divisor_, 4); }
  // d_model of products: an eighth for divisors from 100 on, for emulated GPUs.
  int64_t width(int64_t d) const { return divisor_ < 100 ? d : d / 8; }

  // -- time

  // The median of some rounds of calls that are recorded as a graph, as training steps are, so that
  // the host's time to start a kernel is excluded.
  double seconds(tx::Cuda& on, const std::function<void()>& work) {
    work();  // also selects algorithms and allocates memory
    const double once = std::max(1e-6, tx::seconds_on_gpu(on, work));
    const int times = divisor_ > 1 ? 1 : int(std::clamp(0.005 / once, 1.0, 200.0));
    const auto calls = [&] {
      on.replay(1, [&] {
        for (int i = 0; i < times; ++i) work();
      });
    };
    calls();  // runs
    calls();  // records
    std::vector<double> rounds(divisor_ == 1 && once < 0.5 ? 7 : 1);
    for (double& r : rounds) r = tx::seconds_on_gpu(on, calls) / times;
    on.forget_graphs();
    std::sort(rounds.begin(), rounds.end());
    return rounds[rounds.size() / 2];
  }
  double seconds(const std::function<void()>& work) { return seconds(cuda, work); }

  // Speed of a copy that reads and writes `bytes` in total, in GB/s. Small ones stay in the cache.
  // Not in a graph, where an H200 copies at 2.8 instead of 4.1 TB/s.
  double copy_speed(double bytes) {
    const size_t half = std::min(size_t(bytes / 2) + 16, copy_bytes_);
    const int times = divisor_ > 1 ? 1 : int(std::clamp(2e9 / double(half), 1.0, 200.0));
    std::vector<double> rounds(divisor_ == 1 ? 7 : 1);
    for (double& r : rounds)
      r = tx::seconds_on_gpu(cuda,
                             [&] {
                               for (int i = 0; i < times; ++i)
                                 tx::copy_on_gpu(cuda, copy_to_, copy_from_, half);
                             }) /
          times;
    std::sort(rounds.begin(), rounds.end());
    return 2 * double(half) / rounds[rounds.size() / 2] * 1e-9;
  }

  void ceilings() {
    copy_bytes_ = size_t(512 << 20) / size_t(divisor_);
    copy_from_ = allocate(copy_bytes_);
    copy_to_ = allocate(copy_bytes_);
    std::printf("%-46s %8.0f GB/s\n", "ceiling: a large copy", copy_speed(1e12));
    const int64_t n = divisor_ > 1 ? 256 : 8192;
    const tx::Product p = product_of(half(n, n), half(n, n), half(n, n), false, true);
    flops_ = 2 * double(n) * double(n) * double(n) / seconds([&] { cuda.product(p); }) * 1e-12;
    std::printf("%-46s %8.0f TFLOP/s\n\n", "ceiling: a large square product in bf16", flops_);
  }

  void moved(const std::string& name, double bytes, const std::function<void()>& work) {
    const double s = seconds(work), speed = bytes / s * 1e-9, copy = copy_speed(bytes);
    std::printf("%-46s %8.1f us %6.0f GB/s %4.0f %% of a copy\n", name.c_str(), s * 1e6, speed,
                100 * speed / copy);
    std::fflush(stdout);
  }
  double share_of_ceiling(double flops, double s) const { return flops / s * 1e-12 / flops_; }

  // -- memory

  void* allocate(size_t bytes) {
    memory_.push_back(cuda.allocate(bytes));
    return memory_.back();
  }
  // Releases what was allocated since held() returned `count`.
  size_t held() const { return memory_.size(); }
  void release_from(size_t count) {
    for (; memory_.size() > count; memory_.pop_back()) cuda.release(memory_.back());
  }
  template <class T>
  T* array(const std::vector<T>& values) {
    void* p = allocate(values.size() * sizeof(T));
    cuda.upload(p, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(p);
  }
  // Values in [-1, 1), a repeated pattern of a million numbers.
  tx::Matrix matrix(int64_t count, int64_t cols, tx::DType t) {
    static const std::vector<float> random = [] {
      tx::PhiloxStream stream(1, 1);
      std::vector<float> values(1'000'003);
      for (float& x : values) x = float(2 * stream.uniform() - 1);
      return values;
    }();
    static const std::vector<uint16_t> halves = [] {
      std::vector<uint16_t> values;
      for (const float x : random) {
        uint32_t u;
        std::memcpy(&u, &x, 4);
        values.push_back(uint16_t(u >> 16));
      }
      return values;
    }();
    const bool small = t == tx::DType::bf16;
    const void* from = small ? static_cast<const void*>(halves.data()) : random.data();
    const size_t pattern = random.size() * size_of(t), bytes = size_t(count * cols) * size_of(t);
    char* data = static_cast<char*>(allocate(bytes));
    for (size_t at = 0; at < bytes; at += pattern)
      cuda.upload(data + at, from, std::min(pattern, bytes - at));
    return tx::matrix(data, t, count, cols);
  }
  tx::Matrix half(int64_t count, int64_t cols) { return matrix(count, cols, tx::DType::bf16); }
  tx::Matrix single(int64_t count, int64_t cols) { return matrix(count, cols, tx::DType::f32); }
  int32_t* ids(int64_t count, int64_t below) {
    tx::PhiloxStream stream(2, 2);
    std::vector<int32_t> values(static_cast<size_t>(count));
    for (int32_t& id : values) id = int32_t(stream.next() % uint64_t(below));
    return array(values);
  }
  static double size(const tx::Matrix& m) {
    return double(m.rows * m.cols) * double(size_of(m.dtype));
  }
  static tx::Product product_of(tx::Matrix a, tx::Matrix b, tx::Matrix c, bool ta, bool tb) {
    tx::Product p;
    p.a = a, p.b = b, p.c = c, p.transpose_a = ta, p.transpose_b = tb;
    return p;
  }

 private:
  int64_t divisor_;
  std::vector<void*> memory_;
  void *copy_from_ = nullptr, *copy_to_ = nullptr;
  size_t copy_bytes_ = 0;
  double flops_ = 1;
};

}  // namespace tx_test
