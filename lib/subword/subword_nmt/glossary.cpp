#include "lib/subword/subword_nmt/glossary.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

constexpr uint32_t max_steps = 1000000, max_kib = 64 << 10;  // of a match

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

// `entry`: as the user wrote it.
std::shared_ptr<const pcre2_code> compile(const std::string& pattern, const std::string& entry) {
  static pcre2_compile_context* const context = [] {
    pcre2_compile_context* const made = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(made, PCRE2_NEWLINE_LF);
    return made;
  }();
  int error = 0;
  size_t at = 0;
  pcre2_code* const code =
      pcre2_compile(bytes_of(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &at, context);
  if (code != nullptr) return {code, pcre2_code_free};
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(error, message, sizeof message);
  throw UsageError("--glossaries '" + entry + "': " + reinterpret_cast<char*>(message));
}

struct MatchMemory {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  MatchMemory() {
    pcre2_set_match_limit(context, max_steps);
    pcre2_set_heap_limit(context, max_kib);
  }
  ~MatchMemory() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

void add(std::vector<std::string>& out, std::string_view part) {
  if (!part.empty()) out.emplace_back(part);
}

void isolate_text(std::string_view text, std::string_view word, std::vector<std::string>& out) {
  for (size_t at = 0;;) {
    const size_t hit = word.find(text, at);
    add(out, word.substr(at, hit - at));
    if (hit == word.npos) return;
    out.emplace_back(text);
    at = hit + text.size();
  }
}

}  // namespace

Glossary::Glossary(const std::vector<std::string>& entries) {
  for (const std::string& text : entries) {
    if (text.empty() || count_invalid_utf8(text) > 0)
      throw UsageError("--glossaries needs a text or a regular expression in UTF-8");
    entries_.push_back({text, {}, {}});
    if (text.find_first_of("\\^$.|?*+()[]{}") == text.npos) continue;
    const std::string pattern = pcre2_syntax(text);
    entries_.back().expression = compile(pattern, text);
    entries_.back().loose = compile("^" + pattern + "$", text);
  }
}

// The first match in the word from `begin` on: [begin, end).
bool Glossary::Entry::find(const Expression& code, std::string_view word, size_t& begin,
                           size_t& end, uint32_t options) const {
  static thread_local const MatchMemory memory;
  const int result = pcre2_match(code.get(), bytes_of(word), word.size(), begin,
                                 options | PCRE2_NO_UTF_CHECK, memory.data, memory.context);
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (result < 0)
    throw DataError("--glossaries '" + text + "' takes too long in a word of " +
                    std::to_string(word.size()) + " bytes: avoid repetitions within repetitions");
  begin = pcre2_get_ovector_pointer(memory.data)[0];
  end = pcre2_get_ovector_pointer(memory.data)[1];
  return true;
}

bool Glossary::holds(std::string_view word) const {
  for (const Entry& entry : entries_) {
    size_t begin = 0, end = 0;
    if (entry.expression
            ? entry.find(entry.expression, word, begin, end, PCRE2_ANCHORED | PCRE2_ENDANCHORED)
            : word == entry.text)
      return true;
  }
  return false;
}

// Like re.split(): an empty match may follow another match, but not an empty one at the same place.
void Glossary::isolate(const Entry& entry, const std::string& word, std::vector<std::string>& out) {
  if (!entry.expression) return isolate_text(entry.text, word, out);
  const std::string_view text = word;
  size_t rest = 0, begin = 0, end = 0;
  if (entry.find(entry.loose, text, begin, end, PCRE2_ANCHORED)) return out.push_back(word);
  for (uint32_t options = 0; entry.find(entry.expression, text, begin, end, options);) {
    add(out, text.substr(rest, begin - rest));
    add(out, text.substr(begin, end - begin));
    options = begin == end ? PCRE2_NOTEMPTY_ATSTART : 0;
    begin = rest = end;
  }
  add(out, text.substr(rest));
}

std::vector<std::string> Glossary::isolate(std::string_view word) const {
  std::vector<std::string> parts = {std::string(word)};
  for (const Entry& entry : entries_) {
    std::vector<std::string> finer;
    for (const std::string& part : parts) isolate(entry, part, finer);
    parts = std::move(finer);
  }
  return parts;
}

}  // namespace tx
