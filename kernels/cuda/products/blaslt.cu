// cuBLASLt: choosing, timing and running its algorithms.
#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "kernels/cuda/products/blaslt_plan.h"
#include "kernels/cuda/products/gemm.h"
#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/timing.h"

namespace tx {
namespace {

template <class T>
__global__ void copy_bias(const float* from, T* to, int64_t count) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) store(to[i], from[i]);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

// A bias that the epilogue can read: the type of c, aligned.
const Matrix& fitting_bias(const Product& p) {
  return p.c.dtype == DType::bf16 ? p.rounded_bias : p.bias;
}
bool needs_copy(const Product& p) {
  const Matrix& fitting = fitting_bias(p);
  return !p.bias.empty() && (fitting.empty() || !aligned(fitting.data));
}
const void* epilogue_bias(Cuda::State& s, const Product& p) {
  if (!needs_copy(p)) return fitting_bias(p).data;
  void* copy = s.scratch(size_t(p.bias.cols) * size_of(p.c.dtype));
  with_type(p.c.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(s, copy_bias<T>, blocks_of(p.bias.cols, 256), 256, 0,
           static_cast<const float*>(p.bias.data), static_cast<T*>(copy), p.bias.cols);
  });
  return copy;
}

constexpr int max_candidates = 16;

size_t bytes_of(const Matrix& m) { return size_t(m.rows * m.stride) * size_of(m.dtype); }

}  // namespace

struct BlasLt::Library {
  BlasLtApi api;
  cublasLtHandle_t handle = nullptr;
  char* workspace = nullptr;  // with branches two: the second for product_aside()
  std::map<ProductKey, Plan> plans;
  std::map<ProductKey, BlasLtAlgorithm> chosen;  // by plans, or given to set_algorithms()

  // Not destroyed: that would wait for the device, and at exit the driver may be unloaded.
  ~Library() { cudaFree(workspace); }

  std::vector<BlasLtAlgorithm> candidates(const Plan& plan, int most) const;
  bool suits(const Plan& plan, const BlasLtAlgorithm& algorithm) const;
  cublasStatus_t run(const Plan& plan, const Product& p, const BlasLtAlgorithm& algorithm,
                     const Cuda::State& s) const;
  void add_splits(const Plan& plan, const Product& p, int processors,
                  std::vector<BlasLtAlgorithm>& to) const;
  BlasLtAlgorithm fastest(const Plan& plan, Product p, const Cuda::State& s,
                          const std::vector<BlasLtAlgorithm>& candidates) const;
};

// Best first by the library's own estimate.
std::vector<BlasLtAlgorithm> BlasLt::Library::candidates(const Plan& plan, int most) const {
  cublasLtMatmulPreference_t preference = nullptr;
  const char* doing = "choosing an algorithm";
  api.check(api.preference_create(&preference), doing);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    api.check(api.preference_set(preference, attribute, &value, sizeof value), doing);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(workspace_bytes));
  // Split-K parts are added in f32, in a separate step.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(attribute, uint32_t(16));
  cublasLtMatmulHeuristicResult_t results[max_candidates];
  int count = 0;
  const cublasStatus_t status = api.candidates(handle, plan.operation, plan.b, plan.a, plan.c,
                                               plan.c, preference, most, results, &count);
  api.preference_destroy(preference);
  // Both are answers for a product that the library cannot compute.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  api.check(status, doing);
  std::vector<BlasLtAlgorithm> algorithms;
  for (int i = 0; i < count; i++)
    if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back({results[i].algo});
  return algorithms;
}

bool BlasLt::Library::suits(const Plan& plan, const BlasLtAlgorithm& algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  return api.suits(handle, plan.operation, plan.b, plan.a, plan.c, plan.c, &algorithm.value,
                   &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= workspace_bytes;
}

cublasStatus_t BlasLt::Library::run(const Plan& plan, const Product& p,
                                    const BlasLtAlgorithm& algorithm, const Cuda::State& s) const {
  const float alpha = 1, beta = p.accumulate ? 1 : 0;
  return api.matmul(handle, plan.operation, &alpha, p.b.data, plan.b, p.a.data, plan.a, &beta,
                    p.c.data, plan.c, p.c.data, plan.c, &algorithm.value,
                    workspace + (s.forked ? workspace_bytes : 0), workspace_bytes, s.stream);
}

// A long sum over few outputs, as in weight gradients, leaves most of the device idle unless it is
// split over K; the library's own list has few or no such algorithms. Parts are added in f32, in a
// separate step, so that every run has the same bits.
void BlasLt::Library::add_splits(const Plan& plan, const Product& p, int processors,
                                 std::vector<BlasLtAlgorithm>& to) const {
  constexpr int64_t tile = 128, min_k = 2048;
  const ProductShape s = shape_of(p);
  const int64_t tiles = int64_t(blocks_of(s.m, tile)) * blocks_of(s.n, tile);
  const size_t own = std::min<size_t>(to.size(), 4);
  for (int32_t parts = 2; s.k / parts >= min_k / 2 && tiles * parts <= 4 * processors; parts *= 2)
    for (size_t i = 0; i < own; ++i) {
      BlasLtAlgorithm split = to[i];
      const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, const auto& value) {
        return api.configure(&split.value, attribute, &value, sizeof value) ==
               CUBLAS_STATUS_SUCCESS;
      };
      if (set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) &&
          set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
              uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)) &&
          suits(plan, split))
        to.push_back(split);
    }
}

