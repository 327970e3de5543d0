// The files that pages are made of; the build generates what this declares (lib/page/embed.cmake).
#pragma once
#include <string_view>

namespace tx {

struct PagePart {
  std::string_view path, text;
};
extern const PagePart page_parts[];
extern const int page_part_count;

}  // namespace tx
