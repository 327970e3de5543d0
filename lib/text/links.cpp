#include "lib/text/links.h"

#include "lib/base/error.h"
#include "lib/base/split.h"

namespace tx {

std::vector<WordLink> parse_links(std::string_view line) {
  std::vector<WordLink> links;
  for (const std::string_view field : split_fields(line)) {
    std::string_view rest = field;
    WordLink link;
    bool good = take_number(rest, link.source) && !rest.empty();
    const char kind = good ? rest.front() : ' ';
    if (good) rest.remove_prefix(1);
    good = good && (kind == '-' || kind == '?' || kind == 'p') && take_number(rest, link.target) &&
           rest.empty();
    if (!good)
      throw DataError("'" + std::string(field) +
                      "' is not a link; write 0-1 for a sure one, 0?1 or 0p1 for a possible one");
    link.sure = kind == '-';
    links.push_back(link);
  }
  return links;
}

}  // namespace tx
