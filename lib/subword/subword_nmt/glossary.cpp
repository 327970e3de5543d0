#include "lib/subword/subword_nmt/glossary.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

// The members of \d, \w and \s; those of PCRE2 differ between its versions.
constexpr char decimals[] = R"(\p{Nd})", word_characters[] = R"(\p{L}\p{N}_)";
constexpr char spaces[] = R"(\t-\r\x1c-\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029})"
                          R"(\x{202f}\x{205f}\x{3000})";
constexpr char boundary[] = R"((?:(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_])|)"
                            R"((?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_])))";

std::string literal(char32_t c) { return formatted("\\x{%x}", unsigned(c)); }

// Translates Python's re to PCRE2: characters to \x{...}, sets to their members; the rest stays.
class PythonRegex {
 public:
  explicit PythonRegex(std::string_view text) : text_(text) {
    for (size_t i = 0; i < text.size();) in_ += next_code_point(text, i);
  }

  std::string translate() {
    while (at_ < in_.size()) {
      const char32_t c = take();
      if (c == '\\')
        escape();
      else if (c == '[')
        set();
      else if (c == '(')
        open();
      else if (c == '{')
        braces();
      else
        out_ += std::u32string_view(U")|^$.*+?").find(c) != in_.npos ? std::string(1, char(c))
                                                                     : literal(c);
    }
    return std::move(out_);
  }

 private:
  // A character, or members of a set, or what is not in a set.
  struct Item {
    std::string text;
    bool members = false, complement = false;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError("--glossaries '" + text_ + "': " + what);
  }

  char32_t take() {
    if (at_ == in_.size()) refuse("the expression ends early");
    return in_[at_++];
  }
  bool take(char32_t c) {
    const bool found = at_ < in_.size() && in_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }
  std::string take_any_of(std::string_view characters, size_t max) {
    std::string out;
    for (; out.size() < max && at_ < in_.size() && in_[at_] < 0x80; ++at_) {
      if (characters.find(char(in_[at_])) == characters.npos) break;
      out += char(in_[at_]);
    }
    return out;
  }

  // {,n} begins at 0; what is no quantifier is text.
  void braces() {
    const size_t begin = at_;
    const std::string min = take_any_of("0123456789", 6), comma = take_any_of(",", 1);
    const std::string max = comma.empty() ? "" : take_any_of("0123456789", 6);
    if (!take('}') || (min + comma).empty()) {
      at_ = begin;
      out_ += literal('{');
    } else {
      out_ += "{" + (min.empty() ? "0" : min) + comma + max + "}";
    }
  }

  void open() {
    if (!take('?'))
      refuse("has a capturing group, whose text subword-nmt writes twice: use (?:...)");
    out_ += "(?";
    if (take('#')) {
      out_.resize(out_.size() - 2);
      while (take() != ')') {
      }
    } else if (take('<')) {
      const std::string kind = take_any_of("=!", 1);
      if (kind.empty()) refuse("(?< must be (?<= or (?<!");
      out_ += "<" + kind;
    } else if (const std::string kind = take_any_of("=!>", 1); !kind.empty()) {
      out_ += kind;
    } else {
      const std::string flags = take_any_of("ims-", 4);
      if (!take(':'))
        refuse(
            "groups with names, conditions or flags other than (?i:, (?m: and (?s: are not "
            "supported: use (?:...)");
      out_ += flags + ":";
    }
  }

  void escape() {
    const std::string place = take_any_of("AZbB", 1);
    if (place == "A") out_ += "\\A";
    if (place == "Z") out_ += "\\z";
    if (place == "b") out_ += boundary;
    if (place == "B") out_ += "(?!" + std::string(boundary) + ")";
    if (!place.empty()) return;
    const Item item = escaped();
    out_ += item.members ? (item.complement ? "[^" : "[") + item.text + "]" : item.text;
  }

  Item escaped() {
    const char32_t c = take();
    for (const auto& [name, members] :
         {std::pair('d', decimals), std::pair('w', word_characters), std::pair('s', spaces)})
      if ((c | 0x20) == char32_t(name)) return {members, true, c < 'a'};
    constexpr std::string_view names = "abfnrtv", values = "\a\b\f\n\r\t\v";
    const size_t named = c < 0x80 ? names.find(char(c)) : names.npos;
    if (named != names.npos) return {literal(char32_t(values[named]))};
    if (c == 'x' || c == 'u' || c == 'U')
      return {literal(code_point(c == 'x' ? 2 : c == 'u' ? 4 : 8))};
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse("\\" + std::string(1, char(c)) + " is not supported (write characters as \\xhh)");
    return {literal(c)};
  }

  char32_t code_point(size_t digits) {
    const std::string text = take_any_of("0123456789abcdefABCDEF", digits);
    if (text.size() < digits) refuse("\\x has 2 digits, \\u 4 and \\U 8");
    return char32_t(std::stoul(text, nullptr, 16));
  }

  // PCRE2 has no complement of \w or \s within a set: it becomes an alternative.
  void set() {
    const bool negated = take('^');
    std::string members, others;
    const auto next = [&] {
      const char32_t c = take();
      return c == '\\' ? escaped() : Item{literal(c)};
    };
    do {
      const Item item = next();
      (item.complement ? others : members) += item.complement ? "[^" + item.text + "]|" : item.text;
      if (!take('-')) continue;
      if (take(']')) {
        members += literal('-');
        break;
      }
      const Item end = next();
      if (item.members || end.members) refuse("bad character range");
      members += "-" + end.text;
    } while (!take(']'));
    if (others.empty()) {
      out_ += (negated ? "[^" : "[") + members + "]";
    } else {
      const std::string all = members.empty() ? others + "(?!)" : others + "[" + members + "]";
      out_ += negated ? "(?:(?!" + all + ")(?s:.))" : "(?:" + all + ")";
    }
  }

  std::string text_;
  std::u32string in_;
  size_t at_ = 0;  // in in_
  std::string out_;
};

}  // namespace

std::string pcre2_syntax(std::string_view expression) {
  return PythonRegex(expression).translate();
}

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
