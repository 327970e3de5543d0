#include "lib/subword/sample.h"

#include "lib/base/philox.h"

namespace tx {
namespace {

constexpr uint32_t site = 0x73616D70;  // apart from other uses of the seed

}  // namespace

std::vector<std::string> sample_lines(const LineSource& lines, int64_t size, uint64_t seed) {
  PhiloxStream random(seed, site);
  std::vector<std::string> sample;
  std::string line;
  for (uint64_t count = 1; lines(line); ++count) {
    if (count <= uint64_t(size)) {
      sample.push_back(line);
      continue;
    }
    const uint64_t high = random.next(), low = random.next();
    const uint64_t place = (high << 32 | low) % count;  // the bias is below 2^-20 for 2^44 lines
    if (place < uint64_t(size)) sample[place].swap(line);
  }
  return sample;
}

LineSource source_of(const std::vector<std::string>& lines) {
  return [&lines, i = size_t(0)](std::string& line) mutable {
    if (i == lines.size()) return false;
    line = lines[i++];
    return true;
  };
}

}  // namespace tx
