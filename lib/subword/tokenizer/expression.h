// Regular expressions in the syntax of Oniguruma, by PCRE2: those that split texts.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace tx {

class Expression {
 public:
  // `literal`: the text itself. DataError from `where`: malformed, or means something else in
  // PCRE2.
  Expression(const std::string& text, bool literal, const std::string& where);
  ~Expression();
  Expression(Expression&&) noexcept;

  // Calls f(part, is_match) for the parts of valid UTF-8 in order, empty ones excepted.
  template <class F>
  void each(std::string_view text, F&& f) const {
    size_t done = 0;
    for (Matches matches{.text = text}; next(matches); done = matches.end) {
      if (matches.begin > done) f(text.substr(done, matches.begin - done), false);
      if (matches.end > matches.begin)
        f(text.substr(matches.begin, matches.end - matches.begin), true);
    }
    if (done < text.size()) f(text.substr(done), false);
  }
  // Replaces every match, empty ones too.
  void replace(std::string& text, std::string_view by) const;

 private:
  struct Matches {
    std::string_view text;
    size_t begin = 0, end = 0;  // of the last match
    size_t from = 0;            // where to look for the next
    bool first = true;
  };
  bool next(Matches& matches) const;

  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace tx
