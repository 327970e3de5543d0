// Runs a kernel over any backend in several memory layouts and compares the outcome with naive
// loops. A test is a function that places its operands through a Run, calls the kernel and keeps
// its results. The same sources, included in a *_gpu_test.cpp (where the build sets TX_TEST_DEVICE
// to "cuda"), run the same table on another backend.
#pragma once
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>

#include "kernels/backend.h"
#include "tests/unit/kernels/dense.h"

#ifndef TX_TEST_DEVICE
#define TX_TEST_DEVICE "cpu"
#endif

namespace tx_test {

using tx::Matrix;
using tx::StepRecord;
using Results = std::vector<Dense>;

inline const std::vector<int64_t>& odd_sizes() {
  static const std::vector<int64_t> sizes = {1, 3, 17, 63, 130};
  return sizes;
}

// Numbers of rows for kernels that add rows up; fewer for a GPU, which may be an emulated one.
inline const std::vector<int64_t>& row_counts() {
  static const std::vector<int64_t> all = {1, 3, 17, 63, 130, 300}, few = {1, 63, 300};
  return std::string(TX_TEST_DEVICE) == "cpu" ? all : few;
}

inline std::vector<DType> dtypes() {
  if (std::string(TX_TEST_DEVICE) == "cpu") return {DType::f32, DType::bf16, DType::f64};
  return {DType::f32, DType::bf16};
}

// Finite differences need f64: BOOST_AUTO_TEST_CASE(name, *needs_f64()) is skipped without it.
inline auto needs_f64() {
  return boost::unit_test::precondition(
      [](boost::unit_test::test_unit_id) { return dtypes().back() == DType::f64; });
}

// For features of the CPU kernels only.
inline auto only_on_the_cpu() {
  return boost::unit_test::precondition(
      [](boost::unit_test::test_unit_id) { return std::string(TX_TEST_DEVICE) == "cpu"; });
}

inline const char* name_of(DType t) {
  return t == DType::f64 ? "f64" : t == DType::bf16 ? "bf16" : "f32";
}

inline tx::Backend& backend_of(int threads) {
  static std::map<int, tx::Backend> backends;
  const auto found = backends.find(threads);
  if (found != backends.end()) return found->second;
  const tx::Device device = tx::value_of_name<tx::Device>(TX_TEST_DEVICE);
  return backends.emplace(threads, tx::make_backend(device, threads)).first->second;
}

// How a run lays out its memory. Every layout must give the same bits.
struct Layout {
  int threads;
  int64_t left, right;  // columns around each view, so that views are slices of wider matrices
  int64_t shift;        // elements before the first row: another alignment
  int dirt;             // value of every byte outside the views
};

inline const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {1, 0, 0, 0, 0xff}, {2, 3, 2, 1, 0x7f}, {3, 1, 4, 7, 0xc3}};
  return all;
}

enum class Access { read, write };

// Memory of one run, in the backend, with the bytes that the kernel must not change.
class Run {
 public:
  explicit Run(const Layout& layout) : layout_(layout), backend_(backend_of(layout.threads)) {}
  ~Run() {
    for (const Area& area : areas_) call([&](auto& b) { b.release(area.data); });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  template <class F>
  void call(F&& f) {
    std::forward<F>(f)(*backend_);
  }

  // Operands: the kernel must not change `input`, and only the view of `inout` and `output`. An
  // output is filled with NaN first.
  Matrix input(const Dense& x, DType t) { return place(x, t, Access::read); }
  Matrix inout(const Dense& x, DType t) { return place(x, t, Access::write); }
  Matrix output(int64_t rows, int64_t cols, DType t) {
    return place(Dense(rows, cols, NAN), t, Access::write);
  }
  template <class T>
  T* array(const std::vector<T>& values, Access access = Access::read) {
    const size_t size = values.size() * sizeof(T);
    std::vector<char> image(size + 2 * guard, char(layout_.dirt));
    if (size) std::memcpy(image.data() + guard, values.data(), size);
    char* data = add_area(std::move(image), {guard, 1, size, size}, access);
    return reinterpret_cast<T*>(data + guard);
  }
  StepRecord* record(const StepRecord& values) {
    return array(std::vector<StepRecord>{values}, Access::write);
  }
  tx::Dropout dropout(const Drop& drop) {
    StepRecord values;
    values.step = drop.step;
    const StepRecord* step = drop.threshold() ? record(values) : nullptr;
    tx::Dropout made =
        tx::dropout(drop.p, drop.seed, drop.site, step, {array(drop.pair), array(drop.position)});
    made.first = drop.first;
    return made;
  }

  // One download, including the bytes between the rows.
  Dense read(const Matrix& m) {
    Dense x(m.rows, m.cols);
    if (x.data.empty()) return x;
    const size_t size = tx::size_of(m.dtype);
    std::vector<char> bytes(size_t((m.rows - 1) * m.stride + m.cols) * size);
    call([&](auto& b) { b.download(bytes.data(), m.data, bytes.size()); });
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = 0; j < m.cols; ++j)
        x(i, j) = decode(m.dtype, bytes.data() + size_t(i * m.stride + j) * size);
    return x;
  }
  template <class T>
  std::vector<T> read(const T* data, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    call([&](auto& b) { b.download(values.data(), data, values.size() * sizeof(T)); });
    return values;
  }

  // The results of the run; they must have the same bits in every layout.
  void keep(Dense x) { results.push_back(std::move(x)); }
  void keep(const Matrix& m) { keep(read(m)); }
  template <class T>
  void keep(const T* data, int64_t count) {
    Dense x(1, count);
    const std::vector<T> values = read(data, count);
    for (size_t i = 0; i < values.size(); ++i) x.data[i] = double(values[i]);
    keep(x);
  }
  Results results;

