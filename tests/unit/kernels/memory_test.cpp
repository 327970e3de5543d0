// allocate, release, upload, download, shared memory, zero, convert; the rounding of every dtype.
#include <limits>

#include "lib/base/error.h"
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

#ifdef __SANITIZE_ADDRESS__
// An allocation that is too large fails, as without the sanitizer, and does not end the process.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(allocations_are_aligned_and_apart) {
  std::vector<char*> blocks;
  const std::vector<size_t> sizes = {0, 1, 63, 64, 65, 4095, size_t(4) << 20, (4u << 20) + 1};
  for (const size_t size : sizes) {
    blocks.push_back(static_cast<char*>(backend_of(1)->allocate(size)));
    BOOST_TEST(blocks.back() != nullptr);
    BOOST_TEST(reinterpret_cast<uintptr_t>(blocks.back()) % 64 == 0u);
    const std::vector<char> bytes(size, char(blocks.size()));
    if (size) backend_of(1)->upload(blocks.back(), bytes.data(), size);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::vector<char> now(sizes[i]);
    if (sizes[i]) backend_of(1)->download(now.data(), blocks[i], sizes[i]);
    BOOST_TEST((now == std::vector<char>(sizes[i], char(i + 1))));
    backend_of(1)->release(blocks[i]);
  }
  backend_of(1)->release(nullptr);
}

// upload() copies the bytes that the host had at the time of the call, even if many copies are
// pending, and copies of every size keep their order.
BOOST_AUTO_TEST_CASE(the_host_may_write_at_once) {
  constexpr size_t max = size_t(3) << 20;
  char* to = static_cast<char*>(backend_of(1)->allocate(16 * max));
  std::vector<char> host(max), now(max);
  const std::vector<size_t> sizes = {1, 100, max / 3, max / 3 + 1, 300000, max, 65, max / 5};
  for (size_t i = 0; i < 2 * sizes.size(); ++i) {
    std::fill(host.begin(), host.end(), char(i + 1));
    backend_of(1)->upload(to + i * max, host.data(), sizes[i % sizes.size()]);
    std::fill(host.begin(), host.end(), 'x');
    if (i > 0) backend_of(1)->upload(to + (i - 1) * max, host.data(), 1);
  }
  for (size_t i = 0; i < 2 * sizes.size(); ++i) {
    const size_t size = sizes[i % sizes.size()];
    std::vector<char> want(size, char(i + 1));
    if (i + 1 < 2 * sizes.size()) want[0] = 'x';
    backend_of(1)->download(now.data(), to + i * max, size);
    BOOST_TEST((std::vector<char>(now.begin(), now.begin() + long(size)) == want));
  }
  backend_of(1)->release(to);
}

// The same for large copies, which a GPU gets in pieces.
BOOST_AUTO_TEST_CASE(the_host_may_write_at_once_what_takes_several_copies) {
  for (const size_t size : {(size_t(4) << 20) + 1, size_t(8) << 20, (size_t(13) << 20) + 77}) {
    std::vector<char> host(size), now(size);
    for (size_t i = 0; i < size; ++i) host[i] = char(i ^ i >> 8 ^ i >> 16);
    const std::vector<char> want = host;
    char* to = static_cast<char*>(backend_of(1)->allocate(size));
    backend_of(1)->upload(to, host.data(), size);
    std::fill(host.begin(), host.end(), 'x');
    backend_of(1)->download(now.data(), to, size);
    BOOST_TEST((now == want));
    backend_of(1)->release(to);
  }
}

