// Runs the threads of a block as fibers, in warps of 32, until all have ended.
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tests/emulator/cuda_runtime.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator {
namespace {

namespace context = boost::context;

struct Copy {
  void* to;
  const void* from;
  int bytes;
};

struct Thread {
  context::fiber own, scheduler;
  uint3 index{};
  bool ended = false, at_barrier = false, at_meeting = false, waited = false;
  std::vector<std::vector<Copy>> copies{1};  // by group; the last is not committed yet
  std::vector<std::vector<std::function<void()>>> products{1};
};

struct Meeting {  // a shuffle, vote or product, at which the lanes of a warp wait for one another
  unsigned mask = 0, arrived = 0;
  Collective kind{};
  alignas(64) char slots[32 * 64];
};

constexpr size_t shared_limit = 228 * 1024;
alignas(1024) char shared[shared_limit];

struct Block {
  std::vector<Thread> threads{1024};
  std::vector<Meeting> meetings{32};  // by warp; a warp is in one at a time
  int count = 0, now = 0, at_barrier = 0, alive = 0;
  bool early = false;
  const std::function<void()>* body = nullptr;
  context::pooled_fixedsize_stack stacks{128 * 1024};

  Thread& current() { return threads[size_t(now)]; }
  void pause() {
    const int self = now;
    Thread& t = current();
    t.scheduler = std::move(t.scheduler).resume();
    now = self;
    threadIdx = t.index;
  }
  void run(dim3 shape);
  void start(Thread& t);
  bool turn(int i);
};

Block& block() {
  static Block& b = *new Block;
  return b;
}

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "emulated CUDA: block (%u, %u, %u) thread (%u, %u, %u): %s\n", blockIdx.x,
               blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, what);
  std::abort();
}

void finish_copies(Thread& t, size_t left_open) {
  while (t.copies.size() > left_open) {
    for (const Copy& c : t.copies.front()) {
      std::memset(c.to, 0, 16);
      std::memcpy(c.to, c.from, size_t(c.bytes));
    }
    t.copies.erase(t.copies.begin());
  }
}

void finish_products(Thread& t, size_t left_open) {
  while (t.products.size() > left_open) {
    for (const auto& product : t.products.front()) product();
    t.products.erase(t.products.begin());
  }
}

const std::string& order() {
  static const char* const setting = std::getenv("TX_EMULATED_ORDER");
  static const std::string order = setting ? setting : "forward";
  return order;
}

// Creates the fiber of a thread slot once; in later blocks it runs the thread of the same slot.
void Block::start(Thread& t) {
  if (t.own) return;
  t.own = context::fiber(std::allocator_arg, stacks, [this, &t](context::fiber&& back) {
    t.scheduler = std::move(back);
    while (true) {
      (*body)();
      if (early && !t.waited) die("an early kernel did not wait for earlier ones");
      finish_copies(t, 0);
      t.copies.assign(1, {});
      finish_products(t, 0);
      t.products.assign(1, {});
      t.ended = true;
      --alive;
      t.scheduler = std::move(t.scheduler).resume();
    }
    return std::move(t.scheduler);
  });
}

bool Block::turn(int i) {
  Thread& t = threads[size_t(i)];
  if (t.ended || t.at_barrier || t.at_meeting) return false;
  now = i;
  threadIdx = t.index;
  t.own = std::move(t.own).resume();
  return true;
}

// Threads run in the order of TX_EMULATED_ORDER (forward, reverse or shuffle). A result that
// depends on it shows that a barrier is missing.
void Block::run(dim3 shape) {
  static unsigned random = 1;
  count = alive = int(shape.x * shape.y * shape.z);
  at_barrier = 0;
  for (int i = 0; i < count; ++i) {
    Thread& t = threads[size_t(i)];
    t.index = {unsigned(i) % shape.x, unsigned(i) / shape.x % shape.y,
               unsigned(i) / (shape.x * shape.y)};
    t.ended = t.at_barrier = t.at_meeting = t.waited = false;
    start(t);
  }
  while (alive > 0) {
    bool moved = false;
    random = random * 1664525u + 1013904223u;
    const int first = order() == "shuffle" ? int(random >> 8) % count : 0;
    for (int i = 0; i < count; ++i) {
      const int at = (i + first) % count;
      moved |= turn(order() == "forward" ? at : count - 1 - at);
    }
    if (at_barrier > 0 && at_barrier == alive) {
      for (int i = 0; i < count; ++i) threads[size_t(i)].at_barrier = false;
      at_barrier = 0;
      moved = true;
    }
    if (!moved && alive > 0)
      die("threads wait for one another at different barriers, shuffles or votes");
  }
}

}  // namespace

