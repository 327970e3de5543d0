#include <algorithm>
#include <numeric>

#include "lib/cli/options.h"

namespace tx {

namespace {

// Edits (insert, delete, replace, swap of neighbours) between two words ("optimal string
// alignment").
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  if (word.size() == 2 && word[0] == '-') return best;  // any other letter would be as near
  size_t min = std::max<size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    const size_t distance = edits(word, candidate);
    if (distance < min && candidate.size() > distance) {
      min = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tx
