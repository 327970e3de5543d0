#include <atomic>
#include <cstdlib>
#include <string>

#include "kernels/cuda/products/blaslt.h"
#include "kernels/cuda/products/tiles.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// TX_CUDA_TRY names what no GPU has been seen to do yet and is therefore off. With dx, which
// includes wgmma, bits of training differ: sums are rounded once and added in another order.
bool tried(const std::string& name) {
  const char* names = std::getenv("TX_CUDA_TRY");
  return names && std::string(names).find(name) != std::string::npos;
}

// The GPU of this process; default: the first.
std::atomic<int> chosen = 0;

}  // namespace

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw Error(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(status) + " (" +
              cudaGetErrorName(status) + ")");
}

Cuda::State::State() : device(chosen) {
  check(cudaSetDevice(device), "selecting the device");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "querying the device");
  check(
      cudaDeviceGetAttribute(&shared_bytes_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
      "querying the device");
  for (cudaStream_t* s : {&stream, &branch_})
    check(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking), "creating a stream");
  for (cudaEvent_t* e : {&begun_, &done_})
    check(cudaEventCreateWithFlags(e, cudaEventDisableTiming), "creating an event");
  dx = cuda::use_wgmma(*this, tried("wgmma") || tried("dx")) && tried("dx");
  early = tried("early");
  branches = tried("branches");
  norms = tried("norms");
  heads = tried("heads");
}

Cuda::State::~State() {
  drain();
  cudaStreamSynchronize(stream);  // copies may still read the staging memory
  forget_graphs();
  blas.reset();
  cudaFree(scratch_);
  for (cudaEvent_t e : {begun_, done_}) cudaEventDestroy(e);
  for (cudaStream_t s : {stream, branch_}) cudaStreamDestroy(s);
}

void Cuda::State::fork(const std::function<void()>& work) {
  TX_ASSERT(joined_ && !forked);
  check(cudaEventRecord(begun_, stream), "recording an event");
  check(cudaStreamWaitEvent(branch_, begun_), "waiting for an event");
  const auto turn = [this](void*) { std::swap(stream, branch_), forked = !forked; };
  turn(this);
  {
    const std::unique_ptr<void, decltype(turn)> back(this, turn);  // also if the work throws
    work();
  }
  check(cudaEventRecord(done_, branch_), "recording an event");
  joined_ = false;
}

void Cuda::State::join() {
  if (joined_) return;
  joined_ = true;
  check(cudaStreamWaitEvent(stream, done_), "waiting for an event");
}

void* Cuda::State::scratch(size_t bytes) {
  if (bytes > scratch_bytes) {
    TX_ASSERT(!capturing);  // the same work has run before with the same shapes
    forget_graphs();        // recorded graphs hold the old address
    cudaFree(scratch_);     // waits for the kernels that still use it
    scratch_ = nullptr;
    scratch_bytes = 0;
    const size_t rounded = (bytes + bytes / 4 + 0xfffff) & ~size_t(0xfffff);
    scratch_ = take_memory(rounded);
    scratch_bytes = rounded;
  }
  return scratch_;
}

void Cuda::State::allow_shared(const void* kernel) const {
  if (!allowed_.insert(kernel).second) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes_limit - static_shared),
        "reserving shared memory");
}

Cuda::Cuda() {
  const std::string reason = refusal();
  if (!reason.empty()) throw UsageError("--device cuda: " + reason + "; use --device cpu");
  state_ = std::make_unique<State>();
}
Cuda::~Cuda() = default;

std::string Cuda::refusal() {
  int driver = 0, count = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0)
    return "no NVIDIA driver: libcuda.so.1 was not found in LD_LIBRARY_PATH or the loader's cache";
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status == cudaSuccess && count > 0) {
    cudaDeviceProp p{};
    if (cudaGetDeviceProperties(&p, chosen) != cudaSuccess || p.major >= 8) return "";
    return std::string(p.name) + " has compute capability " + std::to_string(p.major) + "." +
           std::to_string(p.minor) + ", but tx needs 8.0 or newer";
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string hidden =
      visible ? std::string("; CUDA_VISIBLE_DEVICES is \"") + visible + "\"" : "";
  if (status == cudaSuccess) return "the driver reports no GPU" + hidden;
  return std::string("no GPU can be used: ") + cudaGetErrorString(status) + " (driver for CUDA " +
         version(driver) + ", built for " + version(CUDART_VERSION) + ")" + hidden;
}

void Cuda::choose(int number) {
  int count = 0;
  const bool any = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  cudaGetLastError();
  chosen = any ? number % count : 0;
}

std::string Cuda::describe() {
  const std::string reason = refusal(), runtime = "runtime " + version(CUDART_VERSION);
  if (!reason.empty()) return "CUDA: " + runtime + ", not used: " + reason + "\n";
  int driver = 0;
  cudaDriverGetVersion(&driver);
  cudaDeviceProp p{};
  if (cudaGetDeviceProperties(&p, chosen) != cudaSuccess) return "CUDA: " + runtime + "\n";
  return "CUDA: " + runtime + ", driver for " + version(driver) + ", " + p.name + " (" +
         std::to_string(p.major) + "." + std::to_string(p.minor) + "), " +
         std::to_string(p.totalGlobalMem >> 20) + " MiB\n";
}

int Cuda::use_threads(int count) {
  check(cudaSetDevice(state_->device), "selecting the device");
  return count;
}

std::string Cuda::device_id() const {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, state_->device), "querying the device");
  constexpr const char* digits = "0123456789abcdef";
  std::string id;
  for (const char byte : p.uuid.bytes) {
    id += digits[byte >> 4 & 15];
    id += digits[byte & 15];
  }
  return id;
}

bool Cuda::has_own_memory() const { return true; }

size_t Cuda::free_bytes() const {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "querying free memory");
  return free;
}

namespace {

// Ends the capture even if the work throws.
class Capture {
 public:
  explicit Capture(Cuda::State& s) : s_(s) {
    check(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    s_.capturing = true;
  }
  ~Capture() {
    if (s_.capturing)
      if (cudaGraph_t graph = end()) cudaGraphDestroy(graph);
  }
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    s_.capturing = false;
    status = cudaStreamEndCapture(s_.stream, &graph);
    return graph;
  }
  cudaError_t status = cudaSuccess;

 private:
  Cuda::State& s_;
};

}  // namespace

void Cuda::replay(int64_t key, const std::function<void()>& work) {
  State& s = *state_;
  if (s.profile) return work();
  const auto known = s.graphs.find(key);
  if (known == s.graphs.end()) {
    work();
    s.graphs[key] = nullptr;
    return;
  }
  if (known->second == nullptr) {
    Capture capture(s);
    work();
    const cudaGraph_t graph = capture.end();
    check(capture.status, "recording a graph");
    const cudaError_t status = cudaGraphInstantiate(&known->second, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "instantiating a graph");
  }
  check(cudaGraphLaunch(known->second, s.stream), "launching a graph");
}

void Cuda::forget_graphs() { state_->forget_graphs(); }

void Cuda::State::forget_graphs() {
  for (const auto& [key, graph] : graphs)
    if (graph) cudaGraphExecDestroy(graph);
  graphs.clear();
}

}  // namespace tx
