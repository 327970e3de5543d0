#include "lib/train/plan/memory.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/saver.h"

namespace tx {

size_t plan_activations(const PlannedRun& run, const std::vector<int>& capacities) {
  return held_bytes(
      Stepper::plan(run.backend, run.parameters, run.transformer, run.options, capacities));
}

MemoryPlan plan_memory(const PlannedRun& run, const std::vector<int>& capacities) {
  const auto& [backend, parameters, transformer, options, rest, ranks] = run;
  const int accumulate = options.accumulate;
  MemoryPlan m;
  const bool own_memory = backend->has_own_memory();
  m.translating = rest.translating;
  m.program = own_memory ? 0 : rest.program;  // host memory, not the GPU's
  const size_t elements = size_t(parameters.fp32_weights().cols);
  const size_t full = size_of(parameters.fp32_weights().dtype);
  m.parameters = m.gradients = held_bytes(elements * full);
  m.optimizer_state = 2 * held_bytes(size_t(parameters.moment1().cols) * full);
  if (options.optimizer == Optimizer::muon) m.update = held_bytes(Muon::bytes(parameters));
  const int sums = ranks > 1 ? RankSum::blocks(accumulate, ranks) : TreeSum::levels(accumulate);
  m.sums = size_t(sums) * held_bytes(elements * full);
  if (ranks > 1) m.sums += RankSum::exchange_bytes(accumulate, parameters.division(), full);
  m.saving = Saver::bytes(parameters);
  m.bf16_weights =
      parameters.bf16_weights().empty() ? 0 : held_bytes(elements * size_of(DType::bf16));
  m.activations = plan_activations(run, capacities);
  m.scratch = backend->scratch_bytes();
  size_t rows = 0;
  for (int capacity : capacities) rows += size_t(capacity);
  // Estimates in 32-bit integers per row. DeviceBatch has ids, rows by id, pair and position for
  // each pass, and for alignments a start and about 4 columns, all in host and device memory. The
  // packed batches are those of this step and of the next.
  const size_t uploaded = 4 * size_t(options.passes()) + (options.guided_alignment.empty() ? 0 : 5);
  const size_t packed = 2 * size_t(accumulate);
  m.batch = rows * 2 * sizeof(int32_t) * (uploaded + packed);
  const ModelConfig& config = transformer.config();
  const int64_t width = config.sinusoids() ? config.d_model : config.rotary() ? config.d_k : 0;
  m.batch += size_t(transformer.longest() * width) * full;
  return m;
}

Batch worst_batch(const PairLengths& lengths, const std::vector<int>& capacities, int growth) {
  Batch batch;
  batch.sentences = 1;
  for (int s = 0; s < lengths.sides(); ++s) {
    const int rows = growth * lengths.longest(s) + 1, capacity = capacities[size_t(s)];
    batch.sentences = std::max(batch.sentences, (capacity + rows - 1) / rows);
  }
  for (const int capacity : capacities) batch.sentences = std::min(batch.sentences, capacity);
  for (int s = 0; s < lengths.sides(); ++s) {
    const int capacity = capacities[size_t(s)], rows = growth * lengths.longest(s) + 1;
    BatchSide side;
    side.ids.assign(size_t(capacity), Vocabulary::eos);
    side.pair.assign(size_t(capacity), dummy_pair);
    side.offsets.push_back(0);
    for (int i = 1; i <= batch.sentences;
         ++i) {  // every sentence gets at least one row on each side
      const int first = side.offsets.back(), max = capacity - (batch.sentences - i);
      side.offsets.push_back(i == batch.sentences ? capacity : std::min(first + rows, max));
      for (int row = first; row < side.offsets.back(); ++row)
        side.position.push_back(uint32_t(row - first));
    }
    batch.sides.push_back(side);
    batch.tokens.push_back(capacity);
  }
  batch.labels.assign(size_t(capacities.back()), Vocabulary::eos);
  return batch;
}

double step_flops(const ModelConfig& c, const std::vector<double>& tokens) {
  TX_ASSERT(tokens.size() == c.sides.size());
  const double d = c.d_model, queries = double(c.heads) * c.d_k, mixed = double(c.heads) * c.d_v;
  const double memory = double(c.key_heads()) * (c.d_k + c.d_v);  // keys and values
  const double self = d * (queries + memory) + mixed * d;
  const double ffn = (c.gated() ? 3 : 2) * d * double(c.d_ff);
  const double cross_query = d * queries + mixed * d, cross_memory = d * memory;
  double sum = tokens.back() * double(c.target().vocabulary) * d;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const double own = c.recurrent(i) ? 2 * d * d : c.self_attends(i) ? self : 0;
    sum += c.sides[i].layers * tokens[i] * (own + ffn);
    if (c.has_cross(i))
      sum += c.sides[i].layers * (tokens[i - 1] * cross_memory + tokens[i] * cross_query);
  }
  return 6 * sum;
}

