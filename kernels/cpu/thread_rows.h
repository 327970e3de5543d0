// Scratch memory of the threads of a parallel region, taken before it begins: an exception that
// leaves the region ends the process.
#pragma once
#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdint>
#include <memory>

namespace tx {

// Of the caller in its team, from 0.
inline int thread_number() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

// `count` elements for each of `threads`, not initialised.
template <class T>
class ThreadRows {
 public:
  ThreadRows(int threads, int64_t count)
      : stride_((size_t(count) + line - 1) / line * line),
        rows_(std::make_unique_for_overwrite<T[]>(size_t(threads) * stride_)) {}
  T* mine() const { return rows_.get() + size_t(thread_number()) * stride_; }

 private:
  static constexpr size_t line = 64 / sizeof(T);  // threads share no line of the cache but the ends
  size_t stride_;
  std::unique_ptr<T[]> rows_;
};

}  // namespace tx
