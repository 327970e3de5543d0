#include <algorithm>
#include <cstdio>

#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/timing.h"

namespace tx {

Profile::~Profile() {
  for (const Span& s : open_)
    for (cudaEvent_t e : {s.first, s.last})
      if (e) cudaEventDestroy(e);
  for (cudaEvent_t e : spare_) cudaEventDestroy(e);
}

cudaEvent_t Profile::event() {
  cudaEvent_t e = nullptr;
  if (spare_.empty()) {
    check(cudaEventCreateWithFlags(&e, cudaEventDefault), "creating an event");
  } else {
    e = spare_.back();
    spare_.pop_back();
  }
  check(cudaEventRecord(e, stream_), "timing");
  return e;
}

void Profile::begin(const char* group, Work work) {
  if (depth_++ > 0) return;  // part of a call that is timed already
  if (open_.size() > 10000) collect();
  groups_.count(group, work);
  open_.push_back({group, event(), nullptr});
}

void Profile::end() {
  if (--depth_ == 0) open_.back().last = event();
}

void Profile::collect() {
  check(cudaStreamSynchronize(stream_), "timing");
  for (const Span& s : open_) {
    float time = 0;
    check(cudaEventElapsedTime(&time, s.first, s.last), "timing");
    groups_.add(s.group, 1e-3 * double(time));
    spare_.push_back(s.first);
    spare_.push_back(s.last);
  }
  open_.clear();
}

std::string Profile::report(const Rates& rates) {
  collect();
  char line[200];
  std::snprintf(
      line, sizeof line,
      "rates of this GPU: copies %.2f TB/s, products %.0f TFLOP/s in bf16, %.0f in fp32\n",
      rates.copy * 1e-12, rates.bf16 * 1e-12, rates.f32 * 1e-12);
  return line + groups_.lines(rates);
}

namespace {

// Bytes read and written per second by a copy within the GPU.
double measured_copies(Cuda::State& s) {
  constexpr size_t bytes = size_t(256) << 20;
  const DeviceBuffer from(bytes), to(bytes);
  if (!from.data() || !to.data()) return 1;
  double best = 0;
  for (int round = 0; round < 4; ++round) {
    const float time = Stopwatch().milliseconds(s.stream, [&] {
      check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, s.stream),
            "copying");
    });
    best = std::max(best, 2e3 * double(bytes) / double(std::max(time, 1e-6f)));
  }
  return best;
}

// FLOPs per second of a product of square matrices.
double measured_products(Cuda& cuda, Cuda::State& s, DType t, int64_t size) {
  const size_t bytes = size_t(size * size) * size_of(t);
  const DeviceBuffer a(bytes), b(bytes), c(bytes);
  if (!a.data() || !b.data() || !c.data()) return 1;
  for (const DeviceBuffer* x : {&a, &b}) fill_with_numbers(s, x->data(), bytes);
  Product p;
  p.a = matrix(a.data(), t, size, size), p.b = matrix(b.data(), t, size, size);
  p.c = matrix(c.data(), t, size, size);
  p.transpose_b = true;
  double best = 0;
  cuda.product(p);
  for (int round = 0; round < 4; ++round) {
    const float time = Stopwatch().milliseconds(s.stream, [&] { cuda.product(p); });
    best = std::max(
        best, 2e3 * double(size) * double(size) * double(size) / double(std::max(time, 1e-6f)));
  }
  return best;
}

}  // namespace

void Cuda::start_profile() { state_->profile = std::make_unique<Profile>(state_->stream); }

std::string Cuda::profile_report() {
  const std::unique_ptr<Profile> profile = std::move(state_->profile);
  if (!profile) return "";
  const int64_t size = state_->processors >= 64 ? 8192 : 256;  // enough to fill the GPU
  Rates rates;
  rates.copy = measured_copies(*state_);
  rates.bf16 = measured_products(*this, *state_, DType::bf16, size);
  rates.f32 = measured_products(*this, *state_, DType::f32, size);
  return profile->report(rates);
}

}  // namespace tx
