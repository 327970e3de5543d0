// Writing parameters to a file, on a GPU while training continues.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "lib/base/first_error.h"
#include "lib/model/parameters.h"

namespace tx {

// On a GPU a save runs in the background: it begins with a copy in GPU memory (12 bytes per
// parameter, about a millisecond), which a thread writes to the file while training continues. On
// the CPU the parameters themselves are written, before training continues.
class Saver {
 public:
  // The optimizer state is passed as whole blocks, not as shards.
  using Write = std::function<void(const Parameters& parameters, const OptimizerState& optimizer)>;
  // Collects the optimizer state of all ranks; it must stay unchanged until the next step.
  using Gather = std::function<OptimizerState()>;

  // Allocates the copy; throws Error if that fails. `parameters` must outlive it. Without
  // `gather` the parameters hold the whole optimizer state.
  explicit Saver(const Parameters& parameters, Gather gather = {});
  ~Saver();  // waits for the save in progress; its errors are discarded
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Device memory of a Saver of these parameters, in bytes.
  static size_t bytes(const Parameters& parameters);

  // Calls `write` with the parameters as they are now. The previous save must have been finished.
  // If this throws (gather or copy failed), `write` was not called and there is nothing to
  // finish().
  void begin(Write write);
  // Whether finish() would return without waiting.
  bool done() const { return done_; }
  // Waits for the save begun last, and throws what its `write` threw.
  void finish();

 private:
  void run(const Write& write, const Parameters& from, const OptimizerState& optimizer);

  const Parameters& parameters_;
  Gather gather_;
  std::unique_ptr<Backend> reader_;   // the same device, on a stream of its own
  std::unique_ptr<Parameters> copy_;  // null: the parameters themselves are written
  std::thread thread_;
  std::atomic<bool> done_ = true;
  FirstError failure_;
};

}  // namespace tx
