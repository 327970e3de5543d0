#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/temporary_directory.h"
#include "lib/checkpoint/model_file.h"
#include "lib/data/links.h"
#include "lib/diagnose/training.h"
#include "lib/model/config.h"
#include "lib/train/input/data.h"
#include "lib/train/input/growth.h"
#include "lib/train/plan/memory.h"
#include "lib/train/plan/schedule.h"
#include "lib/train/plan/settle.h"

namespace tx {

namespace {

// The bounds of the golden tests, wider for fp32 because real models are larger.
constexpr double fp32_gradient = 1e-3, fp32_loss = 1e-4;  // relative
constexpr double bf16_cosine = 0.005, bf16_loss = 5e-3;   // 1 - cosine; relative
// Gradients below this fraction of the largest are rounding errors, such as a key bias's.
constexpr double negligible = 1e-6;

struct Variant {
  std::string name;
  Device device;
  Precision precision;
  std::string missing;  // why it is not available; empty: it is
};

std::vector<Variant> ways() {
  return {{"cpu fp32", Device::cpu, Precision::fp32, ""},
          {"cpu bf16", Device::cpu, Precision::bf16, ""},
          {"cuda fp32", Device::cuda, Precision::fp32, no_gpu_reason()},
          {"cuda bf16", Device::cuda, Precision::bf16, no_gpu_reason()}};
}

struct Outcome {
  double loss = 0;
  std::vector<std::vector<float>> gradients, weights;  // one per entry of the table
};

struct Task {
  TrainOptions options;
  ModelConfig config;
  Vocabularies vocabularies;
  std::vector<Batch> batches;
  std::vector<int> capacities;
  int64_t longest;
};

std::vector<std::vector<float>> entries(Backend& backend, const Parameters& p, Matrix block) {
  std::vector<std::vector<float>> all;
  for (const ParameterEntry& e : p.table()) {
    const Matrix m = p.entry_of(block, e);
    all.emplace_back(size_t(m.rows * m.cols));
    backend->download(all.back().data(), m.data, all.back().size() * 4);
  }
  return all;
}

Outcome run(const Task& task, const Variant& way) {
  const TrainOptions& o = task.options;
  Backend backend = make_backend(way.device, o.threads);
  Parameters parameters =
      Parameters::for_training(backend, task.config, precision_dtype(way.precision));
  if (o.init.empty())
    parameters.initialise(o.mask_seed());
  else
    load_initial(o, task.vocabularies, parameters);
  const Transformer transformer(backend, parameters, task.longest);
  Stepper stepper(backend, parameters, transformer, o);
  stepper.reserve(Stepper::plan(backend, parameters, transformer, o, task.capacities));
  const double rate = learning_rate(o, task.config.d_model, 1);
  const StepRecord record = stepper.step(task.batches, 1, rate, 0);
  return {record.loss * record.loss_scale, entries(backend, parameters, parameters.gradients()),
          entries(backend, parameters, parameters.fp32_weights())};
}

double largest(const std::vector<float>& x) {
  double max = 0;
  for (const float v : x) max = std::max(max, std::isnan(v) ? INFINITY : std::abs(double(v)));
  return max;
}

// Largest absolute difference divided by the largest expected magnitude.
double difference(const std::vector<float>& x, const std::vector<float>& expected) {
  double off = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(double(x[i]) - double(expected[i]));
    off = std::max(off, std::isnan(d) ? INFINITY : d);
  }
  const double scale = largest(expected);
  return scale > 0 ? off / scale : off;
}

double lost_cosine(const std::vector<float>& x, const std::vector<float>& y) {
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += double(x[i]) * double(y[i]);
    xx += double(x[i]) * double(x[i]);
    yy += double(y[i]) * double(y[i]);
  }
  const double c = 1 - xy / std::sqrt(xx * yy);
  return std::isnan(c) ? INFINITY : c;
}

