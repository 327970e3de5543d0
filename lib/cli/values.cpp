#include "lib/cli/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"

namespace tx::values {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class T>
T parse_number(const Option& option, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = std::is_integral_v<T>;
  if (error == std::errc::result_out_of_range) {
    const char* problem = !whole ? "out of range" : text[0] == '-' ? "too small" : "too large";
    throw UsageError(title(option) + " " + text + ": " + problem);
  }
  if (error != std::errc() || stop != end || !std::isfinite(double(value)))
    throw UsageError(title(option) + ": '" + text + "' is not a " +
                     (whole ? "whole number" : "number") +
                     (std::is_unsigned_v<T> ? " of 0 or more" : ""));
  return value;
}

template <class T>
T in_range(const Option& option, T value, const std::string& text) {
  const double min = option.low.value_or(-std::numeric_limits<double>::infinity());
  const double max = option.high.value_or(std::numeric_limits<double>::infinity());
  if (double(value) < min || double(value) > max)
    throw UsageError(title(option) + " " + text + ": must be " +
                     (option.high ? "from " + grouped(min) + " to " + grouped(max)
                                  : "at least " + grouped(min)));
  return value;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[noreturn]] void no_choice(const Option& option, const std::string& text) {
  const std::string guess = nearest(text, option.choices);
  throw UsageError(title(option) + " " + text + ": must be " +
                   (option.list ? "a comma-separated list of " : "one of ") +
                   joined(option.choices, ", ") +
                   (guess.empty() ? "" : "; did you mean " + guess + "?"));
}

std::string one_of_choices(const Option& option, const std::string& text) {
  if (option.choices.empty()) return text;
  std::vector<std::string> before;
  for (const auto& word : option.list ? split_at(text, ',') : std::vector<std::string>{text}) {
    if (!contains(option.choices, word) && !contains(option.unlisted_choices, word))
      no_choice(option, word);
    if (contains(before, word)) throw UsageError(title(option) + ": " + word + " is given twice");
    before.push_back(word);
  }
  return text;
}

std::vector<std::string> each_of_choices(const Option& option, std::vector<std::string> texts) {
  for (const auto& text : texts) one_of_choices(option, text);
  return texts;
}

[[noreturn]] void wrong_kind(const Option& option, const char* wanted) {
  throw UsageError("\"" + option.long_name() + "\" must be " + wanted);
}

// Numbers from JSON: a whole number that fits, or any finite number.
template <class T>
T number_from(const Option& option, const Json& json) {
  if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) wrong_kind(option, "a whole number");
    const bool negative = !json.is_number_unsigned() && json.get<int64_t>() < 0;
    const bool fits =
        negative ? std::in_range<T>(json.get<int64_t>()) : std::in_range<T>(json.get<uint64_t>());
    if (!fits) wrong_kind(option, "a smaller whole number");
  } else {
    if (!json.is_number() || !std::isfinite(json.get<double>())) wrong_kind(option, "a number");
  }
  return in_range(option, json.get<T>(), tx::to_text(json));
}

// JSON is UTF-8: other text, such as the name of a file, is written as {"hex": "ff2e656e"}.
Json text_json(const std::string& text) {
  if (count_invalid_utf8(text) == 0) return text;
  std::string hex;
  for (const char c : text) {
    const char digits[] = "0123456789abcdef";
    hex += {digits[uint8_t(c) >> 4], digits[uint8_t(c) & 15]};
  }
  return Json{{"hex", hex}};
}

std::string text_from(const Option& option, const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const char* wanted = option.repeatable() ? "a list of strings" : "a string";
  if (!json.is_object() || json.size() != 1 || !json.value("hex", Json()).is_string())
    wrong_kind(option, wanted);
  const auto hex = json["hex"].get<std::string>();
  std::string text;
  for (size_t i = 0; i < hex.size(); i += 2) {
    uint8_t byte = 0;
    const char* end = hex.data() + std::min(i + 2, hex.size());
    const auto [stop, error] = std::from_chars(hex.data() + i, end, byte, 16);
    if (error != std::errc() || stop != end || hex.size() % 2) wrong_kind(option, wanted);
    text += char(byte);
  }
  return text;
}

