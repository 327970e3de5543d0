// Writes checkpoints beside the training. Where the device has memory of its own, a save begins
// with a copy there (12 bytes a parameter), which takes about a millisecond; a thread then reads
// and writes the copy while training goes on. Elsewhere the parameters themselves are written, at
// once.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "lib/base/first_error.h"
#include "lib/model/parameters.h"

namespace tx {

class Saver {
 public:
  // The moments are whole blocks.
  using Write = std::function<void(const Parameters& parameters, const Moments& moments)>;
  // The moments of all ranks, which stay as they are until training goes on.
  using Gather = std::function<Moments()>;

  // Takes the memory of the copy; throws Error when it is refused. `parameters` must outlive it.
  // Without `gather` the parameters hold all moments.
  explicit Saver(const Parameters& parameters, Gather gather = {});
  ~Saver();  // lets the save under way end; how it ended is lost
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Bytes of the device that a Saver of these parameters takes.
  static size_t bytes(const Parameters& parameters);

  // Has `write` called with the parameters as they are now. The save before must have been
  // finished. Where this throws (the moments or the copy could not be made), `write` was not called
  // and finish() has nothing to wait for.
  void begin(Write write);
  // Whether finish() would return without waiting.
  bool done() const { return done_; }
  // Waits for the save begun last, and throws what its `write` threw.
  void finish();

 private:
  void run(const Write& write, const Parameters& from, const Moments& moments);

  const Parameters& parameters_;
  Gather gather_;
  std::unique_ptr<Backend> reader_;   // the same device through a stream of its own
  std::unique_ptr<Parameters> copy_;  // null: the parameters themselves are written
  std::thread thread_;
  std::atomic<bool> done_ = true;
  FirstError failure_;
};

}  // namespace tx
