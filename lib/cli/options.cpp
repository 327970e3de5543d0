#include "lib/cli/options.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/outputs.h"
#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/cli/values.h"

namespace tx {

std::string Option::long_name() const {
  for (const auto& name : values::names(*this))
    if (name.starts_with("--")) return name.substr(2);
  const size_t letter = names.find_first_not_of('-');
  return letter == std::string::npos ? names : names.substr(letter);
}

Options::Options(std::string tool, std::string summary)
    : tool_(std::move(tool)), summary_(std::move(summary)) {
  group(group_);
}

void Options::usage(std::string line) { usage_.push_back(std::move(line)); }
void Options::version(std::function<std::string()> text) { version_ = std::move(text); }

Group& Options::group(const std::string& name) {
  group_ = name;
  for (const auto& group : groups_)
    if (group->name == name) return *group;
  groups_.push_back(std::make_unique<Group>(name));
  return *groups_.back();
}

Option& Options::push(Option option) {
  option.group = group_;
  option.default_text = values::to_text(option.field);
  option.start = values::to_json(option);
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

Option& Options::threads(int& field, std::string long_help) {
  return add("--threads", field, "N", "number of threads; 0: one per available CPU",
             std::move(long_help))
      .range(0, 1024)
      .zero_is(available_cpus())
      .default_is("0");
}

const Group& Options::group_of(const Option& option) const {
  for (const auto& group : groups_)
    if (group->name == option.group) return *group;
  throw Bug("an option has a group", __FILE__, __LINE__);
}

const Option* Options::find(const std::string& long_name) const {
  for (const auto& option : options_)
    if (option->long_name() == long_name) return option.get();
  return nullptr;
}

Option& Options::at(const std::string& long_name) {
  const Option* option = find(long_name);
  if (option) return const_cast<Option&>(*option);
  throw Bug("Options::at() asks for an option that exists", __FILE__, __LINE__);
}

bool Options::given(const std::string& long_name) const {
  const Option* option = find(long_name);
  if (option) return option->given;
  throw Bug("Options::given() asks for an option that exists", __FILE__, __LINE__);
}

bool Options::chosen(const std::string& long_name) const {
  return given(long_name) || find(long_name)->from_file;
}

void Options::take_origins(const Options& of) {
  for (const auto& option : options_) {
    const Option* from = of.find(option->long_name());
    if (!from) continue;
    option->given = from->given;
    option->from_file = from->from_file;
    option->file_value = from->file_value;
    option->start = from->start;
  }
}

void Options::take_defaults(const Options& of) {
  for (const auto& option : options_) {
    const Option* from = of.find(option->long_name());
    if (!from || !option->in_config) continue;
    const auto copy = [&](auto* field) { *field = *std::get<decltype(field)>(from->field); };
    if (option->given)
      option->file_value = values::to_json(*from);
    else if (!option->from_file)
      std::visit(copy, option->field);
  }
}

void Options::protect_inputs() const {
  std::vector<std::string> inputs;
  for (const auto& option : options_)
    if (option->file == FileRole::input)
      for (const std::string& path : values::texts(option->field)) inputs.push_back(path);
  for (const auto& option : options_)
    if (option->file == FileRole::output)
      for (const std::string& path : values::texts(option->field))
        if (!option->unit.ends_with("|FD") || !is_descriptor(path))
          check_output(values::title(*option), path, inputs);
}

Json Options::to_json() const {
  Json json = Json::object();
  for (const auto& option : options_)
    if (option->in_config) json[option->long_name()] = values::to_json(*option);
  return json;
}

void Options::from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) throw UsageError(where + ": must be a JSON object of options");
  std::vector<std::string> known;
  for (const auto& option : options_)
    if (option->in_config) known.push_back(option->long_name());
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string guess = nearest(key, known);
      throw UsageError(where + ": unknown option \"" + key + "\"" +
                       (guess.empty() ? "" : "; did you mean \"" + guess + "\"?"));
    }
  }
  for (const auto& option : options_) {
    const auto found = option->in_config ? json.find(option->long_name()) : json.end();
    if (found == json.end()) continue;
    if (option->given)
      option->file_value = *found;
    else
      values::set_from_json(*option, *found, where);
    option->from_file = true;
  }
}

}  // namespace tx
