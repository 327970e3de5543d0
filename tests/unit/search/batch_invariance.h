// The logits of a sentence in a batch.
#pragma once
#include <string>

#include "tests/unit/search/random_model.h"

namespace tx_test {

// The bytes of one sentence's logits over some steps, in a batch with others.
inline std::string bits_in_batch(RandomModel& m, const std::vector<int>& sentence,
                                   int rows_before, int rows_after) {
  std::vector<std::vector<int>> sources;
  for (int i = 0; i < rows_before; ++i) sources.push_back(random_sentence(100 + uint32_t(i), 3));
  sources.push_back(sentence);
  for (int i = 0; i < rows_after; ++i) sources.push_back(random_sentence(300 + uint32_t(i), 5));
  const int64_t rows = int64_t(sources.size());
  tx::IncrementalDecoder decoding(m.backend, m.transformer, m.parameters.dtype());
  decoding.begin(sources, rows, 4);
  std::string bits;
  for (int step = 0; step < 4; ++step) {
    std::vector<tx::IncrementalDecoder::Row> now;
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t own = 4 + (step * 13) % 60, other = 4 + (step * 7 + i) % 60;
      now.push_back({i, step ? i : -1, !step ? 2 : i == rows_before ? own : other});
    }
    const tx::Matrix logits = decoding.step(now);
    bits.append(static_cast<const char*>(logits.data) +
                    size_t(rows_before * logits.stride) * size_of(logits.dtype),
                size_t(logits.cols) * size_of(logits.dtype));
  }
  return bits;
}

}  // namespace tx_test