  void check_surroundings() {
    for (Area& area : areas_) {
      std::vector<char> now(area.image.size());
      call([&](auto& b) { b.download(now.data(), area.data, now.size()); });
      const View& v = area.view;
      for (size_t i = 0; area.access == Access::write && i < v.rows; ++i) {
        const size_t at = v.first + i * v.stride;
        std::copy_n(now.begin() + long(at), v.width, area.image.begin() + long(at));
      }
      BOOST_TEST((now == area.image), "bytes outside the outputs have changed");
    }
  }

 private:
  static constexpr size_t guard = 64;
  struct View {  // in bytes
    size_t first, rows, width, stride;
  };
  struct Area {
    void* data;
    std::vector<char> image;
    View view;
    Access access;
  };

  char* add_area(std::vector<char> image, const View& view, Access access) {
    void* data = nullptr;
    call([&](auto& b) {
      data = b.allocate(image.size());
      b.upload(data, image.data(), image.size());
    });
    areas_.push_back({data, std::move(image), view, access});
    return static_cast<char*>(data);
  }

  Matrix place(const Dense& x, DType t, Access access) {
    const size_t size = tx::size_of(t), stride = size_t(layout_.left + x.cols + layout_.right);
    const size_t first = guard + size_t(layout_.shift + layout_.left) * size;
    std::vector<char> image(first + size_t(x.rows) * stride * size + guard, char(layout_.dirt));
    for (int64_t i = 0; i < x.rows; ++i)
      for (int64_t j = 0; j < x.cols; ++j)
        encode(t, x(i, j), image.data() + first + (size_t(i) * stride + size_t(j)) * size);
    const View view{first, size_t(x.rows), size_t(x.cols) * size, stride * size};
    Matrix m = tx::matrix(add_area(std::move(image), view, access) + first, t, x.rows, x.cols);
    m.stride = int64_t(stride);
    return m;
  }

  Layout layout_;
  tx::Backend& backend_;
  std::vector<Area> areas_;
};

// Any NaN equals any other: the compiler chooses its sign.
inline bool same_bits(const Dense& a, const Dense& b) {
  const auto same = [](double x, double y) {
    return std::memcmp(&x, &y, 8) == 0 || (std::isnan(x) && std::isnan(y));
  };
  return a.rows == b.rows && a.cols == b.cols && std::ranges::equal(a.data, b.data, same);
}

// Runs f in every layout and returns what the first one kept.
inline Results run_layouts(const std::function<void(Run&)>& f) {
  Results first;
  for (const Layout& layout : layouts()) {
    Run run(layout);
    f(run);
    run.check_surroundings();
    if (&layout == &layouts().front()) first = run.results;
    BOOST_REQUIRE(run.results.size() == first.size());
    for (size_t i = 0; i < first.size(); ++i)
      BOOST_TEST(same_bits(run.results[i], first[i]),
                 "result " << i << " depends on the layout, " << layout.threads << " threads");
  }
  return first;
}

// |got - want| <= relative * |want| + of_scale * max(size, largest |want|), where `size` is that of
// summands that may cancel; infinities and NaN must match.
struct Tolerance {
  double relative, of_scale;
  double size = 0;
};

inline Tolerance tolerance(DType t, double factor = 1) {
  if (t == DType::f64) return {1e-13 * factor, 1e-14 * factor};
  return {t == DType::bf16 ? 0x1.01p-8 : 1e-6 * factor, 1e-6 * factor};  // bf16: half a unit
}

inline void check_close(const Dense& got, const Dense& want, Tolerance limit) {
  BOOST_REQUIRE(got.rows == want.rows);
  BOOST_REQUIRE(got.cols == want.cols);
  double scale = limit.size;
  for (double value : want.data)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  std::ostringstream fault;
  for (size_t i = 0; i < want.data.size() && fault.str().empty(); ++i) {
    const double g = got.data[i], w = want.data[i];
    const bool close =
        std::isnan(w)   ? std::isnan(g)
        : std::isinf(w) ? g == w
                        : std::abs(g - w) <= limit.relative * std::abs(w) + limit.of_scale * scale;
    if (close) continue;
    fault.precision(17);
    fault << "row " << int64_t(i) / want.cols << " column " << int64_t(i) % want.cols << ": got "
          << g << ", expected " << w;
  }
  BOOST_TEST(fault.str() == "");
}

inline void check_close(const Dense& got, const Dense& want, DType t, double factor = 1) {
  check_close(got, want, tolerance(t, factor));
}

// Sums over `terms` values of about 1.
inline void check_sum(const Dense& got, const Dense& want, DType t, int64_t terms) {
  Tolerance limit = tolerance(sum_type(t), 4);
  limit.size = std::sqrt(double(terms));
  check_close(got, want, limit);
}

// compute(run, first, count) keeps one matrix, a row for each of rows first .. first + count - 1 of
// one problem. Every row must have the same bits with all its neighbours, with some, and alone.
inline void check_rows_alone(int64_t rows,
                             const std::function<void(Run&, int64_t, int64_t)>& compute) {
  const Layout plain{2, 0, 0, 0, 0xff}, other{2, 1, 2, 3, 0x7f};
  Run all(plain);
  compute(all, 0, rows);
  for (const int64_t count : {int64_t(1), int64_t(7)})
    for (int64_t first = 0; first < rows; first += count) {
      const int64_t here = std::min(count, rows - first);
      Run part(first % 2 ? plain : other);
      compute(part, first, here);
      BOOST_TEST(same_bits(part.results.at(0), all.results.at(0).slice(first, here)),
                 "rows from " << first << " on (" << here << ") depend on the other rows");
    }
}

}  // namespace tx_test
