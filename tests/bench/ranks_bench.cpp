// The time that ranks need to move bytes, for ranks_model.sh. Started by mpirun:
//   mpirun -n 4 ranks_bench
// Rank 0 prints a line for each call and size: ranks, call, bytes that each rank sends to the
// others, seconds (the median of some rounds, of the slowest rank).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "lib/base/error.h"
#include "lib/ranks/communicator.h"

namespace {

constexpr int rounds = 21;

template <class Call>
double seconds(tx::Communicator& ranks, const Call& call) {
  std::vector<double> times, all(size_t(ranks.size()));
  for (int round = 0; round < rounds; ++round) {
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    call();
    const double mine =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ranks.gather_all(&mine, sizeof mine, all.data());
    times.push_back(*std::max_element(all.begin(), all.end()));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

}  // namespace

int main() try {
  const auto ranks = tx::join_ranks("ranks_bench");
  if (!ranks || ranks->size() < 2) throw tx::UsageError("start it with mpirun -n 2, or more");
  const auto count = size_t(ranks->size());
  for (size_t shard = size_t(1) << 10; shard <= size_t(1) << 24; shard *= 4) {
    std::vector<char> from(shard * count, 1), to(shard * count);
    const std::vector<size_t> each(count, shard);
    const double exchange =
        seconds(*ranks, [&] { ranks->exchange(from.data(), each, to.data(), each); });
    const double gather =
        seconds(*ranks, [&] { ranks->gather_all(from.data(), shard, to.data()); });
    if (ranks->rank() != 0) continue;
    const size_t bytes = shard * (count - 1);
    std::printf("%zu exchange %zu %.6g\n%zu gather %zu %.6g\n", count, bytes, exchange, count,
                bytes, gather);
  }
  return 0;
} catch (const tx::Error& e) {
  std::fprintf(stderr, "ranks_bench: %s\n", e.what());
  return 1;
}
