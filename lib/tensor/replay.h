// Work that is recorded once and launched again where the backend can do that (CUDA graphs, see
// replay() in kernels/interface.inc), and simply run where it cannot.
#pragma once
#include <functional>

#include "kernels/backend.h"

namespace tx {

inline bool replays(Backend& backend) {
  return on(backend, [](auto& k) { return k.has_own_memory(); });
}

// Runs `work`, or launches what it launched before with the same key.
inline void replay(Backend& backend, int64_t key, const std::function<void()>& work) {
  on(backend, [&](auto& k) { k.replay(key, work); });
}

// To be called when memory that recorded work uses has moved.
inline void forget_graphs(Backend& backend) {
  on(backend, [](auto& k) { k.forget_graphs(); });
}

}  // namespace tx
