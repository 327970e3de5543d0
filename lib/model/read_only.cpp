// Parameters for inference, packed while they are read.
#include <algorithm>
#include <memory>

#include "lib/model/parameters.h"

namespace tx {

namespace {

constexpr int64_t kRows = 256;  // per read

// Uploads the rows of `from`, rounded to the dtype of `to`.
void upload(Backend& backend, const WeightRows& from, Matrix to) {
  std::vector<float> values(size_t(std::min(kRows, from.rows) * from.cols));
  const auto free = [&](void* p) { backend->release(p); };  // also if from.read() throws
  const std::unique_ptr<void, decltype(free)> staged(backend->allocate(values.size() * 4), free);
  for (int64_t first = 0; first < from.rows; first += kRows) {
    const int64_t count = std::min(kRows, from.rows - first);
    from.read(first, count, values.data());
    backend->upload(staged.get(), values.data(), size_t(count * from.cols) * 4);
    backend->convert(matrix(staged.get(), DType::f32, count, from.cols), to.slice(first, count));
  }
  backend->wait();
}

// Concatenates matrices by rows.
WeightRows join(std::vector<WeightRows> parts) {
  int64_t rows = 0;
  float input_factor = parts.front().input_factor;
  for (const WeightRows& part : parts) {
    rows += part.rows;
    if (part.input_factor != input_factor) input_factor = 0;
  }
  const int64_t cols = parts.front().cols;
  const auto read = [parts = std::move(parts), cols](int64_t first, int64_t count, float* to) {
    for (const WeightRows& part : parts) {
      const int64_t here = std::min(count, part.rows - first);
      if (here > 0) {
        part.read(first, here, to);
        to += here * cols, first += here, count -= here;
      }
      first -= part.rows;
    }
  };
  return {rows, cols, read, {}, input_factor};
}

bool looked_up(const ParameterEntry& e) {
  return e.lookup || e.init == ParameterEntry::Init::embedding;
}

}  // namespace

void Parameters::read_tables(DType weights, const WeightSource& source) {
  for (size_t i = 0; i < table_.size() && !table_[i].vector;) {
    size_t end = i + 1;
    while (end < table_.size() && table_[end].joined) ++end;
    const std::span<const ParameterEntry> joined(&table_[i], end - i);
    const ParameterEntry& e = joined.front();
    const bool narrow = weights == DType::i8 && !e.lookup;  // embeddings too
    std::vector<WeightRows> parts;
    for (const ParameterEntry& part : joined) parts.push_back(source.rows(part));
    if (e.multiplied || narrow) {
      const WeightRows all = join(parts);
      Int8Weights there = narrow ? source.int8(joined) : Int8Weights{};
      there.input_factor = all.input_factor;
      fixed_inputs_ = fixed_inputs_ || (narrow && all.input_factor > 0);
      prepared_[{i, int(end - i)}] =
          there.groups ? backend_->prepare_int8(there) : backend_->prepare_rows(all, weights);
    }
    if (looked_up(e) && !narrow) {
      const DType dtype = e.lookup ? DType::f32 : dtype_;
      void* data = backend_->allocate(size_t(e.padded_rows * e.cols) * size_of(dtype));
      const Matrix rows = read_only_->tables[i] = matrix(data, dtype, e.padded_rows, e.cols);
      upload(backend_, parts.front(), rows);
    }
    for (const ParameterEntry& part : joined) source.finished(part);
    i = end;
  }
}

void Parameters::read_vectors(const WeightSource& source) {
  Matrix& all = read_only_->vectors;
  const int64_t count = elements_ - vectors_from_;
  all = matrix(backend_->allocate(size_t(count) * 4), DType::f32, 1, count);
  backend_->zero(all.data, size_t(count) * 4);
  std::vector<float> values;
  for (const ParameterEntry& e : table_) {
    if (!e.vector) continue;
    values.resize(size_t(e.cols));
    source.rows(e).read(0, 1, values.data());
    const Matrix to = all.columns(e.offset - vectors_from_, e.cols);
    backend_->upload(to.data, values.data(), values.size() * 4);
  }
}

}  // namespace tx
