#include "lib/checkpoint/saver.h"

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
  reader_ = std::make_unique<Backend>(make_backend(Device::cuda, 1));
  copy_.reset(
      new Parameters(Parameters::for_saving(*reader_, parameters.config(), parameters.dtype())));
}

Saver::~Saver() {
  if (thread_.joinable()) thread_.join();
}

size_t Saver::bytes(const Parameters& parameters) {
  const Matrix& block = parameters.fp32_weights();
  return has_own_memory(parameters) ? 3 * size_t(block.cols) * size_of(block.dtype) : 0;
}

void Saver::begin(Write write) {
  TX_ASSERT(done_ && !thread_.joinable() && !failure_.happened());
  const OptimizerState optimizer = gather_ ? gather_() : parameters_.optimizer_state();
  if (copy_) copy_->take(parameters_, optimizer);
  done_ = false;  // from here on nothing throws: finish() rethrows
  if (!copy_) return run(write, parameters_, optimizer);
  try {
    thread_ =
        start_thread(failure_, [this, write] { run(write, *copy_, copy_->optimizer_state()); });
  } catch (const Error&) {  // no thread: training waits instead
    run(write, *copy_, copy_->optimizer_state());
  }
}

void Saver::run(const Write& write, const Parameters& from, const OptimizerState& optimizer) {
  failure_.run([&] {
    if (reader_) set_threads(*reader_, 1);  // of this thread
    write(from, optimizer);
  });
  done_ = true;
}

void Saver::finish() {
  if (thread_.joinable()) thread_.join();
  failure_.rethrow();
}

}  // namespace tx
