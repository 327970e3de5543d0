#include "lib/cli/options.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/cli/values.h"

namespace tx {

Option& Option::range(double least, double most) {
  low = least;
  high = most;
  return *this;
}

Option& Option::at_least(double least) {
  low = least;
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  choices = std::move(values);
  return *this;
}

Option& Option::must() {
  required = true;
  return *this;
}

Option& Option::runtime() {
  in_config = false;
  return *this;
}

Option& Option::secret() {
  hidden = true;
  return *this;
}

Option& Option::more(std::string text) {
  long_help += (long_help.empty() ? "" : " ") + text;
  return *this;
}

Option& Option::default_is(std::string text) {
  default_text = std::move(text);
  return *this;
}

std::string Option::long_name() const {
  for (const auto& name : values::names(*this)) {
    if (name.starts_with("--")) return name.substr(2);
  }
  const size_t letter = names.find_first_not_of('-');
  return letter == std::string::npos ? names : names.substr(letter);
}

Options::Options(std::string tool, std::string summary)
    : tool_(std::move(tool)), summary_(std::move(summary)) {}

void Options::usage(std::string line) { usage_.push_back(std::move(line)); }
void Options::version(std::function<std::string()> text) { version_ = std::move(text); }
void Options::group(std::string name) { group_ = std::move(name); }

Option& Options::push(Option option) {
  option.group = group_;
  option.default_text = values::to_text(option.field);
  options_.push_back(std::make_unique<Option>(std::move(option)));
  return *options_.back();
}

Option& Options::add(std::string names, Field field, std::string unit, std::string help,
                     std::string long_help) {
  Option option;
  option.names = std::move(names);
  option.field = field;
  option.unit = std::move(unit);
  option.help = std::move(help);
  option.long_help = std::move(long_help);
  return push(std::move(option));
}

Option& Options::flag(std::string names, bool& field, std::string help, std::string long_help) {
  return add(std::move(names), field, "", std::move(help), std::move(long_help));
}

Option& Options::positional(std::string name, Field field, std::string help,
                            std::string long_help) {
  Option& option = add(name, field, name, std::move(help), std::move(long_help));
  option.positional = true;
  option.in_config = false;
  return option;
}

bool Options::given(const std::string& long_name) const {
  for (const auto& option : options_) {
    if (option->long_name() == long_name) return option->given;
  }
  throw Bug("Options::given() asks for an option that exists", __FILE__, __LINE__);
}

Json Options::to_json() const {
  Json json = Json::object();
  for (const auto& option : options_) {
    if (option->in_config) json[option->long_name()] = values::to_json(*option);
  }
  return json;
}

void Options::from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) throw UsageError(where + ": must be a JSON object of options");
  std::vector<std::string> known;
  for (const auto& option : options_) {
    if (option->in_config) known.push_back(option->long_name());
  }
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string guess = nearest(key, known);
      throw UsageError(where + ": unknown option \"" + key + "\"" +
                       (guess.empty() ? "" : "; did you mean \"" + guess + "\"?"));
    }
  }
  for (const auto& option : options_) {
    const auto found = option->in_config ? json.find(option->long_name()) : json.end();
    if (found != json.end() && !option->given) values::set_from_json(*option, *found, where);
  }
}

}  // namespace tx
