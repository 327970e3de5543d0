// The emulated device: streams, graphs, events, and CUDA's runtime API. run.cpp runs the blocks.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/emulator/cuda_runtime.h"
#include "tests/emulator/device_memory.h"

struct EmulatedGraph {
  std::vector<std::function<void()>> work;
};
struct EmulatedStream {
  std::unique_ptr<EmulatedGraph> capture;
  EmulatedStream* origin = nullptr;           // of whose capture this one is a branch
  std::deque<std::function<bool()>> waiting;  // false: not finished, call it again
  int device = 0;
};
struct EmulatedEvent {
  double seconds = 0;
  EmulatedStream* stream = nullptr;
  bool captured = false;          // the last record
  int recorded = 0, reached = 0;  // records outside captures, and how many the stream has reached
};

namespace emulator {
namespace {

// Queued work runs only when the host synchronises with its stream, as on a device that is far
// behind, so that a premature read finds the old bytes. When the host waits for all streams, the
// newest runs first, so that streams are not in the right order by chance.
struct Device {
  std::recursive_mutex mutex;
  DeviceMemory memory;
  EmulatedStream standard;
  std::deque<EmulatedStream*> streams{&standard};  // newest first
  std::map<const char*, size_t> pinned;            // start, bytes
  long long allocations_left =
      static_cast<long long>(setting("TX_EMULATED_ALLOCATIONS", size_t(1) << 60));
  cudaError_t last = cudaSuccess;

