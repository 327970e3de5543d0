#include <charconv>
#include <cmath>
#include <set>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

constexpr std::string_view blanks = " \t";

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

// The value of an unquoted word.
Json plain_value(std::string_view word) {
  if (word.empty() || word == "~" || word == "null") return nullptr;
  if (word == "true" || word == "false") return word == "true";
  if (word.find_first_not_of("0123456789+-.eE") != word.npos) return word;
  uint64_t whole = 0;
  int64_t negative = 0;
  double real = 0;
  if (parse_number(word, whole)) return whole;
  if (parse_number(word, negative)) return negative;
  if (parse_number(word, real) && std::isfinite(real)) return real;
  return word;
}

class FlatYaml {
 public:
  FlatYaml(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Json read() {
    Json json = Json::object();
    auto& pairs = json.get_ref<Json::object_t&>();  // emplace_back: no linear search for the key
    std::set<std::string> keys;
    while (next_line()) {
      const bool indented = blanks.find(rest_[0]) != blanks.npos;
      skip_blanks(rest_);
      if (ends() || (number_ == 1 && rest_ == "---")) continue;
      if (indented || is_item()) {
        if (pairs.empty()) refuse("expected \"key: value\"");
        add_below(pairs.back().second);
        continue;
      }
      const std::string key = rest_.starts_with("? ") ? read_long_key() : read_key();
      if (!keys.insert(key).second) refuse("duplicate key " + shown(key) + "");
      pairs.emplace_back(key, read_value());
      list_follows_ = pairs.back().second.is_null();
    }
    return json;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(where_ + ":" + std::to_string(number_) + ": " + why);
  }

  // Moves to the next non-empty line.
  bool next_line() {
    do {
      if (at_ >= text_.size()) return false;
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      rest_ = text_.substr(at_, end - at_);
      at_ = end + 1;
      ++number_;
      if (rest_.ends_with('\r')) rest_.remove_suffix(1);
    } while (rest_.empty());
    if (count_invalid_utf8(rest_) > 0) refuse("not valid UTF-8");
    return true;
  }

  bool ends() const { return rest_.empty() || rest_[0] == '#'; }
  bool is_item() const { return rest_ == "-" || rest_.starts_with("- "); }

  std::string read_key() {
    std::string key;
    if (rest_[0] == '"' || rest_[0] == '\'') {
      key = quoted();
      skip_blanks(rest_);
      if (!rest_.starts_with(':')) refuse("expected \":\" after the key");
    } else {
      check_begin();
      size_t colon = rest_.find(": ");
      if (colon == rest_.npos && rest_.ends_with(':')) colon = rest_.size() - 1;
      if (colon == rest_.npos) refuse("expected \"key: value\"");
      key = rest_.substr(0, colon);
      if (key.find(" #") != key.npos) refuse("expected \"key: value\"");
      rest_.remove_prefix(colon);
    }
    if (key.empty()) refuse("empty key");
    rest_.remove_prefix(1);
    if (!rest_.empty() && blanks.find(rest_[0]) == blanks.npos)
      refuse("expected a space after \":\"");
    return key;
  }

  // A key that PyYAML writes on a line of its own: "? KEY", then ": VALUE" on the next line.
  std::string read_long_key() {
    rest_.remove_prefix(2);
    skip_blanks(rest_);
    const Json key = scalar("");
    finish_line();
    if (!next_line() || (rest_ != ":" && !rest_.starts_with(": ")))
      refuse("expected \": value\" below the key");
    rest_.remove_prefix(1);
    if (!key.is_string() || key.get<std::string>().empty()) refuse("the key is not a string");
    return key.get<std::string>();
  }

  // The value after a key; null if it may follow on the next lines.
  Json read_value() {
    skip_blanks(rest_);
    Json value = rest_.starts_with('[') ? list() : scalar("");
    finish_line();
    return value;
  }

  // A line below a key without a value: an item of its list, or the whole list in brackets.
  void add_below(Json& value) {
    if (!list_follows_) refuse("list item without a list");
    if (!is_item()) {
      if (!value.is_null() || !rest_.starts_with('['))
        refuse("expected \"- value\"; nested settings are not supported");
      value = list();
      list_follows_ = false;
    } else {
      rest_.remove_prefix(1);
      skip_blanks(rest_);
      if (value.is_null()) value = Json::array();
      value.push_back(scalar(""));
    }
    finish_line();
  }

  Json list() {
    Json items = Json::array();
    rest_.remove_prefix(1);
    for (skip_blanks(rest_); !rest_.starts_with(']'); skip_blanks(rest_)) {
      items.push_back(scalar(",]"));
      skip_blanks(rest_);
      if (rest_.starts_with(','))
        rest_.remove_prefix(1);
      else if (!rest_.starts_with(']'))
        refuse("the list is not closed on this line");
    }
    rest_.remove_prefix(1);
    return items;
  }

  void finish_line() {
    skip_blanks(rest_);
    if (!ends()) refuse("unexpected text after the value");
  }

  // One value, up to one of `stops` or a comment.
  Json scalar(std::string_view stops) {
    if (ends()) return nullptr;
    if (rest_[0] == '"' || rest_[0] == '\'') return quoted();
    check_begin();
    size_t end = std::min(rest_.find(" #"), rest_.size());
    if (!stops.empty()) end = std::min(end, rest_.find_first_of(stops));
    std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (word.find(": ") != word.npos || word.ends_with(':'))
      refuse("nested mappings are not supported");
    word = word.substr(0, word.find_last_not_of(blanks) + 1);
    return plain_value(word);
  }

  // An unquoted word must not begin with an indicator of YAML.
  void check_begin() const {
    const bool sign = std::string_view("[]{},&*!|>%@`").find(rest_[0]) != std::string_view::npos;
    const bool alone = std::string_view("-?:").find(rest_[0]) != std::string_view::npos &&
                       (rest_.size() == 1 || rest_[1] == ' ');
    if (sign || alone) refuse(std::string("YAML syntax \"") + rest_[0] + "\" is not supported");
  }

  std::string quoted() {
    const char mark = rest_[0];
    std::string word;
    size_t i = 1;
    for (; i < rest_.size() && !(rest_[i] == mark && !is_doubled(mark, i)); ++i)
      if (rest_[i] == mark)
        word += rest_[i++];  // '' is '
      else if (rest_[i] == '\\' && mark == '"')
        escape(word, ++i);
      else
        word += rest_[i];
    if (i >= rest_.size()) refuse("the quote is not closed on this line");
    rest_.remove_prefix(i + 1);
    return word;
  }
  bool is_doubled(char mark, size_t i) const {
    return mark == '\'' && i + 1 < rest_.size() && rest_[i + 1] == mark;
  }

  // The escape sequence whose first character after the backslash is `i`; moves `i` to its last.
  void escape(std::string& word, size_t& i) const {
    static constexpr std::string_view from = "0abtnvfre\"/\\ N_LP",
                                      to{"\0\a\b\t\n\v\f\r\x1B\"/\\ ", 13};
    const char sign = i < rest_.size() ? rest_[i] : '?';
    const size_t digits = sign == 'x' ? 2 : sign == 'u' ? 4 : sign == 'U' ? 8 : 0;
    if (digits == 0) {
      const size_t at = from.find(sign);
      if (at == from.npos) refuse("invalid escape sequence");
      if (at < to.size()) return word.push_back(to[at]);
      static constexpr uint32_t named[] = {0x85, 0xA0, 0x2028, 0x2029};
      return append_code_point(word, named[at - to.size()]);
    }
    const std::string_view hex = rest_.substr(std::min(i + 1, rest_.size()), digits);
    uint32_t point = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
    if (hex.size() < digits || error != std::errc() || end != hex.data() + digits ||
        point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      refuse("invalid escape sequence");
    append_code_point(word, point);
    i += digits;
  }

  std::string_view text_, rest_;
  const std::string& where_;
  size_t at_ = 0;
  int64_t number_ = 0;
  bool list_follows_ = false;
};

}  // namespace

Json parse_flat_yaml(std::string_view text, const std::string& where) {
  return FlatYaml(text, where).read();
}

}  // namespace tx
