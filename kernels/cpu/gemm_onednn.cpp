// Products through oneDNN. A primitive for a new shape takes 1-2 ms, a cached one 5 us.
#include "build_info.h"
#include "kernels/cpu/gemm.h"
#include "lib/base/error.h"
#include "lib/base/resources.h"

#if TX_HAVE_ONEDNN
#ifdef _OPENMP
#include <omp.h>
#endif

#include <array>
#include <dnnl.hpp>
#include <new>
#include <unordered_map>

namespace tx::gemm {
namespace {

using dnnl::memory;

// Everything that a primitive depends on.
struct Key {
  std::array<int64_t, 8> v;
  bool operator==(const Key& o) const { return v == o.v; }
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t x : key.v) h = (h ^ uint64_t(x)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return size_t(h);
  }
};

Key key_of(const Product& p, ProductShape s, int threads) {
  const int64_t flags = int64_t(p.transpose_a) | p.transpose_b << 1 | p.accumulate << 2 |
                        !p.bias.empty() << 3 | int64_t(p.activation) << 4 |
                        int64_t(p.a.dtype) << 8 | int64_t(p.c.dtype) << 12;
  return {{s.m, s.n, s.k, p.a.stride, p.b.stride, p.c.stride, flags, threads}};
}

memory::data_type type_of(DType t) {
  return t == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::desc desc_of(const Matrix& m, bool transposed) {
  if (transposed) return {{m.cols, m.rows}, type_of(m.dtype), memory::dims{1, m.stride}};
  return {{m.rows, m.cols}, type_of(m.dtype), memory::dims{m.stride, 1}};
}

dnnl::matmul::primitive_desc describe(const Product& p, ProductShape s,
                                      const dnnl::engine& engine) {
  dnnl::post_ops ops;
  if (p.accumulate) ops.append_sum(1.0f);
#if DNNL_VERSION_MAJOR >= 3
  if (p.activation == Activation::relu) ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
#else
  if (p.activation == Activation::relu) ops.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
#endif
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc a = desc_of(p.a, p.transpose_a), b = desc_of(p.b, p.transpose_b);
  const memory::desc c = desc_of(p.c, false);
  const memory::desc bias =
      p.bias.empty() ? memory::desc()
                     : memory::desc({1, s.n}, memory::data_type::f32, memory::dims{s.n, 1});
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, c, attr};
#else
  return {dnnl::matmul::desc(a, b, bias, c), attr, engine};
#endif
}

// oneDNN uses the OpenMP setting of the calling thread, at a primitive's creation and its run.
class ThreadCount {
 public:
#ifdef _OPENMP
  explicit ThreadCount(int n) : saved_(omp_get_max_threads()) {
    if (n != saved_) omp_set_num_threads(n);
  }
  ~ThreadCount() { omp_set_num_threads(saved_); }
#else
  explicit ThreadCount(int n) : saved_(n) {}
#endif
  ThreadCount(const ThreadCount&) = delete;

 private:
  int saved_;
};

// oneDNN does not check the allocation of a primitive's code: up to 36 kernels of 256 KiB each.
constexpr size_t max_code = size_t(16) << 20;

// Calls f; exceptions of oneDNN become Error.
template <class F>
auto checked(F&& f) try {
  return f();
} catch (const dnnl::error& e) {
  if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
  throw Error(std::string("oneDNN: ") + e.what());
}

struct Entry {
  dnnl::matmul primitive;
  memory a, b, c, bias, scratch;
  std::unordered_map<int, memory> arguments;
  size_t scratch_bytes = 0;

