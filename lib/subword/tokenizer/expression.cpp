#include "lib/subword/tokenizer/expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

// The members of \s and \w in Oniguruma; PCRE2's differ. The ranges are letters in circles,
// squares.
constexpr char space_members[] = R"(\t-\r\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029})"
                                 R"(\x{202f}\x{205f}\x{3000})";
constexpr char word_members[] = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9})"
                                R"(\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";

// Translates what the two write differently; refuses what means something else.
class OnigurumaSyntax {
 public:
  OnigurumaSyntax(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::string translate() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\')
        escape();
      else if (in_set_)
        member(c);
      else if (c == '[')
        open_set();
      else if (c == '{')
        braces();
      else
        out_ += c;
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw DataError(where_ + ": " + what + " in the expression " + shown(text_) +
                    " is not supported");
  }

  bool take(char c) {
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }

  void escape() {
    if (at_ == text_.size()) refuse("a backslash at the end");
    const char c = text_[at_++];
    if (c == 's' || c == 'w')
      members(c == 's' ? space_members : word_members, "");
    else if ((c == 'S' || c == 'W') && !in_set_)
      members(c == 'S' ? space_members : word_members, "^");
    else if (c == 'u')
      code_point();
    else if (std::string_view("hHRXSWKOyY").find(c) != std::string_view::npos)
      refuse(std::string("\\") + c);
    else
      out_ += {'\\', c};
    if ((c == 'p' || c == 'P' || c == 'x') && at_ < text_.size() && text_[at_] == '{') {
      const size_t end = std::min(text_.find('}', at_), text_.size() - 1);
      out_ += text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
    }
  }

  void members(const char* all, const char* negated) {
    out_ += in_set_ ? std::string(all) : std::string("[") + negated + all + "]";
  }

  void code_point() {
    const std::string_view digits = text_.substr(at_, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos)
      refuse("\\u without 4 digits");
    out_ += "\\x{" + std::string(digits) + "}";
    at_ += 4;
  }

  void open_set() {
    in_set_ = true;
    out_ += '[';
    if (take('^')) out_ += '^';
    if (take(']')) out_ += "\\]";
  }

  void member(char c) {
    if (c == '[' && at_ < text_.size() && text_[at_] == ':') {
      const size_t end = text_.find(":]", at_);
      if (end == text_.npos) refuse("[:");
      out_ += text_.substr(at_ - 1, end + 3 - at_);
      at_ = end + 2;
      return;
    }
    if (c == '[') refuse("a set in a set");
    if (c == '&' && take('&')) refuse("&&");
    if (c == ']') in_set_ = false;
    out_ += c;
  }

  // {,n} begins at 0. A + behind a quantifier in braces repeats it instead of making it possessive.
  void braces() {
    const size_t end = text_.find_first_not_of("0123456789,", at_);
    const bool closed = end != text_.npos && text_[end] == '}' && end > at_;
    out_ += closed && text_[at_] == ',' ? "{0" : closed ? "{" : "\\{";
    if (!closed) return;
    out_ += text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    if (at_ < text_.size() && text_[at_] == '+') refuse("+ behind a quantifier in braces");
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  bool in_set_ = false;
  std::string out_;
};

// Of a thread.
struct MatchState {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(size_t(32) << 10, size_t(16) << 20, nullptr);
  MatchState() {
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_heap_limit(context, 64 << 10);  // KiB
  }
  ~MatchState() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Expression::Code {
  pcre2_code* code = nullptr;
  bool jit = false;
  std::string text, where;
  ~Code() { pcre2_code_free(code); }
};

Expression::Expression(const std::string& text, bool literal, const std::string& where)
    : code_(std::make_unique<Code>()) {
  code_->text = text;
  code_->where = where;
  const std::string pattern = literal ? text : OnigurumaSyntax(text, where).translate();
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  const uint32_t options = PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_MULTILINE);
  int error = 0;
  size_t at = 0;
  code_->code = pcre2_compile(units(pattern), pattern.size(), options, &error, &at, context.get());
  if (code_->code == nullptr) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(error, message, sizeof message);
    throw DataError(where + ": the expression " + shown(text) +
                    " is not supported: " + reinterpret_cast<char*>(message));
  }
  code_->jit = pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE) == 0;
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;

// As Oniguruma's crate for Rust: no empty match directly behind a match.
bool Expression::next(Matches& m) const {
  static thread_local const MatchState state;
  while (m.from <= m.text.size()) {
    const int result = code_->jit
                           ? pcre2_jit_match(code_->code, units(m.text), m.text.size(), m.from,
                                             PCRE2_NO_UTF_CHECK, state.data, state.context)
                           : pcre2_match(code_->code, units(m.text), m.text.size(), m.from,
                                         PCRE2_NO_UTF_CHECK, state.data, state.context);
    if (result == PCRE2_ERROR_NOMATCH) return false;
    if (result < 0)
      throw DataError(code_->where + ": the expression " + shown(code_->text) +
                      " takes too long in a text of " + std::to_string(m.text.size()) + " bytes");
    const size_t* at = pcre2_get_ovector_pointer(state.data);
    if (at[0] == at[1] && !m.first && at[1] == m.end) {
      size_t after = m.from;
      if (after == m.text.size()) return false;
      next_code_point(m.text, after);
      m.from = after;
      continue;
    }
    m.begin = at[0];
    m.end = m.from = at[1];
    m.first = false;
    return true;
  }
  return false;
}

void Expression::replace(std::string& text, std::string_view by) const {
  std::string out;
  size_t done = 0;
  bool found = false;
  for (Matches matches{.text = text}; next(matches); done = matches.end) {
    found = true;
    out.append(text, done, matches.begin - done).append(by);
  }
  if (found) text = out.append(text, done);
}

}  // namespace tx