  EmulatedStream& stream(cudaStream_t s) { return s ? *s : standard; }
  bool try_one(EmulatedStream& s) {
    DeviceMemory::Access access(memory);
    auto work = std::move(s.waiting.front());
    s.waiting.pop_front();
    const bool done = work();
    if (!done) s.waiting.push_front(std::move(work));
    return done;
  }
  void run_one(EmulatedStream& s) {
    while (!try_one(s)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void flush(EmulatedStream& s) {
    DeviceMemory::Access access(memory);
    while (!s.waiting.empty()) run_one(s);
  }
  void flush(const EmulatedEvent& e, int record) {
    DeviceMemory::Access access(memory);
    while (e.reached < record) run_one(*e.stream);
  }
  void flush() {
    for (EmulatedStream* s : streams)
      if (!s->waiting.empty()) flush(*s);
  }
};

Device& device() {
  static Device& d = *new Device;  // never destroyed: static objects may free memory at exit
  return d;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool capturing(cudaStream_t stream) { return stream && stream->capture; }

cudaError_t fail(cudaError_t error) { return device().last = error; }

thread_local int current_device = 0;

// Calls by kind since the process started.
std::map<std::string, long long>& calls() {
  static auto& all = *new std::map<std::string, long long>;
  return all;
}
void count(const char* kind, long long more = 1) {
  const std::lock_guard lock(device().mutex);
  calls()[kind] += more;
}
// Recorded work counts as nodes of the graphs that are launched.
void count(const char* kind, cudaStream_t stream) {
  if (!capturing(stream)) count(kind);
}

}  // namespace

void enqueue(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(device().mutex);
  if (capturing(stream)) return stream->capture->work.push_back(std::move(work));
  enqueue_polled(stream, [work = std::move(work)] { return work(), true; });
}

void enqueue_polled(cudaStream_t stream, std::function<bool()> work) {
  const std::lock_guard lock(device().mutex);
  device().stream(stream).waiting.push_back(std::move(work));
  if (device().stream(stream).waiting.size() > 4096) device().flush(device().stream(stream));
}

bool is_device_memory(const void* data, size_t bytes) {
  const std::lock_guard lock(device().mutex);
  return device().memory.holds(data, bytes);
}

bool may_launch(cudaStream_t stream) {
  const std::lock_guard lock(device().mutex);
  count("kernel", stream);
  const bool own = device().stream(stream).device == current_device;
  if (!own) fail(cudaErrorInvalidResourceHandle);
  return own;
}

}  // namespace emulator

// For tests: kernel, graph, node, copy, wait, event, allocation or recording.
extern "C" long long emulated_calls(const char* kind) {
  const std::lock_guard lock(emulator::device().mutex);
  return emulator::calls()[kind];
}

using emulator::device;
using Lock = std::lock_guard<std::recursive_mutex>;

cudaError_t cudaGetLastError() {
  const Lock lock(device().mutex);
  return std::exchange(device().last, cudaSuccess);
}
cudaError_t cudaGetDeviceCount(int* count) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = visible && !*visible ? 0 : int(emulator::setting("TX_EMULATED_GPUS", 1));
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int number) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (number < 0 || number >= count) return emulator::fail(cudaErrorInvalidDevice);
  emulator::current_device = number;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* number) {
  *number = emulator::current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int number) {
  *p = {"emulated on the CPU",
        {{'e', 'm', 'u', 'l', 'a', 't', 'e', 'd', char(number)}},
        device().memory.size(),
        emulator::setting("TX_EMULATED_SHARED", 227 * 1024),
        8,
        9,
        0};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  *value = attribute == cudaDevAttrMultiProcessorCount ? p.multiProcessorCount
           : attribute == cudaDevAttrL2CacheSize       ? 1 << 16
                                                       : int(p.sharedMemPerBlockOptin);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* v) {
  *v = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* v) { return cudaDriverGetVersion(v); }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const Lock lock(device().mutex);
  *free = device().memory.free_bytes();
  *total = device().memory.size();
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** data, size_t bytes) {
  emulator::count("allocation");
  const Lock lock(device().mutex);
  device().flush();
  *data = device().allocations_left-- > 0 ? device().memory.allocate(bytes) : nullptr;
  return *data ? cudaSuccess : emulator::fail(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* data) {
  if (data) emulator::count("allocation");
  const Lock lock(device().mutex);
  device().flush();  // cudaFree waits for the device
  if (!data) return cudaSuccess;
  return device().memory.release(data) ? cudaSuccess : emulator::fail(cudaErrorInvalidValue);
}
cudaError_t cudaMallocHost(void** data, size_t bytes) {
  emulator::count("allocation");
  const Lock lock(device().mutex);
  *data = std::malloc(std::max<size_t>(bytes, 1));
  device().pinned[static_cast<char*>(*data)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  emulator::count("allocation");
  const Lock lock(device().mutex);
  device().flush();
  device().pinned.erase(static_cast<char*>(data));
  std::free(data);
  return cudaSuccess;
}

// Host memory, even pageable, is read and written when the copy runs, as where a GPU accesses it
// by itself (HMM, GH200).
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Lock lock(device().mutex);
  emulator::count("copy", stream);
  const bool to_device = device().memory.owns(to), from_device = device().memory.owns(from);
  if ((kind == cudaMemcpyHostToDevice && (!to_device || from_device)) ||
      (kind == cudaMemcpyDeviceToHost && (to_device || !from_device)) ||
      (kind == cudaMemcpyDeviceToDevice && !(to_device && from_device)))
    return emulator::fail(cudaErrorInvalidValue);
  const auto is_pinned = [](const void* p) {
    const char* at = static_cast<const char*>(p);
    auto block = device().pinned.upper_bound(at);
    return block != device().pinned.begin() && at < (--block)->first + block->second;
  };
  const bool pageable = (!to_device && !is_pinned(to)) || (!from_device && !is_pinned(from));
  if (pageable && emulator::capturing(stream))
    return emulator::fail(cudaErrorStreamCaptureUnsupported);
  emulator::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  emulator::count("copy", stream);
  emulator::enqueue(stream, [=] { std::memset(data, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  emulator::count("wait");
  const Lock lock(device().mutex);
  device().flush();
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const Lock lock(device().mutex);
  *stream = new EmulatedStream;
  (*stream)->device = emulator::current_device;
  device().streams.push_front(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(device().mutex);
  device().flush();
  std::erase(device().streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  emulator::count("wait");
  if (emulator::capturing(stream)) return emulator::fail(cudaErrorStreamCaptureUnsupported);
  const Lock lock(device().mutex);
  device().flush(device().stream(stream));
  return cudaSuccess;
}
// Each query runs one queued item, so that polling ends but no work runs earlier than needed.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  emulator::count("wait");
  if (emulator::capturing(stream)) return emulator::fail(cudaErrorStreamCaptureUnsupported);
  const Lock lock(device().mutex);
  EmulatedStream& s = device().stream(stream);
  if (!s.waiting.empty()) device().try_one(s);
  return s.waiting.empty() ? cudaSuccess : emulator::fail(cudaErrorNotReady);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status =
      emulator::capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Lock lock(device().mutex);
  EmulatedStream &to = device().stream(stream), *from = event->stream;
  if (!event->captured || !from || !from->capture) {
    emulator::enqueue(stream, [=, record = event->recorded] { device().flush(*event, record); });
  } else if (!to.capture) {
    to.capture = std::make_unique<EmulatedGraph>();
    to.origin = from->origin ? from->origin : from;
  } else if (from->origin == &to) {  // a branch runs as late as possible: where it is joined
    for (auto& work : from->capture->work) to.capture->work.push_back(std::move(work));
    from->capture.reset();
    from->origin = nullptr;
  }
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->capture = std::make_unique<EmulatedGraph>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = stream->capture.release();
  bool joined = true;
  for (EmulatedStream* s : device().streams) {
    if (s->origin != stream) continue;
    s->capture.reset();
    s->origin = nullptr;
    joined = false;
  }
  if (!joined) {
    delete std::exchange(*graph, nullptr);
    return emulator::fail(cudaErrorStreamCaptureUnjoined);
  }
  return *graph ? cudaSuccess : emulator::fail(cudaErrorInvalidValue);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  emulator::count("recording");
  *exec = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  emulator::count("graph");
  emulator::count("node", static_cast<long long>(exec->work.size()));
  for (const auto& work : exec->work) emulator::enqueue(stream, work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return cudaGraphDestroy(exec); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  cudaDeviceSynchronize();
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  emulator::count("event", stream);
  const Lock lock(device().mutex);
  event->stream = &device().stream(stream);
  event->captured = emulator::capturing(stream);
  const bool counted = !event->captured;
  event->recorded += counted;
  emulator::enqueue(stream, [=] {
    event->seconds = emulator::now();
    event->reached += counted;
  });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  emulator::count("wait");
  const Lock lock(device().mutex);
  device().flush(*event, event->recorded);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = float((to->seconds - from->seconds) * 1000);
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int bytes) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  return size_t(bytes) <= p.sharedMemPerBlockOptin ? cudaSuccess
                                                   : emulator::fail(cudaErrorInvalidValue);
}
