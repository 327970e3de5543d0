#include "lib/ranks/pulse.h"

#include <algorithm>

namespace tx {

Pulse::Pulse(int me, int ranks)
    : silent_(size_t(ranks)), patience_(patience + 2 * std::clamp(me - 1, 0, 4)) {
  if (me > 0) peers_ = {0};
  for (int r = 1; me == 0 && r < ranks; ++r) peers_.push_back(r);
}

void Pulse::heard(int rank) { silent_[size_t(rank)] = 0; }

int Pulse::beat() {
  int lost = -1;
  for (const int peer : peers_)
    if (++silent_[size_t(peer)] > patience_ && lost < 0) lost = peer;
  return lost;
}

}  // namespace tx
