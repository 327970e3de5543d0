// Work that is recorded and launched again where the backend can do that (CUDA graphs; see
// kernels/cuda.h), and simply done where it cannot.
#pragma once
#include <functional>

#include "kernels/backend.h"

namespace tx {

inline bool replays(Backend& backend) {
  return on(backend, [](auto& k) { return k.apart(); });
}

// Runs `work`, or launches what it launched before with the same key.
inline void replay(Backend& backend, int64_t key, const std::function<void()>& work) {
  on(backend, [&](auto& k) { k.replay(key, work); });
}

// To be called where something that recorded work has used moves.
inline void forget_graphs(Backend& backend) {
  on(backend, [](auto& k) { k.forget_graphs(); });
}

}  // namespace tx