void run_grid(dim3 grid, dim3 shape, size_t bytes, bool early, const std::function<void()>& body) {
  const size_t threads = size_t(shape.x) * shape.y * shape.z;
  if (threads == 0 || threads > 1024 || bytes > shared_limit || grid.y > 65535 || grid.z > 65535)
    die("a launch beyond the device's limits");
  Block& b = block();
  b.body = &body;
  b.early = early;
  gridDim = grid;
  blockDim = shape;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        std::memset(shared, 0xff, bytes);
        b.run(shape);
      }
}

void wait_for_earlier() { block().current().waited = true; }

void* shared_memory() { return shared; }

int lane() { return block().now % 32; }

void block_meet() {
  Block& b = block();
  b.current().at_barrier = true;
  ++b.at_barrier;
  b.pause();
}

void warp_meet(unsigned mask, Collective kind, void* own, size_t bytes,
               const std::function<void(char*)>& finish) {
  Block& b = block();
  const int warp = b.now / 32, lane = b.now % 32;
  if (!(mask >> lane & 1)) die("a lane outside the mask of its own shuffle or vote");
  Meeting& m = b.meetings[size_t(warp)];
  if (m.arrived == 0) {
    m.mask = mask;
    m.kind = kind;
  } else if (m.mask != mask || m.kind != kind) {
    die("lanes of a warp execute different instructions or use different masks");
  }
  if (bytes) std::memcpy(m.slots + 64 * lane, own, bytes);
  m.arrived |= 1u << lane;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1 && (warp * 32 + i >= b.count || b.threads[size_t(warp * 32 + i)].ended))
      die("a shuffle or vote waits for a lane that has ended or does not exist");
  if (m.arrived != mask) {
    b.current().at_meeting = true;
    b.pause();
  } else {
    finish(m.slots);
    m.arrived = 0;
    for (int i = 0; i < 32; ++i)
      if (mask >> i & 1) b.threads[size_t(warp * 32 + i)].at_meeting = false;
    // The others read their slots before the next meeting can finish, since it waits for them.
  }
  if (bytes) std::memcpy(own, m.slots + 64 * lane, bytes);
}

unsigned ballot(unsigned mask, bool yes) {
  uint32_t own = yes;
  warp_meet(mask, Collective::vote, &own, sizeof own, [&](char* slots) {
    uint32_t all = 0;
    for (int i = 0; i < 32; ++i) {
      uint32_t one;
      std::memcpy(&one, slots + 64 * i, 4);
      if (mask >> i & 1 && one) all |= 1u << i;
    }
    for (int i = 0; i < 32; ++i) std::memcpy(slots + 64 * i, &all, 4);
  });
  return own;
}

namespace {

struct Fragments {
  float c[4];
  uint32_t a[4], b[2];
};

float half(uint32_t word, int which) {
  return __uint_as_float(which ? word & 0xffff0000u : word << 16);
}

// One 16 x 8 product; sums in double, rounded once, since the hardware's order is not specified.
void multiply(char* slots) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    Fragments f;
    std::memcpy(&f, slots + 64 * lane, sizeof f);
    const int g = lane / 4, t = lane % 4;
    for (int e = 0; e < 2; ++e) {
      for (int part = 0; part < 4; ++part)
        a[g + part % 2 * 8][2 * t + e + part / 2 * 8] = half(f.a[part], e);
      for (int part = 0; part < 2; ++part) b[2 * t + e + part * 8][g] = half(f.b[part], e);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    float c[4];
    std::memcpy(c, slots + 64 * lane, sizeof c);
    for (int e = 0; e < 4; ++e) {
      const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
      double sum = c[e];
      for (int k = 0; k < 16; ++k) sum += double(a[row][k]) * b[k][column];
      c[e] = float(sum);
    }
    std::memcpy(slots + 64 * lane, c, sizeof c);
  }
}

}  // namespace

