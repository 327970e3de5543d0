#include "lib/subword/subword_nmt/glossary.h"

#include <locale>

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {
namespace {

std::wstring wide(std::string_view text) {
  std::wstring out;
  for (size_t i = 0; i < text.size();) out += wchar_t(next_code_point(text, i));
  return out;
}

std::string narrow(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) append_code_point(out, char32_t(c));
  return out;
}

// Letters beyond ASCII count as such, where the system has the locale.
std::locale unicode_locale() {
  try {
    return std::locale("C.UTF-8");
  } catch (const std::runtime_error&) {
    return std::locale::classic();
  }
}

std::wregex expression(const std::string& pattern) {
  std::wregex out;
  out.imbue(unicode_locale());
  out.assign(wide(pattern));
  return out;
}

void add(std::vector<std::string>& out, std::string part) {
  if (!part.empty()) out.push_back(std::move(part));
}

void isolate_text(std::string_view text, std::string_view word, std::vector<std::string>& out) {
  for (size_t at = 0;;) {
    const size_t hit = word.find(text, at);
    add(out, std::string(word.substr(at, hit - at)));
    if (hit == word.npos) return;
    out.emplace_back(text);
    at = hit + text.size();
  }
}

bool too_long(const std::wstring& word) { return word.size() > Glossary::longest_word; }

}  // namespace

Glossary::Glossary(const std::vector<std::string>& entries) {
  for (const std::string& pattern : entries) entries_.push_back(compile(pattern));
}

Glossary::Entry Glossary::compile(const std::string& pattern) {
  if (pattern.empty() || count_invalid_utf8(pattern) > 0)
    throw UsageError("--glossaries needs a text or a regular expression in UTF-8");
  if (pattern.find_first_of("\\^$.|?*+()[]{}") == pattern.npos) return {pattern, {}, {}, {}};
  if (pattern.size() > longest_expression)
    throw UsageError("--glossaries: a regular expression has at most " +
                     std::to_string(longest_expression) + " bytes");
  try {
    Entry entry{"", expression(pattern), expression("^(?:" + pattern + ")$"),
                expression("^" + pattern + "$")};
    if (entry.expression.mark_count() > 0)
      throw UsageError("--glossaries '" + pattern +
                       "' has a capturing group, whose text subword-nmt writes twice: use (?:...)");
    if (std::regex_search(std::wstring(), entry.expression))
      throw UsageError("--glossaries '" + pattern + "' matches the empty text");
    return entry;
  } catch (const std::regex_error& error) {
    throw UsageError("--glossaries '" + pattern +
                     "' is not a regular expression (ECMAScript): " + error.what());
  }
}

bool Glossary::holds(std::string_view word) const {
  if (empty()) return false;
  const std::wstring text = wide(word);
  for (const Entry& entry : entries_) {
    if (!entry.text.empty() ? word == entry.text
                            : !too_long(text) && std::regex_match(text, entry.whole))
      return true;
  }
  return false;
}

void Glossary::isolate(const Entry& entry, const std::string& word, std::vector<std::string>& out) {
  if (!entry.text.empty()) return isolate_text(entry.text, word, out);
  const std::wstring text = wide(word);
  const auto at_begin = std::regex_constants::match_continuous;
  if (too_long(text) || std::regex_search(text, entry.loose, at_begin)) return out.push_back(word);
  auto rest = text.begin();
  for (std::wsregex_iterator hit(text.begin(), text.end(), entry.expression), end; hit != end;
       ++hit) {
    add(out, narrow(std::wstring(rest, (*hit)[0].first)));
    add(out, narrow(hit->str()));
    rest = (*hit)[0].second;
  }
  add(out, narrow(std::wstring(rest, text.end())));
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
