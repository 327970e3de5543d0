#include "lib/search/rules/token_texts.h"

#include <algorithm>

#include "lib/subword/mapped.h"

namespace tx {

template <class F>
bool TokenTexts::any(std::string_view text, F&& f) const {
  const auto from = [&](std::string_view bytes) {
    return std::ranges::lower_bound(entries_, bytes, std::less<>(),
                                    [](const Entry& e) { return std::string_view(e.first); });
  };
  for (size_t size = 1; size < std::min(text.size(), longest_ + 1); ++size)
    for (auto at = from(text.substr(0, size));
         at != entries_.end() && at->first == text.substr(0, size); ++at)
      if (f(*at)) return true;
  for (auto at = from(text); at != entries_.end() && at->first.starts_with(text); ++at)
    if (f(*at)) return true;
  return false;
}

void TokenTexts::choices(std::string_view text, std::vector<int>& tokens) const {
  std::call_once(sorted_, [&] {
    const std::vector<int> never = forbidden_tokens(vocabulary_);
    for (int id = 0; id < vocabulary_.size(); ++id) {
      std::string bytes = vocabulary_.token_bytes(id);
      if (!bytes.empty() && !std::ranges::count(never, id))
        entries_.emplace_back(std::move(bytes), id);
    }
    std::ranges::sort(entries_);
    for (const Entry& e : entries_) longest_ = std::max(longest_, e.first.size());
  });
  tokens.clear();
  // By position, whether tokens can complete the text from there.
  std::vector<bool> possible(text.size() + 1, true);
  const auto completes = [&](size_t begin, const Entry& e) {
    return possible[std::min(begin + e.first.size(), text.size())];
  };
  for (size_t begin = text.size(); begin-- > 1;)
    possible[begin] = any(text.substr(begin), [&](const Entry& e) { return completes(begin, e); });
  any(text, [&](const Entry& e) {
    if (completes(0, e)) tokens.push_back(e.second);
    return false;
  });
  std::ranges::sort(tokens);
}

}  // namespace tx
