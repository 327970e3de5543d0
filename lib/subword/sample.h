// A sample of a text of any length, in memory that grows with the sample alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/subword/word_count.h"

namespace tx {

// `size` lines of the source, each as likely as any other (Vitter's algorithm R, 1985), in no
// particular order; all lines where there are fewer. The same source, size and seed give the same
// lines.
std::vector<std::string> sample_lines(const LineSource& lines, int64_t size, uint64_t seed);

// Reads such lines again.
LineSource source_of(const std::vector<std::string>& lines);

}  // namespace tx
