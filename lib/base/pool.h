// Objects that are expensive to make, each lent to one thread at a time.
//
//   Pool<Worker> pool([&] { return std::make_unique<Worker>(model); });
//   const auto worker = pool.lend();  // returned at the end of the scope
//   worker->work();
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tx {

template <class T>
class Pool {
 public:
  // Takes an object back; one that an exception left in an unknown state is deleted instead.
  struct Return {
    Pool* pool = nullptr;
    int exceptions = std::uncaught_exceptions();
    void operator()(T* object) const { pool->take_back(object, exceptions); }
  };
  using Lent = std::unique_ptr<T, Return>;

  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // The object that was returned last, or a new one if all are lent. The pool must outlive it.
  Lent lend() {
    std::unique_lock guard(lock_);
    if (idle_.empty()) {
      guard.unlock();
      return Lent(make_().release(), {this});
    }
    Lent lent(idle_.back().release(), {this});
    idle_.pop_back();
    return lent;
  }

 private:
  void take_back(T* object, int exceptions) {
    std::unique_ptr<T> owned(object);
    if (std::uncaught_exceptions() > exceptions) return;
    const std::lock_guard guard(lock_);
    idle_.push_back(std::move(owned));
  }

  const std::function<std::unique_ptr<T>()> make_;
  std::mutex lock_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace tx
