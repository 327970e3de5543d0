#include "lib/train/run/saver.h"

#include <utility>

#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {

namespace {

bool has_own_memory(const Parameters& p) { return p.backend()->has_own_memory(); }

}  // namespace

Saver::Saver(const Parameters& parameters, Gather gather)
    : parameters_(parameters), gather_(std::move(gather)) {
  if (!has_own_memory(parameters)) return;
  reader_ = std::make_unique<Backend>(make_backend("cuda", 1));
  copy_ = std::make_unique<Parameters>(*reader_, parameters);
}

Saver::~Saver() {
  if (thread_.joinable()) thread_.join();
}

size_t Saver::bytes(const Parameters& parameters) {
  const Matrix& block = parameters.master();
  return has_own_memory(parameters) ? 3 * size_t(block.cols) * size_of(block.dtype) : 0;
}

void Saver::begin(Write write) {
  TX_ASSERT(done_ && !thread_.joinable() && !failure_.happened());
  const Moments moments = gather_ ? gather_() : parameters_.moments();
  if (copy_) copy_->take(parameters_, moments);
  done_ = false;  // from here on nothing throws: what fails is kept for finish()
  if (!copy_) return run(write, parameters_, moments);
  try {
    thread_ = start_thread(failure_, [this, write] { run(write, *copy_, copy_->moments()); });
  } catch (const Error&) {  // training waits instead
    run(write, *copy_, copy_->moments());
  }
}

void Saver::run(const Write& write, const Parameters& from, const Moments& moments) {
  failure_.run([&] {
    if (reader_) set_threads(*reader_, 1);  // of this thread
    write(from, moments);
  });
  done_ = true;
}

void Saver::finish() {
  if (thread_.joinable()) thread_.join();
  failure_.rethrow();
}

}  // namespace tx
