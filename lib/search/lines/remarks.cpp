#include "lib/search/lines/remarks.h"

#include <algorithm>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

bool ends_in_loop(std::span<const int> ids) {
  constexpr size_t times = 3, tokens = 8;
  for (size_t period = 1; period * times <= ids.size(); ++period) {
    const size_t min = std::max(period * times, tokens);
    if (min > ids.size()) continue;
    const std::span<const int> tail = ids.last(min);
    if (std::equal(tail.begin() + ptrdiff_t(period), tail.end(), tail.begin())) return true;
  }
  return false;
}

namespace {

// Removes the last word of `text` and returns it; "" if there is none.
std::string_view last_word(std::string_view& text) {
  text = trimmed(text);
  size_t begin = text.size();
  for (size_t i = begin, next; i-- > 0;) {
    if (is_continuation(text[i])) continue;
    if (is_white_space(next_code_point(text, next = i))) break;
    begin = i;
  }
  const std::string_view word = text.substr(begin);
  text.remove_suffix(word.size());
  return word;
}

}  // namespace

bool ends_alike(std::string_view a, std::string_view b, int words) {
  for (int i = 0; i < words; ++i) {
    const std::string_view x = last_word(a), y = last_word(b);
    if (x.empty() || x != y) return false;
  }
  return true;
}

std::vector<std::string> states_of(const Line& line, const Source& source,
                                   const TokenHypothesis& best, const ModelSet& models,
                                   const Rules& rules) {
  std::vector<std::string> out;
  if (line.blank) out.push_back("empty");
  if (line.replaced > 0) out.push_back("replaced");
  if (line.cut) out.push_back("cut");
  if (!line.unknown.empty()) out.push_back("unknown");
  if (!best.complete) out.push_back("maximum");
  if (!source.target.empty()) return out;
  size_t required = 0;
  for (const std::vector<int>& phrase : source.phrases) required += phrase.size();
  if (rules.fulfilled({best.ids, 0, &source}) < int64_t(required)) out.push_back("unmet");
  if (ends_in_loop(best.ids) && !ends_in_loop(source.ids)) out.push_back("loop");
  if (models.kind() == ModelKind::decoder) return out;
  if (best.ids.size() >= 5 && source.ids.size() >= 5 &&
      ends_alike(models.source().decode(source.ids), models.target().decode(best.ids)))
    out.push_back("copy");
  return out;
}

void Remarks::add(int64_t line, const std::vector<std::string>& states) {
  const auto count = [&](Count& kind, const char* state) {
    if (std::ranges::count(states, state) == 0) return;
    kind.first = kind.lines++ == 0 ? line : std::min(kind.first, line);
  };
  count(maximum_, "maximum");
  count(unmet_, "unmet");
  count(loop_, "loop");
  count(copy_, "copy");
}

void Remarks::report(const Log& log) const {
  const auto log_count = [&](const Count& kind, const std::string& what) {
    if (kind.lines == 0) return;
    log.info(counted(kind.lines, "output") + " " + what + ", the first on line " +
             std::to_string(kind.first));
  };
  log_count(maximum_, "cut at the maximum length (--max-extra)");
  log_count(unmet_,
            "lacking phrases of --constraints or --constraints-file (a larger --max-extra "
            "or --beam may help)");
  log_count(loop_, "ending in a loop (--no-repeat blocks repeated n-grams)");
  log_count(copy_, "ending in the last words of the source, perhaps not translated");
}

}  // namespace tx
