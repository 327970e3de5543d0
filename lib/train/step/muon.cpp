#include "lib/train/step/muon.h"

#include <cmath>

namespace tx {
namespace {

// x (a + b x^2 + c x^4) five times takes singular values above 0.001 to between 0.68 and 1.14.
constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
constexpr int iterations = 5;

// The root mean square of an update relative to the learning rate: about that of Adam, so that one
// rate serves both (Liu et al., 2025, "Muon is scalable for LLM training").
constexpr double update_size = 0.2;

ElementRange range_of(const ParameterEntry& e) { return {e.offset, e.rows * e.cols}; }

std::vector<ParameterEntry> layer_matrices(const Parameters& parameters) {
  std::vector<ParameterEntry> found;
  for (const ParameterEntry& e : parameters.table())
    if (!e.vector && e.name.find(".layers.") != std::string::npos) found.push_back(e);
  return found;
}

// The iterations compute in the precision of the forward pass.
DType iteration_type(const Parameters& parameters) {
  return parameters.bf16_weights().empty() ? parameters.fp32_weights().dtype : DType::bf16;
}

// Elements of the largest (R,C), and of its Gram matrix, R or C squared, whichever is less.
struct Largest {
  int64_t matrix = 0, gram = 0;
  explicit Largest(const std::vector<ParameterEntry>& entries) {
    for (const ParameterEntry& e : entries) {
      matrix = std::max(matrix, e.rows * e.cols);
      gram = std::max(gram, std::min(e.rows, e.cols) * std::min(e.rows, e.cols));
    }
  }
  size_t bytes(DType t) const { return size_t(2 * matrix + 2 * gram) * size_of(t); }
  size_t square_bytes() const { return size_t(norm_blocks(matrix)) * sizeof(double); }
};

}  // namespace

Muon::Muon(Parameters& parameters, double momentum, const StepRecord* record)
    : parameters_(parameters),
      backend_(parameters.backend()),
      momentum_(momentum),
      record_(record),
      entries_(layer_matrices(parameters)),
      block_(backend_),
      scratch_(backend_),
      squares_(backend_) {
  TX_ASSERT(parameters.shard().whole() && !entries_.empty());
  const int64_t first = entries_.front().offset;
  matrices_ = {first, parameters.decayed() - first};
  const Matrix like = parameters.gradients();
  const Largest largest(entries_);
  const size_t block_bytes = size_t(like.cols) * size_of(like.dtype);
  directions_ = matrix(block_.reserve(block_bytes), like.dtype, 1, like.cols);
  scratch_.reserve(largest.bytes(iteration_type(parameters)));
  squares_.reserve(largest.square_bytes());
}

size_t Muon::bytes(const Parameters& parameters) {
  const Matrix block = parameters.fp32_weights();
  const Largest largest(layer_matrices(parameters));
  return held_bytes(size_t(block.cols) * size_of(block.dtype)) +
         held_bytes(largest.bytes(iteration_type(parameters))) + held_bytes(largest.square_bytes());
}

void Muon::average(ElementRange range, ElementRange state) {
  backend_->momentum(part_of(parameters_.gradients(), range), part_of(parameters_.moment1(), state),
                     part_of(directions_, range), momentum_, record_);
}

void Muon::orthogonalise(Shards* shards, const std::vector<ElementRange>& ranges) {
  if (shards) shards->gather(directions_, matrices_);
  for (const ParameterEntry& entry : entries_)
    for (const ElementRange& range : ranges)
      if (intersection(range, range_of(entry)).count > 0) {
        orthogonalise(entry);
        break;
      }
}

// X / |X|, then X = (a I + b G + c G G) X, where G = X X^T; of a tall X the same from the right.
void Muon::orthogonalise(const ParameterEntry& entry) {
  const Matrix direction = parameters_.entry_of(directions_, entry);
  const Matrix flat = part_of(directions_, range_of(entry));
  const Matrix squares = matrix(squares_.data(), DType::f64, 1, norm_blocks(flat.cols));
  backend_->square_sums(flat, squares);
  backend_->normalise(flat, squares);

  const DType type = iteration_type(parameters_);
  char* at = scratch_.data();
  const auto take = [&](int64_t rows, int64_t cols) {
    const Matrix m = matrix(at, type, rows, cols);
    at += size_t(rows * cols) * size_of(type);
    return m;
  };
  const int64_t n = std::min(direction.rows, direction.cols);
  const bool tall = direction.rows > direction.cols;
  const Matrix gram = take(n, n), square = take(n, n);
  Matrix next = take(direction.rows, direction.cols), spare = take(direction.rows, direction.cols);
  Matrix x = direction;
  if (type != direction.dtype) {
    x = spare;
    backend_->convert(direction, x);
  }
  const auto multiply = [&](Matrix left, Matrix right, Matrix result, bool transpose_left,
                            bool transpose_right) {
    Product p;
    p.a = left, p.b = right, p.c = result;
    p.transpose_a = transpose_left, p.transpose_b = transpose_right;
    backend_->product(p);
  };
  for (int i = 1; i <= iterations; ++i) {
    multiply(x, x, gram, tall, !tall);
    multiply(gram, gram, square, false, false);
    backend_->quadratic(gram, square, a, b, c);
    if (i == iterations) next = direction;
    tall ? multiply(x, gram, next, false, false) : multiply(gram, x, next, false, false);
    x = next;
    std::swap(next, spare);
  }
}

void Muon::update(ElementRange range, Matrix bf16_weights, const AdamSettings& settings) {
  for (const ParameterEntry& entry : entries_) {
    const ElementRange part = intersection(range, range_of(entry));
    if (part.count == 0) continue;
    const double scale = update_size * std::sqrt(double(std::max(entry.rows, entry.cols)));
    const Matrix copy = bf16_weights.empty() ? Matrix{} : part_of(bf16_weights, part);
    backend_->sgd(part_of(parameters_.fp32_weights(), part), part_of(directions_, part), scale,
                  copy, part.count, settings, record_);
  }
}

}  // namespace tx
