// Edit distance of word sequences within a band around the diagonal, for one pair and for
// rearrangements of its hypothesis.
//
// The matrix D(i,j) is the cost of turning the first i words of the hypothesis into the first j of
// the reference; every edit costs 1. Row i holds the columns from its diagonal i * m/n minus the
// width of the band to the diagonal plus that width, the last row all to the end (n, m: words of
// hypothesis and reference). Outside the band the cost is infinite.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tx {

enum class Edit : uint8_t { keep, replace, insert, remove };  // into the reference

class BandedEditDistance {
 public:
  // Fills the matrix; the sequences must outlive all questions about it. hypothesis may be empty.
  void set(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);
  int32_t distance() const { return distance_; }
  // The cheapest edits in order. Among equally cheap ones the last step is, in order of preference,
  // keep or replace, remove, insert; then the step before it, and so on.
  void trace(std::vector<Edit>& edits) const;
  // The distance of the hypothesis whose words [begin, end) are replaced by as many `words`: the
  // rows before and the costs after them are those of the hypothesis.
  int32_t distance_with(size_t begin, size_t end, std::span<const int32_t> words);

 private:
  // Columns [first, last) of row i, stored from `offset` on.
  struct Row {
    size_t first = 0, last = 0, offset = 0;
  };
  void shape_rows();
  int32_t at(const std::vector<int32_t>& matrix, size_t i, size_t j) const;
  // Row i from the row above, of which `above` holds its columns.
  void fill_row(size_t i, int32_t word, const int32_t* above, int32_t* row) const;
  void fill_after();

  std::span<const int32_t> hypothesis_, reference_;
  std::vector<Row> rows_;
  std::vector<int32_t> before_, after_;  // D, and the cost from (i,j) to the end
  bool after_known_ = false;
  int32_t distance_ = 0;
  std::vector<int32_t> scratch_[2];
};

}  // namespace tx
