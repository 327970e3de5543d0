// Decoding speed of a model with random weights at a fixed output length, in target tokens per
// second of CPU time (comparable on a busy machine) and of wall-clock time; best of several runs.
// On a GPU also a lower bound of the time: that of moving weights, keys and cache at the rate of a
// copy, or of the products at the rate of a large one, both measured in the same run.
//
// Arguments: base|small (base), precision (auto), sentences per batch (32), threads (1), beam (4),
// tokens of every source and output (30), vocabulary (8000), runs (5), cpu|cuda (cpu), length of
// each sentence's shortlist (0: none; half of its tokens are common to all sentences), workers (1).
// Sentences and workers may be lists, such as 1,32,1024: every combination is measured. Each number
// of sentences also gives the time of a step of the decoder without search. Each worker translates
// its own batches: tx-decode has two on a GPU, of which one waits for it while the other does the
// host's part. The runs of several workers overlap; their mean is printed.
// Status 77: the device cannot be used.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/workers.h"
#include "lib/model/config.h"
#include "lib/model/incremental_decoder.h"
#include "lib/search/engine/batch_search.h"
#include "lib/search/engine/model_set.h"
#include "lib/subword/vocabulary.h"
#include "tests/model_support.h"
#if TX_HAVE_CUDA
#include "kernels/cuda.h"
#include "kernels/cuda/runtime/clock.h"
#endif

