// Detects dead ranks by heartbeats, counted in those of this rank: no clocks are compared.
#pragma once
#include <algorithm>
#include <vector>

namespace tx {

class Pulse {
 public:
  static constexpr int patience = 20;  // heartbeats, one per second

  // Rank 0 listens to all others, they to rank 0. If it dies, the lowest reports it: each waits two
  // heartbeats longer than the one below, at most 8.
  Pulse(int me, int ranks)
      : silent_(size_t(ranks)), patience_(patience + 2 * std::clamp(me - 1, 0, 4)) {
    if (me > 0) peers_ = {0};
    for (int r = 1; me == 0 && r < ranks; ++r) peers_.push_back(r);
  }
  const std::vector<int>& peers() const { return peers_; }
  void heard(int rank) { silent_[size_t(rank)] = 0; }
  // Counts a heartbeat; returns the lowest rank that has been silent for too long, or -1.
  int beat() {
    int lost = -1;
    for (const int peer : peers_)
      if (++silent_[size_t(peer)] > patience_ && lost < 0) lost = peer;
    return lost;
  }

 private:
  std::vector<int> peers_;   // ranks that this one listens to
  std::vector<int> silent_;  // heartbeats without a message, by rank
  int patience_;
};

}  // namespace tx