void set_field(Option& option, const Json& json) {
  std::visit(Overloaded{
                 [&](bool* field) {
                   if (!json.is_boolean()) wrong_kind(option, "true or false");
                   *field = json.get<bool>();
                 },
                 [&](std::string* field) {
                   // The initial value may be "", "not given", which is none of the choices.
                   const auto text = text_from(option, json);
                   *field = json == option.start ? text : one_of_choices(option, text);
                 },
                 [&](std::vector<std::string>* field) {
                   if (!json.is_array()) wrong_kind(option, "a list of strings");
                   std::vector<std::string> texts;
                   for (const Json& element : json) texts.push_back(text_from(option, element));
                   if (!option.empty_allowed && contains(texts, ""))
                     wrong_kind(option, "a list of strings that are not empty");
                   *field = each_of_choices(option, std::move(texts));
                 },
                 [&]<class T>(std::optional<T>* field) {
                   field->reset();
                   if (!json.is_null()) *field = number_from<T>(option, json);
                 },
                 [&]<class T>(T* field) { *field = number_from<T>(option, json); },
             },
             option.field);
}

}  // namespace

void set_from_texts(Option& option, const std::vector<std::string>& texts) {
  const std::string& last = texts.back();
  std::visit(Overloaded{
                 [&](bool* field) { *field = last == "true"; },
                 [&](std::string* field) { *field = one_of_choices(option, last); },
                 [&](std::vector<std::string>* field) { *field = each_of_choices(option, texts); },
                 [&]<class T>(std::optional<T>* field) {
                   *field = in_range(option, parse_number<T>(option, last), last);
                 },
                 [&]<class T>(T* field) {
                   *field = in_range(option, parse_number<T>(option, last), last);
                   if (option.zero && *field == T(0)) *field = T(*option.zero);
                 },
             },
             option.field);
}

void set_from_json(Option& option, const Json& json, const std::string& where) {
  // The initial value, which means "not given", may be outside the range.
  Option unbounded = option;
  unbounded.low.reset();
  unbounded.high.reset();
  try {
    set_field(json == option.start ? unbounded : option, json);
  } catch (const UsageError& e) {
    throw UsageError(where + ": " + e.what());
  }
}

Json to_json(const Option& option) {
  return std::visit(
      Overloaded{
          []<class T>(std::optional<T>* field) { return *field ? Json(**field) : Json(nullptr); },
          [](std::string* field) { return text_json(*field); },
          [](std::vector<std::string>* field) {
            Json list = Json::array();
            for (const std::string& text : *field) list.push_back(text_json(text));
            return list;
          },
          [](auto* field) { return Json(*field); },
      },
      option.field);
}

std::string to_text(const FieldPointer& field) {
  return std::visit(Overloaded{
                        [](bool*) { return std::string(); },
                        [](std::string* text) { return *text; },
                        [](std::vector<std::string>* texts) { return joined(*texts, ", "); },
                        []<class T>(std::optional<T>* value) {
                          return *value ? shortest(**value) : std::string();
                        },
                        [](auto* value) { return shortest(*value); },
                    },
                    field);
}

std::vector<std::string> texts(const FieldPointer& field) {
  std::vector<std::string> out;
  if (const auto* text = std::get_if<std::string*>(&field)) out = {**text};
  if (const auto* list = std::get_if<std::vector<std::string>*>(&field)) out = **list;
  std::erase(out, "");
  return out;
}

std::vector<std::string> names(const Option& option) { return split_at(option.names, ','); }

std::vector<std::string> all_names(const Option& option) {
  return split_at(option.names + (option.aliases.empty() ? "" : "," + option.aliases), ',');
}

std::string title(const Option& option) { return names(option).back(); }

}  // namespace tx::values