namespace {

tx::ModelConfig config_of(const std::string& size, int vocabulary) {
  tx::ModelConfig c;
  if (size == "small") {
    c.set_layers(4);
    c.d_model = 128, c.d_ff = 256, c.heads = 4;
  }
  c.set_vocabularies(vocabulary);
  c.resolve();
  return c;
}

struct Seconds {
  double processor = 1e9, clock = 1e9;
};

using Batch = std::vector<const tx::Source*>;

struct Worker {
  tx::Backend backend;
  tx::BatchSearch search;
  template <class... Rest>
  Worker(tx::Device device, int threads, const Rest&... rest)
      : backend(tx::make_backend(device, threads)), search(backend, rest...) {}
};

Seconds measure(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {double(std::clock() - processor) / CLOCKS_PER_SEC, spent.count()};
}

// The best of `runs` runs after a first one.
Seconds alone(tx::BatchSearch& search, const Batch& batch, int runs) {
  const auto run = [&] { search.run(batch, int64_t(1) << 30); };
  run();
  Seconds best;
  for (int i = 0; i < runs; ++i) {
    const Seconds one = measure(run);
    best.processor = std::min(best.processor, one.processor);
    best.clock = std::min(best.clock, one.clock);
  }
  return best;
}

// The mean time of a batch if every search has its own thread and runs `runs` times after a first.
Seconds together(std::deque<Worker>& workers, int kernel_threads, const Batch& batch, int runs) {
  const auto count = std::ptrdiff_t(workers.size());
  std::latch ready(count + 1);
  tx::FirstError failure;
  std::vector<std::thread> threads;
  for (Worker& worker : workers)
    threads.push_back(tx::start_thread(failure, [&] {
      tx::set_threads(worker.backend, kernel_threads);
      worker.search.run(batch, int64_t(1) << 30);
      ready.arrive_and_wait();
      for (int i = 0; i < runs; ++i) worker.search.run(batch, int64_t(1) << 30);
    }));
  ready.arrive_and_wait();
  Seconds all = measure([&] {
    for (std::thread& thread : threads) thread.join();
    failure.rethrow();
  });
  all.processor /= double(runs) * double(count);
  all.clock /= double(runs) * double(count);
  return all;
}

// Lower bounds of bytes and FLOPs for sentences of one length. A step reads the decoder's weights,
// the cached keys and values of every row and, once per sentence, those of its source.
struct Floor {
  double bytes = 0, flops = 0;
};

Floor floor_of(const tx::ModelConfig& c, double sentences, double beam, double length,
               double element) {
  const double d = c.d_model, ffn = 2 * d * c.d_ff, layers = c.sides.back().layers;
  const double encoder = c.sides.front().layers * (4 * d * d + ffn), memory = layers * 2 * d * d;
  const double decoder = layers * (6 * d * d + ffn) + d * double(c.target().vocabulary);
  const double source_tokens = sentences * length;
  double rows = 0, keys = 0;  // sums over steps; keys: tokens whose keys and values are read
  for (double step = 0; step < length; ++step) {
    const double now = sentences * (step > 0 ? beam : 1);
    rows += now;
    keys += now * (step + 1) + sentences * length;
  }
  Floor f;
  f.bytes = element * (encoder + memory + length * decoder + keys * layers * 2 * d);
  f.flops = 2 * (source_tokens * (encoder + memory) + rows * decoder);
  return f;
}

// Bytes and FLOPs per second that this device reaches.
struct Ceilings {
  double copy = 0, products = 0;
};

#if TX_HAVE_CUDA
// n: rows of the large product; few for an emulated GPU.
Ceilings ceilings_of(tx::Backend& backend, tx::DType dtype, int64_t n) {
  tx::Cuda* cuda = dynamic_cast<tx::Cuda*>(backend.get());
  if (!cuda) return {};
  const auto best = [&](const std::function<void()>& work) {
    double min = 1e9;
    for (int i = 0; i < 5; ++i) min = std::min(min, tx::seconds_on_gpu(*cuda, work));
    return min;
  };
  const size_t bytes = size_t(n * n) * 4;
  void* memory[] = {cuda->allocate(bytes), cuda->allocate(bytes), cuda->allocate(bytes)};
  std::vector<uint16_t> noise(bytes / 2);  // small numbers in either type
  uint32_t state = 1;
  for (uint16_t& x : noise)
    x = uint16_t(0x3c00 | ((state = state * 1664525 + 1013904223) >> 16 & 0x83ff));
  for (void* block : memory) cuda->upload(block, noise.data(), bytes);
  Ceilings c;
  c.copy = 2 * double(bytes) / best([&] { tx::copy_on_gpu(*cuda, memory[0], memory[1], bytes); });
  tx::Product p;
  p.a = tx::matrix(memory[0], dtype, n, n), p.b = tx::matrix(memory[1], dtype, n, n);
  p.c = tx::matrix(memory[2], dtype, n, n), p.transpose_b = true;
  cuda->plan_product(p);
  c.products = 2 * double(n) * double(n) * double(n) / best([&] { cuda->product(p); });
  for (void* block : memory) cuda->release(block);
  return c;
}
#else
Ceilings ceilings_of(tx::Backend&, tx::DType, int64_t) { return {}; }
#endif

void print_share(const Floor& floor, const Ceilings& c, double seconds) {
  if (c.copy == 0) return;
  const double moving = floor.bytes / c.copy, multiplying = floor.flops / c.products;
  std::printf(
      "  floor %.2f ms (bytes %.2f at %.0f GB/s, products %.2f at %.0f TFLOP/s), measured "
      "%.2f ms: %.0f %% of the floor's speed\n",
      1e3 * std::max(moving, multiplying), 1e3 * moving, c.copy * 1e-9, 1e3 * multiplying,
      c.products * 1e-12, 1e3 * seconds, 100 * std::max(moving, multiplying) / seconds);
}

// The mean seconds of a step of `beam` rows per sentence whose logits are not read, from the sixth
// step on (a GPU then replays a recorded one), best of three.
double step_alone(tx::Backend& backend, const tx::Transformer& transformer, tx::DType dtype,
                  const Batch& batch, int beam, int64_t steps) {
  constexpr int64_t untimed = 5;
  tx::IncrementalDecoder::Sources sources;
  tx::IncrementalDecoder::Capacity capacity;
  for (const tx::Source* source : batch) {
    sources.push_back(source->ids);
    sources.back().push_back(tx::Vocabulary::eos);
    capacity.source_rows += int64_t(sources.back().size());
  }
  const int64_t count = int64_t(sources.size());
  capacity.rows = count * beam, capacity.steps = steps, capacity.cache_rows = count * beam * steps;
  tx::IncrementalDecoder decoder(backend, transformer, dtype);
  std::vector<tx::IncrementalDecoder::Row> first, rows;
  for (int32_t s = 0; s < int32_t(count); ++s) {
    first.push_back({s, -1, tx::Vocabulary::bos});
    for (int b = 0; b < beam; ++b) rows.push_back({s, s, tx::Vocabulary::specials});
  }
  double best = 1e9;
  for (int run = 0; run < 3 && steps > untimed; ++run) {
    decoder.open(capacity);
    decoder.admit(sources, std::vector<int64_t>(size_t(count), steps), beam);
    decoder.step(first);
    std::vector<tx::IncrementalDecoder::Row> next = rows;
    const auto step = [&] {
      decoder.step(next);
      for (size_t r = 0; r < next.size(); ++r) next[r].parent = int32_t(r);
    };
    for (int64_t i = 1; i < untimed; ++i) step();
    backend->wait();
    best = std::min(best, measure([&] {
                            for (int64_t i = untimed; i < steps; ++i) step();
                            backend->wait();
                          }).clock /
                              double(steps - untimed));
  }
  return best;
}

// A list of `tokens` tokens, ascending; half of them are common to all sentences.
std::vector<int32_t> list_of(const tx::Source& source, int64_t tokens, int64_t vocabulary) {
  std::vector<bool> held(static_cast<size_t>(vocabulary));
  int64_t left = std::min(tokens, vocabulary - tx::Vocabulary::specials);
  for (uint32_t draw = uint32_t(source.line), next = tx::Vocabulary::specials; left > 0;) {
    draw = draw * 1664525 + 1013904223;
    const size_t id = left > tokens / 2
                          ? next++
                          : tx::Vocabulary::specials +
                                (draw >> 8) % size_t(vocabulary - tx::Vocabulary::specials);
    if (held[id]) continue;
    held[id] = true;
    --left;
  }
  std::vector<int32_t> out;
  for (size_t id = 0; id < held.size(); ++id)
    if (held[id]) out.push_back(int32_t(id));
  return out;
}

// The numbers of a list such as 1,32; all at least 1.
std::vector<int> numbers_of(const char* text) {
  std::vector<int> out;
  for (const char* at = text; at; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    out.push_back(std::max(1, std::atoi(at)));
  }
  return out;
}

std::vector<tx::Source> sources_of(int sentences, int length, int64_t vocabulary) {
  std::vector<tx::Source> sources(static_cast<size_t>(sentences));
  for (size_t s = 0; s < sources.size(); ++s) {
    for (int i = 1; i < length; ++i)
      sources[s].ids.push_back(int(4 + (s * 7919 + size_t(i) * 104729) % size_t(vocabulary - 4)));
    sources[s].line = int64_t(s) + 1;
  }
  return sources;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto text = [&](int i, const char* otherwise) { return argc > i ? argv[i] : otherwise; };
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int threads = number(4, 1), length = number(6, 30), runs = number(8, 5);
  const tx::ModelConfig config = config_of(text(1, "base"), number(7, 8000));
  const tx::Named<tx::Device> device = tx::value_of_name<tx::Device>(text(9, "cpu"));
  const std::string precision = text(2, "auto");
  const tx::DType weights = precision != "auto" ? tx::value_of_name<tx::DType>(precision)
                                                : tx::auto_precision(device).dtype;
  tx::Backend backend = tx::make_backend(device, threads);
  tx::Backend host = tx::make_backend(tx::Device::cpu, 1);
  tx::Parameters random = tx::Parameters::only_weights(host, config, tx::DType::f32);
  random.initialise(1);
  tx::Parameters parameters =
      tx::Parameters::for_inference(backend, config, weights, tx_test::Fp32Source(random));
  const tx::DType dtype = parameters.dtype();
  const tx::Transformer transformer(backend, parameters, length + 2);
  const std::vector<const tx::Transformer*> models = {&transformer};

  tx::SearchOptions options;
  options.beam = number(5, 4);
  options.max_extra = 0;
  // Without <eos> every output has the length of its source plus one.
  const std::vector<int> forbidden = {0, 1, 2, tx::Vocabulary::eos};
  const int64_t listed = number(10, 0), vocabulary = config.target().vocabulary;
  const double element = double(size_of(dtype));
  const Ceilings ceilings = ceilings_of(backend, dtype, config.d_model < 512 ? 256 : 4096);
  const std::vector<int> counts = numbers_of(text(11, "1"));
  for (const int sentences : numbers_of(text(3, "32"))) {
    const std::vector<tx::Source> sources =
        sources_of(sentences, length, config.sides.front().vocabulary);
    Batch batch;
    for (const tx::Source& source : sources) batch.push_back(&source);
    for (const int workers : counts) {
      std::deque<Worker> team;
      for (int i = 0; i < workers; ++i) {
        team.emplace_back(device, threads, models, dtype, options, forbidden);
        if (listed > 0)
          team.back().search.list_by(
              [=](const tx::Source& s) { return list_of(s, listed, vocabulary); });
      }
      const Seconds best = workers == 1 ? alone(team.front().search, batch, runs)
                                        : together(team, threads, batch, runs);
      const double tokens = double(sentences) * length;
      std::printf(
          "%s %s %s batch %d beam %d threads %d workers %d: %.0f tokens per CPU second, %.0f "
          "tokens/s\n",
          text(1, "base"), dtype == tx::DType::bf16 ? "bf16" : "fp32", device.name.c_str(),
          sentences, options.beam, threads, workers, tokens / best.processor, tokens / best.clock);
      print_share(floor_of(config, sentences, options.beam, length, element), ceilings, best.clock);
    }
    const double step = step_alone(backend, transformer, dtype, batch, options.beam, length);
    if (step < 1e9)
      std::printf("  step of %d rows: %.1f us\n", sentences * options.beam, 1e6 * step);
    std::fflush(stdout);
  }
  return 0;
} catch (const tx::UsageError& error) {
  std::fprintf(stderr, "skipped: %s\n", error.what());
  return 77;
}
