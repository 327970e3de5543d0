// Decoding speed of a model with random weights at a fixed output length, in target tokens a second
// of processor time (comparable on a busy machine) and of the clock; best of several runs.
// Arguments: base|small (base), precision (auto), sentences a batch (32), threads (1), beam (4),
// pieces of every source and output (30), vocabulary (8000), runs (5).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "lib/search/batch_search.h"
#include "lib/search/model_set.h"
#include "lib/text/vocabulary.h"

namespace {

tx::ModelConfig config_of(const std::string& size, int vocabulary) {
  tx::ModelConfig c;
  if (size == "small") {
    c.encoder_layers = c.decoder_layers = 4;
    c.d_model = 128, c.d_ff = 256, c.heads = 4;
  }
  c.source_vocabulary = c.target_vocabulary = vocabulary;
  c.resolve();
  return c;
}

struct Seconds {
  double processor = 1e9, clock = 1e9;
};

void measure(tx::BatchSearch& search, const std::vector<const tx::Source*>& batch, Seconds& best) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  search.run(batch, int64_t(1) << 30);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  best.processor = std::min(best.processor, double(std::clock() - processor) / CLOCKS_PER_SEC);
  best.clock = std::min(best.clock, spent.count());
}

}  // namespace

int main(int argc, char** argv) {
  const auto text = [&](int i, const char* otherwise) { return argc > i ? argv[i] : otherwise; };
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int sentences = number(3, 32), threads = number(4, 1), length = number(6, 30);
  const tx::ModelConfig config = config_of(text(1, "base"), number(7, 8000));
  const tx::DType dtype = tx::ModelSet::precision(text(2, "auto"));
  tx::Backend backend = tx::Cpu(threads);
  tx::Parameters parameters(backend, config, dtype, false);
  parameters.initialise(1);
  parameters.prepare_inference();
  const tx::Transformer transformer(backend, parameters, length + 2);
  const std::vector<const tx::Transformer*> models = {&transformer};

  tx::SearchOptions options;
  options.beam = number(5, 4);
  options.max_extra = 0;
  // Without <eos> every output has the length of its source plus one.
  tx::BatchSearch search(backend, models, dtype, options, {0, 1, 2, tx::Vocabulary::eos});
  std::vector<tx::Source> sources(static_cast<size_t>(sentences));
  std::vector<const tx::Source*> batch;
  for (size_t s = 0; s < sources.size(); ++s) {
    for (int i = 1; i < length; ++i) {
      sources[s].ids.push_back(
          int(4 + (s * 7919 + size_t(i) * 104729) % size_t(config.source_vocabulary - 4)));
    }
    batch.push_back(&sources[s]);
  }
  Seconds best;
  measure(search, batch, best);
  best = {};
  for (int i = 0; i < number(8, 5); ++i) measure(search, batch, best);
  const double tokens = double(sentences) * length;
  std::printf("%s %s batch %d beam %d threads %d: %.0f tokens a processor second, %.0f tokens/s\n",
              text(1, "base"), dtype == tx::DType::bf16 ? "bf16" : "fp32", sentences, options.beam,
              threads, tokens / best.processor, tokens / best.clock);
}
