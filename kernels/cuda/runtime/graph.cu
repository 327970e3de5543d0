#include "kernels/cuda/runtime/state.h"

namespace tx {

namespace {

// Ends the capture even when the work throws.
class Capture {
 public:
  explicit Capture(Cuda::State& s) : s_(s) {
    check(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    s_.capturing = true;
  }
  ~Capture() {
    if (s_.capturing) end();
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
    check(status, "preparing a graph");
  }
  check(cudaGraphLaunch(known->second, s.stream), "starting a graph");
}

void Cuda::forget_graphs() { state_->forget_graphs(); }

void Cuda::State::forget_graphs() {
  for (const auto& [key, graph] : graphs)
    if (graph) cudaGraphExecDestroy(graph);
  graphs.clear();
}

}  // namespace tx
