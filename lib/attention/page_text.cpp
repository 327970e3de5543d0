#include <algorithm>

#include "lib/attention/page.h"
#include "lib/base/error.h"

namespace tx {

namespace {

// How many of the first lines fit, a translation being taken to be as long as its source.
int64_t lines_that_fit(const std::vector<Item>& items, const AttentionPage& page) {
  int64_t bytes = 0;
  for (const Item& item : items) {
    const auto source = int64_t(item.source.ids.size()) + 1;
    const auto target = item.target.empty() ? source : int64_t(item.target.size());
    bytes += page.sentence_bytes(source, target);
    if (bytes > page.limit()) return item.line - 1;
  }
  return items.back().line;
}

}  // namespace

std::vector<Item> read_page_text(ItemReader& reader, const AttentionPage& page) {
  std::vector<Item> all, items;
  while (reader.read(items)) {
    const int64_t line = items.back().line;
    for (Item& item : items)
      if (!item.source.ids.empty()) all.push_back(std::move(item));
    if (line <= max_page_lines || all.empty()) continue;
    const std::string n = std::to_string(std::max<int64_t>(1, lines_that_fit(all, page)));
    throw DataError("the text has more than " + std::to_string(max_page_lines) +
                    " lines, and about " + n + " of them fit into a page (--html-limit " +
                    std::to_string(page.limit() / 1'000'000) + "): choose some, as by head -n " +
                    n);
  }
  return all;
}

}  // namespace tx