std::vector<std::pair<const char*, size_t>> memory_parts(const MemoryPlan& m) {
  std::vector<std::pair<const char*, size_t>> out{{"parameters", m.parameters},
                                                  {"gradients", m.gradients},
                                                  {"optimizer state", m.optimizer_state + m.update},
                                                  {"bf16 weights", m.bf16_weights}};
  if (m.sums) out.emplace_back("gradient sums", m.sums);
  if (m.saving) out.emplace_back("copy to save", m.saving);
  out.insert(out.end(),
             {{"activations", m.activations}, {"scratch", m.scratch}, {"batches", m.batch}});
  if (m.translating) out.emplace_back("translations", m.translating);
  out.emplace_back("program", m.program);
  return out;
}

std::string binary_size(size_t bytes) {
  const bool large = bytes >> 30;
  return figure(double(bytes) / (large ? 1 << 30 : 1 << 20), 1) + (large ? " GiB" : " MiB");
}

void check_device_memory(Backend& backend, const MemoryPlan& memory) {
  const size_t needed = memory.update + memory.sums + memory.activations + memory.batch +
                        memory.saving + memory.translating;
  const size_t free = backend->has_own_memory() ? backend->free_bytes() : needed;
  if (needed > free)
    throw Error("out of GPU memory: besides parameters and scratch this run needs " +
                binary_size(needed) + " (activations " + binary_size(memory.activations) + "), " +
                binary_size(free) +
                " free: lower --batch-tokens (auto uses what fits), or give --recompute");
}

std::string by_side(const ModelConfig& config, const std::vector<int>& numbers,
                    const std::string& between) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? between : "") + grouped(numbers[i]) + " " + config.side_name(i);
  return text;
}

namespace {

// The default limit of a plan. CPU: half of what this process uses and could take. GPU: the
// parameters, which are allocated already, plus nine tenths of the free memory.
int64_t default_limit(Backend& backend, const Parameters& parameters) {
  if (!backend->has_own_memory()) return (available_memory() + int64_t(anonymous_bytes())) / 2;
  const size_t held =
      Parameters::bytes(parameters.config(), parameters.dtype(), true, parameters.self());
  return int64_t(backend->free_bytes() / 10 * 9 + held);
}

}  // namespace

BatchShape shape_of(const std::vector<PairLengths>& texts) {
  return {smallest_batch_tokens(texts),
          [text = texts.front()](int tokens) { return batch_capacities(text, tokens); }};
}

int resolve_batch_tokens(const PlannedRun& run, const BatchShape& shape) {
  const TrainOptions& options = run.options;
  const int64_t limit = options.memory.empty() ? 0 : parse_size(options.memory, "--memory");
  const auto total = [&](int tokens) {
    return int64_t(plan_memory(run, shape.capacities(tokens)).total());
  };
  const int min = (shape.min + 63) / 64 * 64;
  if (const int tokens = options.batch_tokens.number()) {
    if (limit && total(tokens) > limit)
      throw UsageError("--memory " + options.memory + " cannot hold --batch-tokens " +
                       std::to_string(tokens) + ": give --memory " +
                       size_text(size_t(total(tokens))) +
                       (total(min) <= limit ? ", or --batch-tokens auto" : ""));
    return tokens;
  }
  const int64_t memory = limit ? limit : default_limit(run.backend, run.parameters);
  int fits = 0;
  for (int low = min / 64, high = std::max(max_auto_tokens, min) / 64; low <= high;) {
    const int middle = (low + high) / 2;
    if (total(middle * 64) <= memory) {
      fits = middle * 64;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  if (fits == 0)
    throw UsageError(
        (limit ? "--memory " + options.memory
               : "the limit of the plan, " + binary_size(size_t(memory)) +
                     (run.backend->has_own_memory() ? ", nine tenths of the GPU's free memory,"
                                                    : ", half of the available memory,")) +
        " cannot hold the longest sentence pair: give --memory " + size_text(size_t(total(min))));
  return fits;
}

}  // namespace tx
