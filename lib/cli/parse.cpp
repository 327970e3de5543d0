// The only file that uses CLI11, which splits the command line into options and their texts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/cli/options.h"
#include "lib/cli/values.h"

namespace tx {

namespace {

struct Parsed {
  std::vector<std::pair<Option*, CLI::Option*>> options;
  std::vector<std::pair<Option*, CLI::Option*>> negations;  // --no-NAME
};

std::string unknown_option(const std::string& word, const std::vector<std::string>& known) {
  const std::string name = word.substr(0, word.find('='));
  const std::string guess = nearest(name, known);
  return "unknown option " + name + (guess.empty() ? "" : "; did you mean " + guess + "?");
}

// CLI11's texts for a missing value, "--beam: 1 required TEXT missing", and for one too many.
std::string wrong_values(const std::string& message, const std::vector<Option*>& options) {
  if (message.find("flag override") != std::string::npos) {
    const std::string name = message.substr(0, message.find(' '));
    return (name.size() > 1 ? "--" : "-") + name + " takes no value";
  }
  const std::string name = message.substr(0, message.find(':'));
  for (const Option* option : options) {
    for (const auto& own : values::all_names(*option))
      if (own == name) return name + " needs a value: " + option->unit;
  }
  return message;
}

// "-tok": CLI11 does not support it; reversed_words() replaces it by the option's long name.
bool is_long_word(const std::string& name) { return name.size() > 2 && name[1] != '-'; }

void bind(CLI::App& app, Option& option, Parsed& parsed) {
  const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
  std::string names, negated;
  for (const std::string& name : values::all_names(option)) {
    if (is_long_word(name)) continue;
    names += (names.empty() ? "" : ",") + name;
    if (name.starts_with("--")) negated += (negated.empty() ? "--no-" : ",--no-") + name.substr(2);
  }
  if (option.is_flag()) {
    parsed.options.emplace_back(&option, app.add_flag(names)->disable_flag_override());
    if (option.in_config && !negated.empty())
      parsed.negations.emplace_back(&option, app.add_flag(negated)->disable_flag_override());
    return;
  }
  CLI::Option* added = app.add_option(names, keep);
  // Without this a repeatable option would swallow a positional that follows its value.
  added->expected(1)->allow_extra_args(false);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parsed.options.emplace_back(&option, added);
}

// The words that CLI11 did not parse: positionals, or unknown options, which are refused.
std::vector<std::string> leftovers(const CLI::App& app, const std::vector<std::string>& known) {
  std::vector<std::string> out;
  bool after_mark = false;
  for (const auto& word : app.remaining())
    if (!after_mark && word == "--")
      after_mark = true;
    else if (!after_mark && word.size() > 1 && word[0] == '-')
      throw UsageError(unknown_option(word, known));
    else
      out.push_back(word);
  return out;
}

// An empty text is usually an unset shell variable.
void check_names(const Option& option, const std::vector<std::string>& texts) {
  const bool text = option.repeatable() || std::holds_alternative<std::string*>(option.field);
  if (text && !option.empty_allowed && std::find(texts.begin(), texts.end(), "") != texts.end())
    throw UsageError(values::title(option) + " has an empty value: expected " + option.unit);
}

void fill_positionals(const std::vector<Option*>& options, const std::vector<std::string>& words) {
  size_t next = 0;
  for (Option* option : options) {
    if (!option->positional || next == words.size()) continue;
    const size_t end = option->repeatable() ? words.size() : next + 1;
    const std::vector<std::string> own(words.begin() + long(next), words.begin() + long(end));
    check_names(*option, own);
    values::set_from_texts(*option, own);
    option->given = true;
    next = end;
  }
  if (next < words.size()) throw UsageError("unexpected argument '" + words[next] + "'");
}

void fill_options(const Parsed& parsed) {
  for (const auto& [option, source] : parsed.options) {
    if (source->count() == 0) continue;
    check_names(*option, source->results());
    values::set_from_texts(
        *option, option->is_flag() ? std::vector<std::string>{"true"} : source->results());
    option->given = true;
  }
  for (const auto& [option, source] : parsed.negations) {
    if (source->count() == 0) continue;
    if (option->given)
      throw UsageError("--" + option->long_name() + " and --no-" + option->long_name() +
                       " contradict each other: give one");
    values::set_from_texts(*option, {"false"});
    option->given = true;
  }
}

void require_given(const std::vector<Option*>& options) {
  for (const Option* option : options) {
    if (!option->required || option->given) continue;
    const std::string name = values::names(*option).front();
    throw UsageError(option->positional ? "missing argument: " + name + " (" + option->help + ")"
                                        : "missing option: " + name + " " + option->unit + " (" +
                                              option->help + ")");
  }
}

// The command line in reverse, as CLI11 expects it. "--name=value" is split here: for "--name="
// CLI11 would use the next word as the value.
std::vector<std::string> reversed_words(int argc, const char* const* argv,
                                        const std::vector<Option*>& options) {
  std::map<std::string, const Option*> long_words;
  std::set<std::string> with_value;
  for (const Option* option : options) {
    if (option->positional) continue;
    for (const std::string& name : values::all_names(*option)) {
      if (is_long_word(name)) long_words[name] = option;
      if (!option->is_flag()) with_value.insert(name);
    }
  }
  const auto known_name = [&](const std::string& name) {
    const auto found = long_words.find(name);
    return found == long_words.end() ? name : values::title(*found->second);
  };
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      words.insert(words.end(), argv + i, argv + argc);
      break;
    }
    const std::string name = word.substr(0, word.find('='));
    if (name.size() > 2 && name != word && with_value.count(name)) {
      words.insert(words.end(), {known_name(name), word.substr(name.size() + 1)});
      continue;
    }
    words.push_back(known_name(word));
    if (with_value.count(word) && i + 1 < argc) words.push_back(argv[++i]);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

bool Options::parse(int argc, const char* const* argv, const Configure& configure) {
  CLI::App app;
  app.set_help_flag();  // removes CLI11's --help; ours is added below
  // Options of every tool that print something and exit.
  const std::pair<const char*, std::function<std::string()>> printing[] = {
      {"--help,-h", [&] { return help_text(usual_.empty()); }},
      {"--help-all", [&] { return help_text(true); }},
      {"--version", [&] { return version_text(tool_, version_); }},
      {"--man-options", [&] { return man_options(); }},
      {"--completion", [&] { return completion(); }}};
  std::vector<CLI::Option*> asked;
  for (const auto& [name, text] : printing)
    asked.push_back(app.add_flag(name)->disable_flag_override());
  app.allow_extras();
  Parsed parsed;
  std::vector<Option*> all;
  for (const auto& option : options_) {
    all.push_back(option.get());
    if (!option->positional) bind(app, *option, parsed);
  }
  try {
    app.parse(reversed_words(argc, argv, all));
  } catch (const CLI::ParseError& e) {
    throw UsageError(wrong_values(e.what(), all));
  }
  for (size_t i = 0; i < asked.size(); ++i)
    if (asked[i]->count() > 0) return print(printing[i].second()), false;
  std::vector<std::string> known = {"--help", "--help-all", "--version"};
  for (const Option* option : all) {
    for (const auto& name : values::names(*option))
      if (!option->positional && !option->hidden) known.push_back(name);
  }
  const std::vector<std::string> words = leftovers(app, known);
  fill_options(parsed);
  fill_positionals(all, words);
  protect_inputs();
  require_given(all);
  const auto open = configure ? configure() : std::vector<std::string>{};
  protect_inputs();  // again, for paths that `configure` set
  check(open);
  return true;
}

}  // namespace tx
