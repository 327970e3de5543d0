#include "lib/convert/calibrate.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

namespace {

// With 1.5 to 3 deviations Bergamot gave the same BLEU, and as many outputs of fp32.
constexpr double deviations = 2.5;

class RowMaxima {
 public:
  void add(Matrix x) {
    for (int64_t i = 0; i < x.rows; ++i) {
      const float* row = x.row<const float>(i);
      double largest = 0;
      for (int64_t j = 0; j < x.cols; ++j) largest = std::max(largest, double(std::abs(row[j])));
      ++count_, sum_ += largest, squares_ += largest * largest;
    }
  }
  float factor() const {
    const double mean = sum_ / count_;
    const double deviation = std::sqrt(std::max(squares_ / count_ - mean * mean, 0.0));
    const double range = mean + deviations * deviation;
    return range > 1e-10 ? float(127 / range) : 1;
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace

std::map<std::string, float> input_factors(const ModelReader& model, const std::string& path) {
  TranslatorOptions options;
  options.search.beam = 1;
  options.threads = 1;  // the sums depend on the order of batches
  options.device = Device::cpu;
  std::map<std::string, RowMaxima> maxima;
  auto backend = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  std::vector<LoadedModel> models(1);
  LoadedModel& m = models.front();
  m.name = model.path();
  m.vocabularies = model.vocabularies();
  m.parameters.reset(
      new Parameters(Parameters::for_inference(*backend, model.config(), DType::f32, model)));
  m.parameters->observe_inputs(
      [&](const std::string& name, Matrix input) { maxima[name].add(input); });
  m.transformer = std::make_unique<Transformer>(*backend, *m.parameters,
                                                options.search.longest(options.max_source));
  const Translator translator(options,
                              std::make_unique<ModelSet>(std::move(backend), std::move(models)));
  std::vector<Source> sources;
  TextReader text({path});
  for (std::string line; text.next(line);)
    parse_line(line, {}, translator, sources.emplace_back().ids);
  translator.translate(sources);
  if (maxima.empty()) throw DataError(path + " has no text");
  std::map<std::string, float> factors;
  for (const auto& [name, rows] : maxima) factors[name] = rows.factor();
  return factors;
}

}  // namespace tx