// Shared memory: the host reads what kernels wrote after it has waited.
BOOST_AUTO_TEST_CASE(shared_memory_needs_no_upload) {
  for (const size_t words : {size_t(1), size_t(255), size_t(70000)}) {
    auto* in = static_cast<uint32_t*>(backend_of(1)->allocate_shared(words * 4));
    auto* out = static_cast<uint32_t*>(backend_of(1)->allocate_shared(words * 4));
    void* there = backend_of(1)->allocate(words * 4);
    for (size_t i = 0; i < words; ++i) in[i] = uint32_t(i * 2654435761u), out[i] = 7;
    backend_of(1)->copy_shared(there, in, words * 4);
    backend_of(1)->copy_shared(out, there, words * 4);
    backend_of(1)->wait();
    BOOST_TEST(std::equal(in, in + words, out));
    for (uint32_t* each : {in, out}) backend_of(1)->release_shared(each);
    backend_of(1)->release(there);
  }
  backend_of(1)->release_shared(nullptr);
}

BOOST_AUTO_TEST_CASE(an_impossible_size_is_refused) {
  const size_t max = std::numeric_limits<size_t>::max();
  for (const size_t size : {max, max - 63, max - (size_t(2) << 20), max / 2, max / 4})
    BOOST_CHECK_THROW(backend_of(1)->release(backend_of(1)->allocate(size)), tx::Error);
}

BOOST_AUTO_TEST_CASE(zero_clears_just_its_bytes) {
  for (const size_t size : {size_t(0), size_t(1), size_t(17), size_t(130)}) {
    run_layouts([&](Run& run) {
      std::vector<char> bytes(size, 'x');
      char* data = run.array(bytes, Access::write);
      run.call([&](auto& b) { b.zero(data, size); });
      BOOST_TEST((run.read(data, int64_t(size)) == std::vector<char>(size, 0)));
    });
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_copied_from_nowhere) {
  BOOST_CHECK_NO_THROW(backend_of(1)->upload(nullptr, nullptr, 0));
  BOOST_CHECK_NO_THROW(backend_of(1)->download(nullptr, nullptr, 0));
  BOOST_CHECK_NO_THROW(backend_of(1)->zero(nullptr, 0));
}

// Random values, infinities, NaN and -0.
BOOST_AUTO_TEST_CASE(convert_every_pair_of_types) {
  for (const DType from : dtypes())
    for (const DType to : dtypes())
      for (const int64_t rows : odd_sizes())
        for (const int64_t cols : odd_sizes()) {
          BOOST_TEST_CONTEXT(name_of(from)
                             << " to " << name_of(to) << ", " << rows << " x " << cols) {
            Dense x = random_dense(rows, cols, from, 5, -3, 3);
            if (cols > 3) x(0, 0) = INFINITY, x(0, 1) = -INFINITY, x(0, 2) = NAN, x(0, 3) = -0.0;
            const Results out = run_layouts([&](Run& run) {
              const Matrix a = run.input(x, from), b = run.output(rows, cols, to);
              run.call([&](auto& backend) { backend.convert(a, b); });
              run.keep(b);
            });
            check_close(out[0], round_to(to, round_to(sum_type(to), x)), {0, 0});
            if (cols > 3) BOOST_TEST(std::signbit(out[0](0, 3)));
          }
        }
}

// The rounding of a float to bf16 depends on its lower half and the parity of its upper half: all
// upper halves, each with the lower halves at which the direction changes.
BOOST_AUTO_TEST_CASE(bf16_rounds_to_nearest_even) {
  const std::vector<uint32_t> lower = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  Dense x(65536, int64_t(lower.size()));
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j) {
      const uint32_t bits = uint32_t(i) << 16 | lower[size_t(j)];
      float value;
      std::memcpy(&value, &bits, 4);
      x(i, j) = value;
    }
  Run run(layouts()[0]);
  const Matrix a = run.input(x, DType::f32), b = run.output(x.rows, x.cols, DType::bf16);
  const Matrix back = run.output(x.rows, x.cols, DType::f32);
  run.call([&](auto& backend) {
    backend.convert(a, b);
    backend.convert(b, back);
  });
  check_close(run.read(b), round_to(DType::bf16, x), {0, 0});
  check_close(run.read(back), run.read(b), {0, 0});
  run.check_surroundings();
}

BOOST_AUTO_TEST_SUITE_END()
