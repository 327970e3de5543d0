#include "lib/subword/word_count.h"

#include "lib/base/workers.h"

namespace tx {
namespace {

constexpr size_t words_block_bytes = size_t(1) << 20;

// Replaces the block's lines by its different words, each followed by '\n' and its count: one
// merge into the common table per word and block, instead of one per word and line.
void count_words_of(Block& block) {
  WordCounts counts;
  std::string word;
  for (const std::string& line : block.lines) {
    for (size_t i = 0; i < line.size();) {
      const size_t begin = i;
      while (i < line.size() && !separates_words(line[i])) ++i;
      if (i > begin) ++counts[word.assign(line, begin, i - begin)];
      ++i;
    }
  }
  block.lines.clear();
  for (const auto& [text, count] : counts) {
    block.lines.push_back(text + '\n' + std::to_string(count));
  }
}

}  // namespace

WordCounts count_words(const LineSource& lines, int threads) {
  WordCounts counts;
  std::string line, word;
  const auto read = [&](Block& block) {
    block.lines.clear();
    for (size_t bytes = 0; bytes < words_block_bytes && lines(line); bytes += line.size() + 1) {
      block.lines.push_back(line);
    }
    return !block.lines.empty();
  };
  const auto merge = [&](const Block& block) {
    for (const std::string& entry : block.lines) {
      const size_t end = entry.find('\n');
      counts[word.assign(entry, 0, end)] += std::stoll(entry.substr(end + 1));
    }
  };
  ordered_workers(threads, read, count_words_of, merge);
  return counts;
}

}  // namespace tx
