#include <algorithm>
#include <type_traits>

#include "lib/base/error.h"
#include "lib/base/outputs.h"
#include "lib/cli/options.h"
#include "lib/cli/values.h"

namespace tx {

namespace {

// Whether the command line turns off what --config turned on: this is always allowed.
bool is_taken_back(const Option& option) {
  const Json& before = option.file_value;
  const bool off = before.is_null() || before.empty() || before == Json("") ||
                   before == Json(false) || before == Json(0);
  return option.given && !values::is_on(option) && !off;
}

// Whether the user gave the option, as --NAME or --no-NAME: then it must have an effect.
bool must_apply(const Option& option) { return option.given && !is_taken_back(option); }

bool is_active(const Option& option) {
  if (!option.given) return values::is_on(option) && values::to_json(option) != option.start;
  return must_apply(option) && (!option.is_flag() || values::is_on(option));
}

std::string typed_title(const Option& option) {
  if (option.positional && option.given)
    return "argument '" + split_at(values::to_text(option.field), ',').front() + "'";
  const bool off = option.given && option.is_flag() && !values::is_on(option);
  return off ? "--no-" + option.long_name() : values::title(option);
}

bool holds(const Option& option, const std::string& value) {
  if (value.empty()) return values::is_on(option);
  const std::string text = values::to_text(option.field);
  const std::vector<std::string> parts = split_at(text, ',');
  return text == value || std::find(parts.begin(), parts.end(), value) != parts.end();
}

bool conflicts(const Option& other, const std::string& value, const Option& option) {
  if (!value.empty()) return holds(other, value);
  return is_active(other) || (is_active(option) && must_apply(other));
}

// "--sample, --metric chrf or ter".
std::string alternatives(const std::vector<Condition>& list) {
  std::string out, before;
  for (const Condition& c : list) {
    if (!out.empty()) out += &c == &list.back() ? " or " : ", ";
    out += c.name == before ? c.value : c.text();
    before = c.name;
  }
  return out;
}

void require(bool met, const Option& option, const char* relation, const Conditions& conditions,
             const std::string& advice) {
  if (met) return;
  throw UsageError(typed_title(option) + relation + alternatives(conditions.list) + ": " +
                   (conditions.advice.empty() ? advice : conditions.advice));
}

// Whether the option is an input that is not given and therefore standard input. An option without
// what it needs, or beside a mode, is not read.
bool is_standard_input_by_default(const Option& option,
                                  const std::vector<std::unique_ptr<Option>>& options) {
  if (!option.standard_input || !values::texts(option.field).empty()) return false;
  const auto met = [&](const Condition& c) {
    return c.fact || std::ranges::any_of(options, [&](const auto& other) {
             return "--" + other->long_name() == c.name && holds(*other, c.value);
           });
  };
  return !met(option.standard_input->c_str()) &&
         std::ranges::all_of(option.needed,
                             [&](const auto& c) { return std::ranges::any_of(c.list, met); }) &&
         std::ranges::none_of(options, [](const auto& o) { return o->mode && is_active(*o); });
}

void check_standard_input(const std::vector<std::unique_ptr<Option>>& options) {
  std::vector<std::string> readers;
  for (const auto& option : options) {
    if (option->file != FileRole::input) continue;
    const auto count = is_standard_input_by_default(*option, options)
                           ? 1
                           : std::ranges::count_if(values::texts(option->field), is_standard_input);
    readers.insert(readers.end(), size_t(count), values::title(*option));
  }
  if (readers.size() > 1)
    throw UsageError("standard input can be only one of the inputs, not both " + readers[0] +
                     " and " + readers[1] + ": give files for the others");
}

[[noreturn]] void refuse_with_mode(const Option& option, const Option& mode) {
  throw UsageError(typed_title(option) + " cannot be used with " + values::title(mode) + ": " +
                   mode.mode_advice);
}

}  // namespace

bool values::is_on(const Option& option) {
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

std::vector<std::string> values::needs(const std::vector<Conditions>& needed, bool facts) {
  std::vector<std::string> out;
  for (const Conditions& c : needed)
    if (!c.list.front().fact || (facts && c.list.size() == 1))
      out.push_back("needs " + alternatives(c.list));
  return out;
}

void Options::check_modes() const {
  for (const auto& mode : options_) {
    if (!mode->mode || !is_active(*mode)) continue;
    const auto names_it = [&](const std::vector<std::string>& modes) {
      return std::count(modes.begin(), modes.end(), values::title(*mode)) > 0;
    };
    for (const auto& option : options_)
      if (option->given && option != mode && !names_it(option->modes) &&
          !names_it(group_of(*option).modes))
        refuse_with_mode(*option, *mode);
  }
}

void Options::check(const std::vector<std::string>& open) const {
  const auto other = [&](const Condition& c) -> const Option& {
    const Option* found = find(c.name.starts_with("--") ? c.name.substr(2) : c.name);
    if (!found) throw Bug("a condition names an option that exists", __FILE__, __LINE__);
    return *found;
  };
  const auto is_open = [&](const Condition& c) {
    return c.fact || std::count(open.begin(), open.end(), other(c).long_name()) > 0;
  };
  const auto met = [&](const Condition& c) { return is_open(c) || holds(other(c), c.value); };
  const auto check_one = [&](const Option& option, const auto& needed, const auto& excluded) {
    for (const Conditions& c : needed) {
      const bool one = c.list.size() == 1;
      const bool off = one && !c.list.front().fact && other(c.list.front()).given;
      const std::string choice = off   ? "give that another value"
                                 : one ? "add it"
                                       : "choose one of them";
      require(std::ranges::any_of(c.list, met) || !must_apply(option), option, " needs ", c,
              choice + ", or leave " + typed_title(option) + " out");
    }
    for (const Conditions& c : excluded) {
      for (const Condition& each : c.list) {
        const bool clash = !is_open(each) && conflicts(other(each), each.value, option);
        require(!clash || !must_apply(option), option, " cannot be used with ", {{each}, c.advice},
                "leave one of them out");
      }
    }
  };
  check_modes();
  for (const auto& option : options_) {
    const Group& group = group_of(*option);
    check_one(*option, group.needed, group.excluded);
    check_one(*option, option->needed, option->excluded);
  }
  check_standard_input(options_);
}

void Options::check_fact(const Condition& fact, const std::string& because) const {
  const auto check_one = [&](const Option& option, const std::vector<Conditions>& needed) {
    for (const Conditions& c : needed)
      if (c.list.front().name == fact.name)
        require(std::ranges::count(c.list, fact) > 0, option, " needs ", {c.list, because}, "");
  };
  for (const auto& option : options_) {
    if (!option->given) continue;
    check_one(*option, group_of(*option).needed);
    check_one(*option, option->needed);
  }
}

}  // namespace tx
