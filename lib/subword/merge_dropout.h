// BPE-dropout (Provilkov et al., 2020): whenever the best merge is sought, each possible one is
// left out with a probability, so that a word is cut in another way each time. Which ones is a
// pure function of the seed, the epoch and the number of the line, whatever the threads, the order
// or the neighbours.
#pragma once
#include <cstdint>

#include "lib/base/philox.h"

namespace tx {

struct MergeDropout {
  double probability = 0;  // 0: every merge is done; 1: none, a line becomes its characters
  uint64_t seed = 1;
  uint32_t epoch = 0;  // each cuts the same line in another way
};

// The choices of one line, drawn one after another.
class MergeDraws {
 public:
  // `part` keeps apart what has the same line number: the sides of parallel text (below 256).
  MergeDraws(const MergeDropout& dropout, int64_t line, uint32_t part = 0)
      : dropout_(dropout),
        line_(uint64_t(line)),
        part_(part),
        limit_(uint64_t(dropout.probability * 0x1p32)) {}

  bool drop() {
    if (used_ == 4) draw();
    return now_.word[used_++] < limit_;
  }

 private:
  // Apart from model dropout, initialisation, sampling and the order of pairs.
  static constexpr uint32_t site = 0x62706564;

  void draw() {
    now_ = Philox::block(uint32_t(dropout_.seed), uint32_t(dropout_.seed >> 32) ^ site, count_++,
                         uint32_t(line_), uint32_t(line_ >> 32) << 8 | part_, dropout_.epoch);
    used_ = 0;
  }

  MergeDropout dropout_;
  uint64_t line_;
  uint32_t part_;
  uint64_t limit_;
  uint32_t count_ = 0;
  int used_ = 4;
  Philox::Block now_{};
};

}  // namespace tx