  Entry(const dnnl::matmul::primitive_desc& pd, bool with_bias, const dnnl::engine& engine)
      : primitive(pd),
        a(pd.src_desc(), engine, nullptr),
        b(pd.weights_desc(), engine, nullptr),
        c(pd.dst_desc(), engine, nullptr),
        scratch(pd.scratchpad_desc(), engine, nullptr),
        scratch_bytes(pd.scratchpad_desc().get_size()) {
    arguments = {{DNNL_ARG_SRC, a},
                 {DNNL_ARG_WEIGHTS, b},
                 {DNNL_ARG_DST, c},
                 {DNNL_ARG_SCRATCHPAD, scratch}};
    if (with_bias) {
      bias = memory(pd.bias_desc(), engine, nullptr);
      arguments.emplace(DNNL_ARG_BIAS, bias);
    }
  }
};

}  // namespace

struct OneDnn::Cache {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::unordered_map<Key, Entry, KeyHash> entries;

  Entry& entry(const Product& p, int threads, Scratch& scratch) {
    const ProductShape s = shape_of(p);
    const Key key = key_of(p, s, threads);
    const auto found = entries.find(key);
    if (found != entries.end()) return found->second;
    require_memory(max_code);
    Entry& e =
        entries.try_emplace(key, describe(p, s, engine), !p.bias.empty(), engine).first->second;
    scratch.grow(e.scratch_bytes);
    return e;
  }
};

OneDnn::OneDnn() = default;
OneDnn::~OneDnn() = default;

void OneDnn::plan(const Product& p, int threads, Scratch& scratch) {
  try {
    if (!cache_) cache_ = std::make_unique<Cache>();
    const ThreadCount count(threads);
    cache_->entry(p, threads, scratch);
  } catch (const dnnl::error& e) {
    // With AMX, oneDNN 2.6 cannot create products beyond its 32-bit offsets: run() reports that.
    if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
  }
}

void OneDnn::run(const Product& p, int threads, Scratch& scratch) {
  checked([&] {
    if (!cache_) cache_ = std::make_unique<Cache>();
    const ThreadCount count(threads);
    Entry& e = cache_->entry(p, threads, scratch);
    e.a.set_data_handle(p.a.data);
    e.b.set_data_handle(p.b.data);
    e.c.set_data_handle(p.c.data);
    e.scratch.set_data_handle(scratch.memory.get());
    if (e.bias) e.bias.set_data_handle(p.bias.data);
    e.primitive.execute(cache_->stream, e.arguments);
    cache_->stream.wait();
  });
}

namespace {
bool has(dnnl::cpu_isa isa) {
  const int bits = int(isa);
  return (int(dnnl::get_effective_cpu_isa()) & bits) == bits;
}
}  // namespace

bool OneDnn::built_in() { return true; }
bool OneDnn::has_avx512() { return has(dnnl::cpu_isa::avx512_core); }
bool OneDnn::has_avx512_bf16() { return has(dnnl::cpu_isa::avx512_core_bf16); }

std::string OneDnn::description() {
  const dnnl_version_t* v = dnnl_version();
  const char* isa = has(dnnl::cpu_isa::avx512_core_amx)    ? "AVX-512 with AMX"
                    : has(dnnl::cpu_isa::avx512_core_bf16) ? "AVX-512 with BF16"
                    : has(dnnl::cpu_isa::avx512_core_vnni) ? "AVX-512 with VNNI"
                    : has(dnnl::cpu_isa::avx512_core)      ? "AVX-512"
                    : has(dnnl::cpu_isa::avx2_vnni)        ? "AVX2 with VNNI"
                    : has(dnnl::cpu_isa::avx2)             ? "AVX2"
                                                           : "below AVX2";
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + ", instruction set " + isa;
}

}  // namespace tx::gemm

#else

namespace tx::gemm {

struct OneDnn::Cache {};
OneDnn::OneDnn() = default;
OneDnn::~OneDnn() = default;
void OneDnn::plan(const Product&, int, Scratch&) { TX_ASSERT(built_in()); }
void OneDnn::run(const Product&, int, Scratch&) { TX_ASSERT(built_in()); }
bool OneDnn::built_in() { return false; }
bool OneDnn::has_avx512() { return false; }
bool OneDnn::has_avx512_bf16() { return false; }
std::string OneDnn::description() { return "built without"; }

}  // namespace tx::gemm

#endif