// Times the candidates on buffers of its own: the operands of p may not exist yet.
BlasLtAlgorithm BlasLt::Library::fastest(const Plan& plan, Product p, const Cuda::State& s,
                                         const std::vector<BlasLtAlgorithm>& candidates) const {
  const auto round = [](size_t n) { return (n + 255) / 256 * 256; };
  const size_t a = round(bytes_of(p.a)), b = round(bytes_of(p.b)), c = round(bytes_of(p.c));
  const DeviceBuffer memory(a + b + c);
  if (!memory.data()) return candidates.front();
  fill_with_numbers(s, memory.data(), a + b + c);
  p.a.data = memory.data();
  p.b.data = static_cast<char*>(memory.data()) + a;
  p.c.data = static_cast<char*>(memory.data()) + a + b;
  if (!p.bias.empty()) plan.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.c.data);
  const int best = fastest_way(s, int(candidates.size()), [&](int way) {
    return run(plan, p, candidates[size_t(way)], s) == CUBLAS_STATUS_SUCCESS;
  });
  return candidates[size_t(std::max(best, 0))];
}

BlasLt::BlasLt(bool branches) : library_(std::make_unique<Library>()) {
  library_->api.open();
  library_->api.check(library_->api.create(&library_->handle), "starting");
  library_->workspace = static_cast<char*>(take_memory((branches ? 2 : 1) * workspace_bytes));
}
BlasLt::~BlasLt() = default;

bool BlasLt::takes(const Product& p) {
  for (const Matrix* m : {&p.a, &p.b, &p.c})
    if (!aligned(m->data) || size_t(m->stride) * size_of(m->dtype) % 16) return false;
  return true;
}

BlasLt::Plan& BlasLt::plan_of(Cuda::State& s, const Product& p, bool may_measure) {
  const ProductKey key = key_of(p);
  const auto old = library_->plans.find(key);
  if (old != library_->plans.end()) return old->second;
  // A dummy pointer, not read, with the alignment of the bias.
  const void* anything = library_->workspace + 16;
  Plan& plan = library_->plans.try_emplace(key, library_->api, p, anything).first->second;
  const auto given = library_->chosen.find(key);
  if (given != library_->chosen.end()) {
    if (!library_->suits(plan, given->second))
      throw Error("cuBLASLt cannot use the algorithms that were chosen on another GPU");
    plan.algorithm = given->second;
    plan.found = true;
    return plan;
  }
  const bool measure = by_timing && may_measure && !s.capturing;
  auto all = library_->candidates(plan, measure ? max_candidates : 1);
  plan.found = !all.empty();
  if (!plan.found) return plan;
  if (measure) library_->add_splits(plan, p, s.processors, all);
  plan.algorithm = measure ? library_->fastest(plan, p, s, all) : all.front();
  library_->chosen[key] = plan.algorithm;
  return plan;
}

bool BlasLt::plan(Cuda::State& s, const Product& p) {
  if (!plan_of(s, p, true).found) return false;
  if (needs_copy(p)) s.scratch(size_t(p.bias.cols) * size_of(p.c.dtype));
  return true;
}

bool BlasLt::product(Cuda::State& s, const Product& p) {
  const Plan& plan = plan_of(s, p, false);
  if (!plan.found) return false;
  if (!p.bias.empty()) plan.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue_bias(s, p));
  library_->api.check(library_->run(plan, p, plan.algorithm, s), "multiplying matrices");
  return true;
}

std::string BlasLt::algorithms() const {
  std::ostringstream text;
  text << "cublaslt " << library_->api.version() << '\n';
  for (const auto& [key, algorithm] : library_->chosen) {
    text << key.m << ' ' << key.n << ' ' << key.k << ' ' << key.a_stride << ' ' << key.b_stride
         << ' ' << key.c_stride << ' ' << key.flags << std::hex;
    for (const uint64_t word : algorithm.value.data) text << ' ' << word;
    text << std::dec << '\n';
  }
  return text.str();
}

void BlasLt::set_algorithms(const std::string& text) {
  std::istringstream lines(text);
  std::string word, line;
  size_t version = 0;
  if (!(lines >> word >> version) || word != "cublaslt")
    throw Error("this is not a list of cuBLASLt's algorithms");
  if (version != library_->api.version())
    throw Error("the algorithms were chosen with cuBLASLt " + std::to_string(version) +
                ", but this is " + std::to_string(library_->api.version()));
  std::getline(lines, line);
  std::map<ProductKey, BlasLtAlgorithm> chosen;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    ProductKey key{};
    BlasLtAlgorithm algorithm;
    words >> key.m >> key.n >> key.k >> key.a_stride >> key.b_stride >> key.c_stride >> key.flags >>
        std::hex;
    for (uint64_t& part : algorithm.value.data) words >> part;
    if (!words) throw Error("this is not a line of cuBLASLt's algorithms: " + line);
    chosen[key] = algorithm;
  }
  library_->plans.clear();
  library_->chosen = std::move(chosen);
}

}  // namespace tx