void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  Fragments f;
  std::memcpy(f.c, c, sizeof c);
  std::memcpy(f.a, a, sizeof a);
  std::memcpy(f.b, b, sizeof b);
  warp_meet(0xffffffffu, Collective::product, &f, sizeof f, multiply);
  std::memcpy(c, f.c, sizeof c);
}

// Each thread computes its own elements, at once or, in reverse order, at its wait, so that a
// barrier that is missing on either side of a product shows.
void wgmma_64x128(float (&c)[16][4], const void* a, const void* b, bool add) {
  if (reinterpret_cast<uintptr_t>(a) % 1024 % 128 % 32 ||
      reinterpret_cast<uintptr_t>(a) % 1024 > 96)
    die("wgmma from an address that is not aligned");
  const auto at = [](const void* matrix, int row, int k) {
    uintptr_t address = reinterpret_cast<uintptr_t>(matrix) + uintptr_t(row * 128 + k * 2);
    address ^= (address >> 7 & 7) << 4;
    uint16_t bits;
    std::memcpy(&bits, reinterpret_cast<const void*>(address), 2);
    return double(half(bits, 0));
  };
  Thread& t = block().current();
  const int thread = block().now % 128, row = thread / 32 * 16 + thread % 32 / 4;
  t.products.back().push_back([=, &c] {
    for (int e = 0; e < 64; ++e) {
      const int column = e / 4 * 8 + thread % 4 * 2 + e % 2;
      float& to = c[e / 4][e % 4];
      double sum = add ? to : 0;
      for (int k = 0; k < 16; ++k) sum += at(a, row + e % 4 / 2 * 8, k) * at(b, column, k);
      to = float(sum);
    }
  });
  if (order() == "reverse") return;
  for (const auto& product : t.products.back()) product();
  t.products.back().clear();
}
void wgmma_commit() { block().current().products.emplace_back(); }
void wgmma_wait_groups(int groups) { finish_products(block().current(), size_t(groups) + 1); }

void ldmatrix(uint32_t (&r)[4], const void* row, bool transposed) {
  if (reinterpret_cast<uintptr_t>(row) % 16) die("ldmatrix from an address that is not aligned");
  struct {
    const void* row;
    bool transposed;
  } own{row, transposed};
  static_assert(sizeof own <= 16);
  alignas(16) char slot[16];
  std::memcpy(slot, &own, sizeof own);
  warp_meet(0xffffffffu, Collective::matrix, slot, sizeof slot, [transposed](char* slots) {
    uint16_t tile[4][8][8];
    for (int i = 0; i < 32; ++i) {
      const void* from;
      std::memcpy(&from, slots + 64 * i, sizeof from);
      std::memcpy(tile[i / 8][i % 8], from, 16);
    }
    for (int i = 0; i < 32; ++i) {
      uint32_t out[4];
      for (int k = 0; k < 4; ++k) {
        const int g = i / 4, t = 2 * (i % 4);
        const uint32_t low = transposed ? tile[k][t][g] : tile[k][g][t];
        const uint32_t high = transposed ? tile[k][t + 1][g] : tile[k][g][t + 1];
        out[k] = low | high << 16;
      }
      std::memcpy(slots + 64 * i, out, sizeof out);
    }
  });
  std::memcpy(r, slot, sizeof slot);
}

void copy_async(void* to, const void* from, int bytes) {
  if (reinterpret_cast<uintptr_t>(to) % 16 || (bytes && reinterpret_cast<uintptr_t>(from) % 16))
    die("cp.async with an address that is not aligned");
  if (bytes < 0 || bytes > 16) die("cp.async of other than 0 to 16 bytes");
  block().current().copies.back().push_back({to, from, bytes});
}
void copy_async_commit() { block().current().copies.emplace_back(); }
void copy_async_wait_groups(int groups) { finish_copies(block().current(), size_t(groups) + 1); }

}  // namespace emulator
