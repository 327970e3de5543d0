// Calls every operation of Communicator and checks the results; started by mpirun. Rank 0 prints
// the number of ranks.
#include <cstdio>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/ranks/communicator.h"

namespace {

// What rank `from` sends to rank `to`: nothing, one byte, or many.
std::string letter(int from, int to) {
  return std::string(size_t(from * to % 3) * 70'001 + size_t(from != to), char('a' + from));
}

void check_exchange(tx::Communicator& ranks) {
  std::string out, wanted;
  std::vector<size_t> out_bytes, in_bytes;
  for (int r = 0; r < ranks.size(); ++r) {
    out += letter(ranks.rank(), r);
    wanted += letter(r, ranks.rank());
    out_bytes.push_back(letter(ranks.rank(), r).size());
    in_bytes.push_back(letter(r, ranks.rank()).size());
  }
  std::string in(wanted.size(), '?');
  ranks.exchange(out.data(), out_bytes, in.data(), in_bytes);
  TX_ASSERT(in == wanted);
}

void check_broadcast(tx::Communicator& ranks) {
  std::vector<int> numbers(300'000, ranks.rank());
  ranks.broadcast(numbers.data(), numbers.size() * sizeof(int));
  for (const int x : numbers) TX_ASSERT(x == 0);
}

void check_gather(tx::Communicator& ranks) {
  const std::string many(24'000, char('a' + ranks.rank()));
  std::string wanted, gathered(size_t(ranks.size()) * many.size(), '?');
  for (int r = 0; r < ranks.size(); ++r) wanted += std::string(many.size(), char('a' + r));
  ranks.gather_all(many.data(), many.size(), gathered.data());
  TX_ASSERT(gathered == wanted);
  const int64_t mine = 100 + ranks.rank();
  std::vector<int64_t> all(size_t(ranks.size()), -1);
  ranks.gather_all(&mine, sizeof mine, all.data());
  for (int r = 0; r < ranks.size(); ++r) TX_ASSERT(all[size_t(r)] == 100 + r);
  std::vector<int64_t> there(size_t(ranks.size()), -1);
  there[size_t(ranks.rank())] = mine;
  ranks.gather_all(&there[size_t(ranks.rank())], sizeof mine, there.data());
  TX_ASSERT(there == all);
}

// Splits the ranks into even and odd ones, and uses both communicators and that of all ranks.
void check_split(tx::Communicator& ranks) {
  const int me = ranks.rank();
  const auto part = ranks.split(me % 2);
  TX_ASSERT(part->rank() == me / 2 && part->size() == (ranks.size() + 1 - me % 2) / 2);
  std::vector<int> all(size_t(part->size()), -1);
  part->gather_all(&me, sizeof me, all.data());
  ranks.barrier();
  for (int r = 0; r < part->size(); ++r) TX_ASSERT(all[size_t(r)] == 2 * r + me % 2);
  int first = me;
  part->broadcast(&first, sizeof first);
  TX_ASSERT(first == me % 2);
}

}  // namespace

int main() try {
  const auto ranks = tx::join_ranks("exchange_ranks");
  if (!ranks) return std::puts("alone"), 0;
  TX_ASSERT(ranks->size() == tx::started_ranks() && ranks->rank() == tx::started_rank());
  TX_ASSERT(ranks->local_rank() == ranks->rank() && !ranks->host().empty());
  check_broadcast(*ranks);
  check_gather(*ranks);
  check_exchange(*ranks);
  check_split(*ranks);
  ranks->barrier();
  if (ranks->rank() == 0) std::printf("%d ranks\n", ranks->size());
  return 0;
} catch (const tx::Error& e) {
  std::fprintf(stderr, "exchange_ranks: %s\n", e.what());
  return 1;
}
