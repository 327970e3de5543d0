#include "lib/model/part_exchange.h"

#include <cstring>

#include "lib/base/error.h"

namespace tx {

namespace {

// One weight at a time: that of the whole model and what of it this rank has.
class Exchange {
 public:
  explicit Exchange(const Parameters& part)
      : part_(part), leads_(part.part().index == 0), bytes_(size_t(part.part().count)) {
    TX_ASSERT(!part.backend()->has_own_memory());
  }

  void spread(Matrix whole, Matrix own) {
    each(whole, own, [&](const ParameterEntry& entry, Matrix from, Matrix to) {
      if (leads_)
        each_row(entry, from,
                 [](void* packed, void* row, size_t n) { std::memcpy(packed, row, n); });
      part_.part().ranks->exchange(packed_.data(), bytes_, to.data, own_);
    });
  }
  void collect(Matrix own, Matrix whole) {
    each(whole, own, [&](const ParameterEntry& entry, Matrix to, Matrix from) {
      part_.part().ranks->exchange(from.data, own_, packed_.data(), bytes_);
      if (leads_)
        each_row(entry, to, [](void* packed, void* row, size_t n) { std::memcpy(row, packed, n); });
    });
  }

 private:
  // f(entry, of the whole, of the part), with what rank 0 and the others exchange.
  template <class F>
  void each(Matrix whole, Matrix own, const F& f) {
    const std::vector<ParameterEntry> table = parameter_table(part_.whole());
    TX_ASSERT(leads_ == !whole.empty() && table.size() == part_.table().size());
    const size_t size = size_of(own.dtype);
    for (size_t i = 0; i < table.size(); ++i) {
      const Matrix mine = part_.entry_of(own, part_.table()[i]);
      own_.assign(bytes_.size(), 0);
      own_[0] = size_t(mine.rows * mine.cols) * size;
      size_t all = 0;
      for (size_t r = 0; r < bytes_.size() && leads_; ++r) {
        const auto [rows, cols] = part_of(table[i], slice(r));
        all += bytes_[r] = size_t(rows.count * cols.count) * size;
      }
      packed_.resize(all);
      f(table[i], leads_ ? part_.entry_of(whole, table[i]) : Matrix{}, mine);
    }
  }
  // f(packed, row, bytes) for the rows of the slices of a weight, part behind part.
  template <class F>
  void each_row(const ParameterEntry& entry, Matrix whole, const F& f) {
    const size_t size = size_of(whole.dtype);
    char* at = packed_.data();
    for (size_t r = 0; r < bytes_.size(); ++r) {
      const auto [rows, cols] = part_of(entry, slice(r));
      const size_t width = size_t(cols.count) * size;
      for (int64_t i = rows.first; i < rows.first + rows.count; ++i, at += width)
        f(at, whole.slice(i, 1).columns(cols.first, cols.count).data, width);
    }
  }
  ModelPart slice(size_t r) const { return {int(r), part_.part().count, nullptr}; }

  const Parameters& part_;
  bool leads_;
  std::vector<size_t> bytes_, own_;  // that rank 0 exchanges with each rank, that each with rank 0
  std::vector<char> packed_;
};

}  // namespace

void spread_parts(const Parameters& part, Matrix whole, Matrix own) {
  Exchange(part).spread(whole, own);
}

void collect_parts(const Parameters& part, Matrix own, Matrix whole) {
  Exchange(part).collect(own, whole);
}

}  // namespace tx
