#include <algorithm>
#include <type_traits>

#include "lib/base/error.h"
#include "lib/cli/options.h"
#include "lib/cli/values.h"

namespace tx {

namespace {

// "--schedule paper" as "--schedule" and "paper"; without a value the second is empty.
struct Condition {
  explicit Condition(const std::string& words) : name(words.substr(0, words.find(' '))) {
    if (name.size() < words.size()) value = words.substr(name.size() + 1);
  }
  std::string name, value;
};

bool is_on(const Option& option) {
  return std::visit(
      []<class T>(const T* field) {
        if constexpr (std::is_arithmetic_v<T>)
          return *field != T(0);
        else if constexpr (requires { field->empty(); })
          return !field->empty();
        else
          return field->has_value();
      },
      option.field);
}

bool holds(const Option& option, const std::string& value) {
  if (value.empty()) return is_on(option);
  const std::string text = values::to_text(option.field);
  const std::vector<std::string> parts = values::split(text);
  return text == value || std::find(parts.begin(), parts.end(), value) != parts.end();
}

// An option that is on by default stands in nobody's way before it has another value.
bool disturbs(const Option& option, const std::string& value) {
  return holds(option, value) && (!value.empty() || values::to_json(option) != option.start);
}

// --no-NAME has taken a flag back: it asks for nothing.
bool asks(const Option& option) { return option.given && (!option.is_flag() || is_on(option)); }

// {"--sample", "--metric chrf", "--metric ter"} as "--sample, --metric chrf or ter".
std::string alternatives(const std::vector<std::string>& words) {
  std::string out, before;
  for (const std::string& word : words) {
    const Condition c(word);
    if (!out.empty()) out += &word == &words.back() ? " or " : ", ";
    out += c.name == before ? c.value : word;
    before = c.name;
  }
  return out;
}

void require(bool met, const Option& option, const char* relation, const Conditions& conditions,
             const std::string& advice) {
  if (met) return;
  throw UsageError(values::title(option) + relation + alternatives(conditions.words) + ": " +
                   (conditions.advice.empty() ? advice : conditions.advice));
}

}  // namespace

std::vector<std::string> values::relations(const std::vector<Conditions>& needed,
                                           const std::vector<Conditions>& excluded) {
  std::vector<std::string> out;
  for (const Conditions& c : needed) out.push_back("needs " + alternatives(c.words));
  std::vector<std::string> all;
  for (const Conditions& c : excluded) all.insert(all.end(), c.words.begin(), c.words.end());
  if (!all.empty()) out.push_back("not with " + alternatives(all));
  return out;
}

void Options::check(const std::vector<std::string>& open) const {
  const auto other = [&](const std::string& words) -> const Option& {
    const Condition c(words);
    const Option* found = find(c.name.starts_with("--") ? c.name.substr(2) : c.name);
    if (!found) throw Bug("a condition names an option that exists", __FILE__, __LINE__);
    return *found;
  };
  const auto met = [&](const std::string& words) {
    return holds(other(words), Condition(words).value);
  };
  const auto is_open = [&](const std::string& words) {
    return std::count(open.begin(), open.end(), other(words).long_name()) > 0;
  };
  const auto check_one = [&](const Option& option, const auto& needed, const auto& excluded) {
    const std::string title = values::title(option);
    for (const Conditions& c : needed) {
      const bool any = std::any_of(c.words.begin(), c.words.end(), met) ||
                       std::any_of(c.words.begin(), c.words.end(), is_open);
      const std::string choice = c.words.size() == 1 ? "add it" : "choose one of them";
      require(any || !asks(option), option, " needs ", c, choice + ", or leave " + title + " out");
    }
    for (const Conditions& c : excluded) {
      for (const std::string& word : c.words) {
        const bool clash = disturbs(other(word), Condition(word).value) && !is_open(word);
        require(!clash || !asks(option), option, " does not go with ", {{word}, c.advice},
                "leave one of them out");
      }
    }
  };
  for (const auto& option : options_) {
    const Group& group = group_of(*option);
    check_one(*option, group.needed, group.excluded);
    check_one(*option, option->needed, option->excluded);
  }
}

}  // namespace tx
