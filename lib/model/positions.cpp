#include "lib/model/positions.h"

#include <algorithm>
#include <cmath>

namespace tx {

std::vector<SinusoidPair> sinusoid_pairs(int64_t d_model, PositionEncoding layout) {
  const auto half = static_cast<size_t>(d_model / 2);
  const double last = layout == PositionEncoding::fairseq ? double(half) - 1 : double(half);
  std::vector<SinusoidPair> pairs;
  for (size_t i = 0; i < half; ++i) {
    const double divisor = i ? std::pow(10000.0, double(i) / last) : 1;
    if (layout == PositionEncoding::sinusoid)
      pairs.push_back({2 * i, 2 * i + 1, divisor});
    else
      pairs.push_back({i, half + i, divisor});
  }
  return pairs;
}

std::vector<double> sinusoid(int64_t position, const std::vector<SinusoidPair>& pairs) {
  std::vector<double> row(2 * pairs.size());
  for (const SinusoidPair& pair : pairs) {
    const double angle = double(position) / pair.divisor;
    const double sine = std::sin(angle), cosine = std::cos(angle);  // together: one sincos()
    row[pair.sine] = sine;
    row[pair.cosine] = cosine;
  }
  return row;
}

std::vector<double> sinusoid(int64_t position, int64_t d_model, PositionEncoding layout) {
  return sinusoid(position, sinusoid_pairs(d_model, layout));
}

namespace {

// Divides low frequencies by the factor, keeps high ones, and interpolates between.
double llama3_frequency(const ModelConfig& c, double frequency) {
  const double turns = c.rotary_length * frequency / (2 * M_PI);
  const double kept = (turns - c.rotary_low) / (c.rotary_high - c.rotary_low);
  if (kept >= 1) return frequency;
  if (kept <= 0) return frequency / c.rotary_factor;
  return (1 - kept) * frequency / c.rotary_factor + kept * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(const ModelConfig& c) {
  const double d = c.d_k;
  double base = c.rotary_base;
  if (c.rotary_scaling == RotaryScaling::ntk) base *= std::pow(c.rotary_factor, d / (d - 2));
  std::vector<double> all;
  for (int i = 0; i < c.d_k; i += 2) {
    double frequency = std::pow(base, -double(i) / d);
    if (c.rotary_scaling == RotaryScaling::linear) frequency /= c.rotary_factor;
    if (c.rotary_scaling == RotaryScaling::llama3) frequency = llama3_frequency(c, frequency);
    all.push_back(frequency);
  }
  return all;
}

std::vector<double> rotary_row(const std::vector<double>& frequencies, int64_t position) {
  std::vector<double> row;
  for (const double f : frequencies) row.push_back(std::cos(double(position) * f));
  for (const double f : frequencies) row.push_back(std::sin(double(position) * f));
  return row;
}

std::vector<int32_t> distance_buckets(int buckets, int reach, bool both) {
  const int each = both ? buckets / 2 : buckets, exact = each / 2;
  std::vector<int32_t> all;
  for (int distance = -reach; distance <= reach; ++distance) {
    const int far = both ? std::abs(distance) : std::max(-distance, 0);
    int bucket = far;
    if (far >= exact) {  // in float, as in PyTorch
      const float ratio =
          std::log(float(far) / float(exact)) / float(std::log(double(reach) / double(exact)));
      bucket = std::min(each - 1, exact + int(ratio * float(each - exact)));
    }
    all.push_back(bucket + (both && distance > 0 ? each : 0));
  }
  return all;
}

std::vector<double> alibi_slopes(int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int h = 0; h < heads; ++h) {
    const double exponent = h < power ? 8.0 * (h + 1) / power : 4.0 * (2 * (h - power) + 1) / power;
    slopes.push_back(std::pow(2.0, -exponent));
  }
  return slopes;
}

PositionTable::PositionTable(Backend& backend, int64_t length, int64_t width, DType dtype,
                             const Row& row)
    : backend_(backend) {
  const size_t row_bytes = size_t(width) * size_of(dtype);
  table_ = matrix(backend_->allocate(size_t(length) * row_bytes), dtype, length, width);
  constexpr int64_t block = 64;  // keeps the memory for rows in double small
  std::vector<double> rows;
  std::vector<float> narrow;
  for (int64_t first = 0; first < length; first += block) {
    const Matrix to = table_.slice(first, std::min(block, length - first));
    rows.clear();
    for (int64_t i = 0; i < to.rows; ++i) {
      const std::vector<double> one = row(first + i);
      rows.insert(rows.end(), one.begin(), one.end());
    }
    narrow.assign(rows.begin(), rows.end());
    const void* from = dtype == DType::f64 ? static_cast<const void*>(rows.data()) : narrow.data();
    backend_->upload(to.data, from, size_t(to.rows) * row_bytes);
  }
}

PositionTable::PositionTable(Backend& backend, const std::vector<int32_t>& buckets)
    : backend_(backend) {
  const size_t bytes = buckets.size() * sizeof(int32_t);
  table_ = matrix(backend_->allocate(bytes), DType::f32, 1, int64_t(buckets.size()));
  backend_->upload(table_.data, buckets.data(), bytes);
}

PositionTable::~PositionTable() { backend_->release(table_.data); }

}  // namespace tx
