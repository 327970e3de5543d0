// Products for inference on the GPU: right against double loops and near the products of training,
// and a row's bits depend neither on other rows nor on the tile.
#include <array>
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/unit/kernels/matmul_invariant_case.h"

#if TX_HAVE_CUDA
#include "kernels/cuda/products/tiles.h"
#include "tests/unit/kernels/gemm_gpu.h"

using tx::Activation;
using tx::Cuda;
using tx::DType;
using tx::Matrix;
using tx_test::Block;
using tx_test::Image;
using tx_test::Types;

namespace {

std::vector<Types> types() {
  std::vector<Types> all;
  for (const Types& t : tx_test::kTypes)
    if (t.in != DType::f64) all.push_back(t);
  return all;
}

struct Layout {
  int64_t x_gap, x_shift, w_gap;
};
const Layout layouts[] = {{0, 0, 0}, {8, 0, 16}, {3, 1, 5}};

// All tiles, with and without bias and relu.
void check_values(Cuda& cuda, Types t, const Layout& layout, int64_t rows, int64_t outputs,
                  int64_t inputs) {
  Block x(t.in, rows, inputs, layout.x_gap, layout.x_shift), w(t.in, outputs, inputs, layout.w_gap);
  Block bias(DType::f32, 1, outputs);
  x.randomise(1), w.randomise(2), bias.randomise(3);
  Image dx(cuda, x), dw(cuda, w), dbias(cuda, bias);
  const Matrix prepared = cuda.prepare(dw.view());
  for (int tile = 0; tile < tx::cuda::tile_count(t.in); tile++) {
    const int flags = (tile + int(rows)) % 4;
    const Activation activation = flags & 2 ? Activation::relu : Activation::none;
    Block y(t.out, rows, outputs, 2, flags);
    y.fill(std::nan(""));
    Image dy(cuda, y);
    tx::cuda::matmul_invariant(cuda.state(), dx.view(), prepared,
                               flags & 1 ? dbias.view() : Matrix{}, activation, dy.view(), tile);
    dy.download();
    BOOST_TEST(tx_test::wrong(x.view(), w.view(), flags & 1 ? bias.view() : Matrix{}, flags & 2,
                              y.view()) == 0);
    BOOST_TEST(y.intact());
  }
  BOOST_TEST((dx.unchanged() && dw.unchanged() && dbias.unchanged()));
}

// Every number of rows from 1 to 130, starting at varying rows, with the tile chosen for them and
// with each tile in turn.
void check_invariance(Types t, int64_t outputs, int64_t inputs, int64_t gap) {
  constexpr int64_t kRows = 130;
  Cuda cuda;
  Block x(t.in, 2 * kRows, inputs, gap), w(t.in, outputs, inputs), bias(DType::f32, 1, outputs);
  x.randomise(1), w.randomise(2), bias.randomise(3);
  Block alone(t.out, 2 * kRows, outputs), y(t.out, kRows, outputs, 1);
  Image dx(cuda, x), dw(cuda, w), dbias(cuda, bias), dalone(cuda, alone), dy(cuda, y);
  const Matrix prepared = cuda.prepare(dw.view());
  for (int64_t i = 0; i < 2 * kRows; i++)
    cuda.matmul_invariant(dx.view().slice(i, 1), prepared, dbias.view(), Activation::relu,
                          dalone.view().slice(i, 1));
  dalone.download();
  const int tiles = tx::cuda::tile_count(t.in);
  int64_t different = 0;
  for (int64_t n = 1; n <= kRows; n++) {
    const int64_t first = n * 7 % kRows;
    for (const int tile : {tx::cuda::best, int(n % tiles)}) {
      y.fill(std::nan(""));
      dy.upload();
      tx::cuda::matmul_invariant(cuda.state(), dx.view().slice(first, n), prepared, dbias.view(),
                                 Activation::relu, dy.view().slice(0, n), tile);
      dy.download();
      different += !tx_test::same_bits(alone.view().slice(first, n), y.view().slice(0, n));
    }
  }
  BOOST_TEST(different == 0);
  BOOST_TEST(y.intact());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matmul_invariant_gpu)

BOOST_AUTO_TEST_CASE(values) {
  const int64_t shapes[][3] = {{1, 1, 1},    {1, 16, 3},    {2, 15, 8},
                               {5, 64, 2},   {7, 65, 33},   {29, 130, 72},
                               {9, 20, 600}, {97, 48, 128}, {140, 129, 65}};
  Cuda cuda;
  for (const Types t : types()) {
    for (const Layout& l : layouts) {
      for (const auto& s : shapes) {
        BOOST_TEST_CONTEXT("dtypes " << int(t.in) << "->" << int(t.out) << " gap " << l.x_gap
                                     << " rows " << s[0] << " O " << s[1] << " I " << s[2]) {
          check_values(cuda, t, l, s[0], s[1], s[2]);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_row_does_not_see_its_neighbours) {
  for (const Types t : types()) {
    BOOST_TEST_CONTEXT("dtypes " << int(t.in) << "->" << int(t.out)) {
      check_invariance(t, 72, 64, 0);
      if (t.in != t.out) continue;  // only the conversion of the sums differs
      check_invariance(t, 100, 129, 0);
      check_invariance(t, 20, 328, 0);
      check_invariance(t, 20, 72, 3);
    }
  }
}

// All tiles and alignments give the same bits.
BOOST_AUTO_TEST_CASE(no_tile_nor_alignment_changes_a_bit) {
  Cuda cuda;
  for (const Types t : types()) {
    std::vector<double> first;
    for (const Layout& l : layouts) {
      Block x(t.in, 150, 328, l.x_gap, l.x_shift), w(t.in, 136, 328, l.w_gap), y(t.out, 150, 136);
      x.randomise(1), w.randomise(2);
      Image dx(cuda, x), dw(cuda, w), dy(cuda, y);
      for (int tile = 0; tile < tx::cuda::tile_count(t.in); tile++) {
        tx::cuda::matmul_invariant(cuda.state(), dx.view(), cuda.prepare(dw.view()), {},
                                   Activation::none, dy.view(), tile);
        dy.download();
        const std::vector<double> now = tx_test::values(y.view());
        if (first.empty()) first = now;
        BOOST_TEST((now == first));
      }
    }
  }
}

// In bf16, the sum of all k is the sum in order of those of 256 each, also where several groups of
// warps compute them (the first two shapes), in two rounds if there are more than 8.
BOOST_AUTO_TEST_CASE(parts_of_k_are_added_in_order) {
  const int64_t shapes[][3] = {{4, 64, 600}, {30, 32, 2568}, {30, 200, 600}};
  Cuda cuda;
  for (const auto& [rows, outputs, inputs] : shapes) {
    Block x(DType::bf16, rows, inputs), w(DType::bf16, outputs, inputs);
    Block y(DType::f32, rows, outputs);
    x.randomise(1), w.randomise(2);
    Image dx(cuda, x), dw(cuda, w), dy(cuda, y);
    const auto product = [&](int64_t first, int64_t count, int tile) {
      tx::cuda::matmul_invariant(cuda.state(), dx.view().columns(first, count),
                                 cuda.prepare(dw.view().columns(first, count)), {},
                                 Activation::none, dy.view(), tile);
      dy.download();
      return tx_test::values(y.view());
    };
    std::vector<double> sums = product(0, 256, tx::cuda::best);
    for (int64_t k = 256; k < inputs; k += 256) {
      const std::vector<double> part = product(k, std::min<int64_t>(256, inputs - k), 3);
      for (size_t i = 0; i < sums.size(); i++) sums[i] = float(sums[i]) + float(part[i]);
    }
    for (int tile = tx::cuda::best; tile < tx::cuda::tile_count(DType::bf16); tile++)
      BOOST_TEST((product(0, inputs, tile) == sums));
  }
}

// With whole and incomplete tiles, slices and parts.
BOOST_AUTO_TEST_CASE(wgmma_has_the_bits_of_mma) {
  Cuda cuda;
  const bool hopper = Cuda::describe().find("(9.0)") != std::string::npos;
  BOOST_TEST(tx::cuda::use_wgmma(cuda.state(), true) == hopper);
  const int64_t shapes[][3] = {{128, 128, 64}, {150, 136, 600}, {70, 264, 776}, {260, 8, 8}};
  for (const auto& [rows, outputs, inputs] : shapes) {
    for (const DType out : {DType::f32, DType::bf16}) {
      Block x(DType::bf16, rows, inputs), w(DType::bf16, outputs, inputs);
      Block bias(DType::f32, 1, outputs), y(out, rows, outputs), z(out, rows, outputs);
      x.randomise(1), w.randomise(2), bias.randomise(3);
      y.fill(std::nan("")), z.fill(std::nan(""));
      Image dx(cuda, x), dw(cuda, w), dbias(cuda, bias), dy(cuda, y), dz(cuda, z);
      const auto product = [&](bool by_wgmma, Image& to) {
        tx::cuda::use_wgmma(cuda.state(), by_wgmma);
        tx::cuda::matmul_invariant(cuda.state(), dx.view(), cuda.prepare(dw.view()), dbias.view(),
                                   Activation::relu, to.view(), 6);
        to.download();
      };
      product(true, dy), product(false, dz);
      BOOST_TEST((tx_test::values(y.view()) == tx_test::values(z.view())));
      BOOST_TEST((y.intact() && z.intact()));
    }
  }
}

// Decoding with base on an H200: products that are large enough occupy nearly every multiprocessor,
// and the height of a tile fits the number of rows.
BOOST_AUTO_TEST_CASE(tiles_keep_a_device_busy) {
  constexpr int processors = 132;
  int shared_bytes = 232448;
  const auto shape_for = [&](int64_t rows, int64_t cols) {
    const int tile = tx::cuda::best_tile(DType::bf16, rows, cols, processors, shared_bytes);
    const tx::cuda::TileShape t = tx::cuda::tile_shape(DType::bf16, tile);
    return std::array<int64_t, 3>{t.rows, t.cols,
                                  (rows + t.rows - 1) / t.rows * ((cols + t.cols - 1) / t.cols)};
  };
  using Shape = std::array<int64_t, 3>;  // rows and columns of a tile, tiles
  BOOST_TEST((shape_for(128, 512) == Shape{32, 16, 128}));
  BOOST_TEST((shape_for(128, 1536) == Shape{32, 64, 96}));
  BOOST_TEST((shape_for(128, 2048) == Shape{32, 64, 128}));
  BOOST_TEST((shape_for(512, 512) == Shape{32, 64, 128}));
  BOOST_TEST((shape_for(4, 512) == Shape{16, 16, 32}));
  BOOST_TEST((shape_for(4, 37056) == Shape{16, 64, 579}));
  BOOST_TEST((shape_for(128, 37056) == Shape{128, 128, 290}));
  BOOST_TEST((shape_for(4096, 512) == Shape{128, 128, 128}));
  BOOST_TEST((shape_for(25000, 2048) == Shape{128, 128, 3136}));
  shared_bytes = 98304;  // the tile needs all of it
  BOOST_TEST((shape_for(25000, 2048) == Shape{128, 128, 3136}));
  shared_bytes = 98303;
  BOOST_TEST((shape_for(25000, 2048) == Shape{64, 64, 12512}));
}

BOOST_AUTO_TEST_CASE(near_the_products_of_training) {
  Cuda cuda;
  for (const Types t : types()) {
    if (t.in == DType::f32 && t.out == DType::bf16) continue;  // training has no such product
    Block x(t.in, 64, 96), w(t.in, 152, 96), y(t.out, 64, 152), z(t.out, 64, 152);
    x.randomise(1), w.randomise(2);
    Image dx(cuda, x), dw(cuda, w), dy(cuda, y), dz(cuda, z);
    Matrix prepared = cuda.prepare(dw.view());
    BOOST_TEST(prepared.data == dw.view().data);
    BOOST_TEST((prepared.rows == 152 && prepared.cols == 96 && prepared.dtype == t.in));
    cuda.matmul_invariant(dx.view(), prepared, {}, Activation::none, dy.view());
    tx::Product p;
    p.a = dx.view(), p.b = dw.view(), p.c = dz.view(), p.transpose_b = true;
    cuda.product(p);
    dy.download(), dz.download();
    const std::vector<double> ours = tx_test::values(y.view()), theirs = tx_test::values(z.view());
    int64_t far = 0;
    for (size_t i = 0; i < ours.size(); i++) {
      const double limit = tx_test::tolerance(t.in, t.out, 96, ours[i]);
      far += !(std::abs(ours[i] - theirs[i]) <= 2 * limit);
    }
    BOOST_TEST(far == 0);
    cuda.release_prepared(prepared);
    BOOST_TEST(prepared.prepared == nullptr);
  }
}

BOOST_AUTO_TEST_CASE(memory_is_released_if_weights_cannot_be_read) {
  Cuda cuda;
  const size_t before = cuda.free_bytes();
  const tx::WeightRows broken{1000, 4096, [](int64_t first, int64_t, float*) {
                                if (first > 0) throw tx::Error("broken");
                              }};
  BOOST_CHECK_THROW(cuda.prepare_rows(broken, DType::bf16), tx::Error);
  BOOST_TEST(cuda.free_bytes() == before);
}

// A product with picked rows of w has the same bits as those columns of the whole product.
BOOST_AUTO_TEST_CASE(picked_rows) {
  Cuda cuda;
  const std::vector<std::vector<int32_t>> lists = {
      {3, 64, 65, 199}, {130, 2, 2, 129, 63, 0, 7}, {5, 199, 0}};
  for (const DType t : {DType::f32, DType::bf16}) {
    Block x(t, 9, 33), w(t, 200, 33, 5), y(t, 9, 200);
    x.randomise(1), w.randomise(2);
    Image dx(cuda, x), dw(cuda, w), dy(cuda, y);
    Matrix all = cuda.prepare(dw.view()), picked;
    cuda.matmul_invariant(dx.view(), all, {}, Activation::none, dy.view());
    dy.download();
    for (const std::vector<int32_t>& rows : lists) {
      const int64_t count = int64_t(rows.size());
      cuda.pick_rows(all, rows.data(), count, picked);
      Block got(t, 9, count, 1);
      Image dgot(cuda, got);
      cuda.matmul_invariant(dx.view(), picked, {}, Activation::none, dgot.view());
      dgot.download();
      int64_t different = 0;
      for (int64_t i = 0; i < 9; i++)
        for (int64_t j = 0; j < count; j++)
          different += tx_test::get(got.view(), i, j) != tx_test::get(y.view(), i, rows[size_t(j)]);
      BOOST_TEST(different == 0);
      BOOST_TEST(got.intact());
    }
    cuda.release_prepared(picked), cuda.release_prepared(all);
  }
}

// A NaN in one row stays there; x of an odd number of columns is not read past its end.
BOOST_AUTO_TEST_CASE(nan_stays_in_its_row) {
  Cuda cuda;
  for (const DType t : {DType::f32, DType::bf16}) {
    for (int tile = 0; tile < tx::cuda::tile_count(t); tile++) {
      Block x(t, 9, 7), w(t, 20, 7), y(DType::f32, 9, 20);
      x.randomise(1), w.randomise(2);
      tx_test::set(x.view(), 4, 0, std::nan(""));
      Image dx(cuda, x), dw(cuda, w), dy(cuda, y);
      tx::cuda::matmul_invariant(cuda.state(), dx.view(), cuda.prepare(dw.view()), {},
                                 Activation::none, dy.view(), tile);
      dy.download();
      for (int64_t i = 0; i < 9; i++) {
        for (int64_t j = 0; j < 20; j++) {
          BOOST_TEST(std::isnan(tx_test::get(y.view(), i, j)) == (i == 4));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_rows_is_no_work) {
  Cuda cuda;
  Block x(DType::bf16, 0, 8), w(DType::bf16, 4, 8), y(DType::bf16, 0, 4);
  Image dx(cuda, x), dw(cuda, w), dy(cuda, y);
  cuda.matmul_invariant(dx.view(), cuda.prepare(dw.view()), {}, Activation::none, dy.view());
  BOOST_TEST(dy.unchanged());
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_bugs) {
  Cuda cuda;
  Block x(DType::f32, 2, 8), w(DType::f32, 3, 8), y(DType::f32, 2, 4);
  const Matrix packed = cuda.prepare(w.view());
  BOOST_CHECK_THROW(cuda.matmul_invariant(x.view(), packed, {}, Activation::none, y.view()),
                    tx::Bug);
  BOOST_CHECK_THROW(
      cuda.matmul_invariant(x.view(), w.view(), {}, Activation::none, y.view().columns(0, 3)),
      tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
#endif
