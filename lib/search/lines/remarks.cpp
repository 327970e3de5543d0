#include "lib/search/lines/remarks.h"

#include <algorithm>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

bool has_loop(std::span<const uint64_t> tokens) {
  constexpr size_t times = 3, min_tokens = 8;
  for (size_t period = 1; period * times <= tokens.size(); ++period) {
    size_t repeated = 0;  // tokens that equal those one period before
    for (size_t i = period; i < tokens.size(); ++i) {
      repeated = tokens[i] == tokens[i - period] ? repeated + 1 : 0;
      if (repeated + period >= std::max(period * times, min_tokens)) return true;
    }
  }
  return false;
}

namespace {

// The tokens as numbers; the byte tokens of a character become one number.
std::vector<uint64_t> without_bytes(std::span<const int> ids, const Vocabulary& vocabulary) {
  std::vector<uint64_t> out;
  for (const int id : ids) {
    if (!out.empty() && vocabulary.is_byte(id) && is_continuation(vocabulary.token_bytes(id)[0]))
      out.back() = out.back() * uint64_t(vocabulary.size()) + uint64_t(id);
    else
      out.push_back(uint64_t(id));
  }
  return out;
}

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
  if (!source.target.empty() || models.kind() == ModelKind::encoder) return out;
  size_t required = 0;
  for (const std::vector<int>& phrase : source.phrases) required += phrase.size();
  if (line.lacks_terms || rules.fulfilled({best.ids, 0, &source}) < int64_t(required))
    out.push_back("unmet");
  if (has_loop(without_bytes(best.ids, models.target())) &&
      !has_loop(without_bytes(source.ids, models.source())))
    out.push_back("loop");
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
            "lacking phrases of --constraints, --constraints-file or --glossary (a larger "
            "--max-extra or --beam may help)");
  log_count(loop_, "with a loop (--no-repeat blocks repeated n-grams)");
  log_count(copy_, "ending in the last words of the source, perhaps not translated");
}

}  // namespace tx
