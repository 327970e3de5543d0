#include "lib/model/positions.h"

#include <cmath>

namespace tx {

std::vector<double> sinusoid(int64_t position, int64_t d_model) {
  std::vector<double> row(static_cast<size_t>(d_model));
  for (int64_t i = 0; i < d_model; i += 2) {
    const double angle = double(position) / std::pow(10000.0, double(i) / double(d_model));
    row[size_t(i)] = std::sin(angle);
    if (i + 1 < d_model) row[size_t(i + 1)] = std::cos(angle);
  }
  return row;
}

Sinusoids::Sinusoids(Backend& backend, int64_t length, int64_t d_model, DType dtype)
    : backend_(backend) {
  std::vector<double> rows;
  rows.reserve(size_t(length * d_model));
  for (int64_t position = 0; position < length; ++position)
    for (double x : sinusoid(position, d_model)) rows.push_back(x);
  const size_t bytes = rows.size() * size_of(dtype);
  on(backend_, [&](auto& k) {
    table_ = matrix(k.allocate(bytes), dtype, length, d_model);
    if (dtype == DType::f64) return k.upload(table_.data, rows.data(), bytes);
    const std::vector<float> narrow(rows.begin(), rows.end());
    k.upload(table_.data, narrow.data(), bytes);
  });
}

Sinusoids::~Sinusoids() {
  on(backend_, [&](auto& k) { k.release(table_.data); });
}

}  // namespace tx
