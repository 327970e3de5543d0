// Which ranks still live, by what is heard of them. Time is counted in beats of this rank's own: a
// process that was stopped and goes on has not missed any, and no clock is compared.
#pragma once
#include <vector>

namespace tx {

class Pulse {
 public:
  static constexpr int patience = 20;  // beats, of a second each

  // Of the rank `me`: rank 0 listens to all others, they to rank 0. Where that is silent, the
  // lowest other rank speaks, so each waits two beats longer than the one below it, up to 8.
  Pulse(int me, int ranks);
  const std::vector<int>& peers() const { return peers_; }
  void heard(int rank);
  int beat();  // one has passed; the rank that has been silent for too long, -1: there is none

 private:
  std::vector<int> peers_;   // ranks listened to
  std::vector<int> silent_;  // beats without a sign, by rank
  int patience_;
};

}  // namespace tx
