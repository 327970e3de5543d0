// Work that is recorded once and launched again where the backend can do that (CUDA graphs, see
// replay() in kernels/interface.inc), and simply run where it cannot.
#pragma once
#include <functional>

#include "kernels/backend.h"

namespace tx {

inline bool replays(Backend& backend) { return backend->has_own_memory(); }

// Runs `work`, or launches what it launched before with the same key.
inline void replay(Backend& backend, int64_t key, const std::function<void()>& work) {
  backend->replay(key, work);
}

// To be called when memory that recorded work uses has moved.
inline void forget_graphs(Backend& backend) { backend->forget_graphs(); }

}  // namespace tx
