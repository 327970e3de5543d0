#include "lib/data/link_lines.h"

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

}  // namespace tx