// The table of one variant; adds the number of values out of bounds to `faults`.
std::string compare(const Variant& way, const std::vector<ParameterEntry>& table, const Outcome& is,
                    const Outcome& reference, int& faults) {
  const bool exact = way.precision == Precision::fp32;
  double all = 0;
  for (const auto& g : reference.gradients) all = std::max(all, largest(g));
  const double loss = std::abs(is.loss / reference.loss - 1);
  const bool good = loss <= (exact ? fp32_loss : bf16_loss);
  faults += !good;
  std::string text = way.name + formatted("\tloss %.7g, relative difference %.1e%s\n", is.loss,
                                          loss, good ? "" : "  OUT OF BOUNDS");
  for (size_t i = 0; i < table.size(); ++i) {
    const auto &g = is.gradients[i], &want = reference.gradients[i];
    const bool counts = largest(want) > negligible * all;
    const double off = difference(g, want), cosine = counts ? lost_cosine(g, want) : 0;
    const bool within = !counts ? largest(g) < 1e-3 * all
                        : exact ? off <= fp32_gradient
                                : cosine <= bf16_cosine;
    faults += !within;
    text +=
        way.name + "\t" + table[i].name +
        formatted("\tgradient %.1e\t1 - cosine %.1e\tweights after the step %.1e%s\n", off, cosine,
                  difference(is.weights[i], reference.weights[i]), within ? "" : "  OUT OF BOUNDS");
  }
  return text;
}

Task make_task(const TrainOptions& asked, const Options& given, const Log& log) {
  if (asked.src.empty())
    throw UsageError("--parity needs text: give --src, and --tgt for parallel text");
  const TemporaryDirectory folder("tx-parity");
  const bool resumes = !asked.resume.empty();
  const RunDirectory run =
      resumes ? RunDirectory::open(asked.resume) : RunDirectory::create(folder.path());
  Json config = resumes ? run.read_config() : Json::object();
  const auto [vocabularies, corpora] =
      resumes ? reopen_data(asked, run, run.complete_steps().back(), config, log)
              : open_data(asked, run, config, log);
  const auto [options, choice] = settle_preset(asked, given, corpora);
  if (!choice.why.empty())
    log.info("preset " + options.preset.name + ", " + choice.why + "; override with --preset");
  Task task{options, options.model_config(), {}, {}, {}, 0};
  if (!options.init.empty()) task.config = ModelReader(resolve_model(options.init)).config();
  task.vocabularies = vocabularies;
  task.config.set_vocabularies(vocabularies.sizes());
  task.config.resolve();
  PackerOptions packing;
  packing.batch_tokens = options.batch_tokens.number(4096);
  packing.seed = options.seed;
  std::unique_ptr<PairLinks> links;
  if (corpora.train->has_links())
    links = std::make_unique<PairLinks>(*corpora.train, vocabularies, options.guided_shift);
  packing.links = links.get();
  packing.masked = task.config.kind == ModelKind::encoder;
  packing.sentinels = corpora.sentinels;
  Packer packer(*corpora.train, packing);
  task.batches.resize(1);
  packer.next(task.batches.front());
  task.capacities = packer.capacities();
  task.longest = longest_dummy;
  const PairLengths& lengths = packer.lengths();
  for (int side = 0; side < lengths.sides(); ++side)
    task.longest = std::max<int64_t>(task.longest, lengths.longest(side) + 1);
  return task;
}

}  // namespace

int parity(TrainOptions options, const Options& given, const Log& log) {
  if (!options.init.empty() && !options.resume.empty())  // the model of --init may have gone
    options.init = resolve_model(options.resume);
  const Task task = make_task(options, given, log);
  const std::vector<Variant> all = ways();
  const Outcome reference = run(task, all.front());
  const std::vector<ParameterEntry> table = parameter_table(task.config);
  int faults = 0, compared = 0;
  std::string text = all.front().name + formatted("\tloss %.7g (reference)\n", reference.loss);
  for (size_t i = 1; i < all.size(); ++i) {
    if (!all[i].missing.empty()) {
      text += all[i].name + "\tnot available: " + all[i].missing + "\n";
      continue;
    }
    ++compared;
    text += compare(all[i], table, run(task, all[i]), reference, faults);
  }
  text += faults ? formatted("%d values are out of bounds", faults)
                 : formatted("%d of %d variants agree with fp32 on the CPU", compared,
                             int(all.size()) - 1);
  text += formatted(": fp32 gradients %.0e, loss %.0e; bf16 1 - cosine %.0e, loss %.0e\n",
                    fp32_gradient, fp32_loss, bf16_cosine, bf16_loss);
  print(text);
  return faults ? 1 : 0;
}

}  // namespace tx
