#include "lib/data/links.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

LinkLines::LinkLines(const std::string& first, const Vocabulary& source, const Vocabulary& target)
    : file_(first.substr(0, first.rfind(':'))), source_(source), target_(target) {}

std::vector<WordLink> LinkLines::read(const std::string& text, int64_t line,
                                      std::span<const int> source,
                                      std::span<const int> target) const try {
  std::vector<WordLink> links = parse_links(text);
  if (links.empty()) return links;
  const size_t words[] = {source_(source).size() - 1, target_(target).size() - 1};
  for (WordLink& link : links) {
    const auto check = [&](uint32_t word, size_t count, const char* side) {
      if (word < count) return;
      throw DataError(
          "link " + std::to_string(link.source) + "-" + std::to_string(link.target) + ", but the " +
          side + " has " +
          (count == 0 ? "no words" : counted(int64_t(count), "word") + ", counted from 0"));
    };
    check(link.source, words[0], "source");
    check(link.target, words[1], "target");
    link.sure = true;
  }
  std::sort(links.begin(), links.end(), [](const WordLink& a, const WordLink& b) {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  });
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
} catch (const DataError& error) {
  throw DataError(file_ + ":" + std::to_string(line) + ": " + error.what());
}

PairLinks::PairLinks(const IdCache& cache, const Vocabularies& vocabularies, bool shift)
    : cache_(cache), source_(vocabularies.source()), target_(vocabularies.target()), shift_(shift) {
  TX_ASSERT(cache.has_links());
}

// Adds the links of one sentence; columns[row] gets the source rows of a target row.
void PairLinks::add_sentence(uint32_t pair, size_t sentence, const Batch& batch,
                             std::vector<std::vector<int32_t>>& columns) const {
  const auto rows = [&](const BatchSide& side) {
    const int32_t first = side.offsets[sentence];
    return std::span(side.ids).subspan(size_t(first), size_t(side.offsets[sentence + 1] - first));
  };
  const std::span<const int32_t> source = rows(batch.sides.front());
  const std::span<const int32_t> target = rows(batch.sides.back());
  const std::vector<int64_t> from = source_(source.first(source.size() - 1));  // without <eos>
  const std::vector<int64_t> to = target_(target.subspan(1));                  // without <bos>
  const size_t first_row = size_t(batch.sides.back().offsets[sentence]) + shift_;
  for (const WordLink& link : cache_.links(pair)) {
    if (link.source + 1 >= from.size() || link.target + 1 >= to.size()) continue;
    for (int64_t row = to[link.target]; row < to[link.target + 1]; ++row) {
      std::vector<int32_t>& linked = columns[first_row + size_t(row)];
      for (int64_t column = from[link.source]; column < from[link.source + 1]; ++column)
        linked.push_back(int32_t(column));
    }
  }
}

void PairLinks::write(const std::vector<uint32_t>& pairs, Batch& batch) const {
  TX_ASSERT(batch.sides.size() == 2);
  std::vector<std::vector<int32_t>> columns(batch.labels.size());
  for (size_t i = 0; i < pairs.size(); ++i) add_sentence(pairs[i], i, batch, columns);
  batch.links.starts.assign(1, 0);
  batch.links.columns.clear();
  for (const std::vector<int32_t>& row : columns) {
    batch.links.columns.insert(batch.links.columns.end(), row.begin(), row.end());
    batch.links.starts.push_back(int32_t(batch.links.columns.size()));
  }
}

}  // namespace tx
