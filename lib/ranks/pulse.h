// Detects ranks that have died by their heartbeats. Time is counted in heartbeats of this rank: a
// process that was suspended does not suspect the others when it resumes, and no clocks are
// compared.
#pragma once
#include <algorithm>
#include <vector>

namespace tx {

class Pulse {
 public:
  static constexpr int patience = 20;  // heartbeats, one per second

  // For rank `me`: rank 0 listens to all others, they listen to rank 0. If rank 0 dies, the lowest
  // other rank reports it, so each waits two heartbeats longer than the one below it, at most 8
  // longer.
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
