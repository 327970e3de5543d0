// --help, the OPTIONS section of the man page, and shell completion.
#include <algorithm>

#include "lib/base/split.h"
#include "lib/cli/options.h"
#include "lib/cli/values.h"

namespace tx {

namespace {

constexpr size_t help_column = 28, line_width = 80;

bool starts_true(const Option& option) {
  return option.is_flag() && **std::get_if<bool*>(&option.field);
}

// "-o, --out FILE"; "--[no-]tie" for a flag that starts true.
std::string left_side(const Option& option) {
  if (option.positional) return option.names;
  std::string out;
  for (std::string name : values::names(option)) {
    if (starts_true(option) && name.starts_with("--")) name.insert(2, "[no-]");
    out += (out.empty() ? "" : ", ") + name;
  }
  if (out.starts_with("--")) out.insert(0, "    ");  // aligned with names that follow "-x, "
  return out + (option.unit.empty() ? "" : " " + option.unit);
}

std::string notes(const Option& option) {
  std::string out;
  const auto add = [&](const std::string& note) { out += (out.empty() ? " (" : "; ") + note; };
  if (option.required) add("required");
  if (option.repeatable() && !option.positional) add("repeatable");
  if (!option.default_text.empty()) add("default " + option.default_text);
  for (const auto& need : values::needs(option.needed, false)) add(need);
  return out.empty() ? out : out + ")";
}

// Appends words, broken at spaces; lines after the first begin at `indent`.
void append_wrapped(std::string& out, const std::string& text, size_t indent) {
  size_t column = indent, begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (column > indent && column + 1 + end - begin > line_width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text, begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  out += '\n';
}

void append_row(std::string& out, const std::string& left, const std::string& text) {
  out += "  " + left;
  const size_t used = left.size() + 2;
  out += used + 2 > help_column ? "\n" + std::string(help_column, ' ')
                                : std::string(help_column - used, ' ');
  append_wrapped(out, text, help_column);
}

// Groups in the order of their first option.
template <class F>
void for_each_by_group(const std::vector<std::unique_ptr<Option>>& options, const F& f) {
  std::vector<std::string> done;
  for (const auto& first : options) {
    if (std::find(done.begin(), done.end(), first->group) != done.end()) continue;
    done.push_back(first->group);
    for (const auto& option : options)
      if (option->group == first->group && !option->hidden) f(*option);
  }
}

// Text for roff, where a backslash and a line that begins with a dot are commands.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

// One sentence per line: roff recognises the end of a sentence at the end of a line.
std::string sentences(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && text[i] == ' ' && text[i - 1] == '.' && i + 1 < text.size() &&
                         text[i + 1] >= 'A' && text[i + 1] <= 'Z';
    out += between ? '\n' : text[i];
  }
  return out;
}

// mdoc interprets words such as "No" or "Fl" as macros unless a zero-width character precedes them.
std::string argument(const std::string& text) { return text.empty() ? text : "\\&" + roff(text); }

std::string man_item(const Option& option) {
  std::string out = ".It";
  if (option.positional) return out + " Ar " + argument(option.names) + "\n";
  bool first = true;
  for (const auto& name : values::names(option)) {
    out += std::string(first ? "" : " ,") + " Fl " + roff(name.substr(1));
    first = false;
  }
  if (!option.unit.empty()) out += " Ar " + argument(option.unit);
  if (starts_true(option)) out += " , Fl \\-no\\-" + roff(option.long_name());
  return out + "\n";
}

// The help line as a sentence: with a capital and a full stop.
std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text + ".";
}

// "needs --metric chrf" of a whole group, or "".
std::string rules_of(const Group& group) { return joined(values::needs(group.needed, true), "; "); }

std::string completion_kind(const Option& option) {
  if (option.is_flag()) return "flag";
  if (!option.choices.empty()) {
    std::string out = option.list ? "list" : "words";
    for (const auto& choice : option.choices) out += " " + choice;
    return out;
  }
  if (option.file == FileRole::output) return "output";
  if (option.file == FileRole::input) return option.unit == "DIR" ? "directory" : "file";
  return "value";
}

}  // namespace

std::string Options::help_text(bool all) const {
  std::string out = tool_ + ": " + summary_ + "\n\n";
  for (const auto& line : usage_)
    out += (&line == &usage_.front() ? "usage: " : "       ") + line + "\n";
  if (usage_.empty()) out += "usage: " + tool_ + " [options]\n";
  std::string group;
  for_each_by_group(options_, [&](const Option& option) {
    const bool usual = option.positional
                           ? option.needed.empty()
                           : usual_.find(" " + option.long_name() + " ") != usual_.npos;
    if (!all && !usual) return;
    if (option.group != group || group.empty()) {
      const std::string rules = rules_of(group_of(option));
      out += "\n" + option.group + (rules.empty() ? "" : " (" + rules + ")") + ":\n";
    }
    group = option.group;
    append_row(out, left_side(option), option.help + notes(option));
  });
  out += "\n";
  append_row(out, "-h, --help", "print this and exit");
  if (!usual_.empty()) append_row(out, "    --help-all", "print all options and exit");
  append_row(out, "    --version", "print version, compiler and libraries, and exit");
  out += "\nMore in the manual: " + manual(tool_.substr(0, tool_.find(' '))) + "\n";
  return out;
}

std::string Options::man_options() const {
  std::string out, group;
  for_each_by_group(options_, [&](const Option& option) {
    if (option.group != group || out.empty()) {
      if (!out.empty()) out += ".El\n";
      out += ".Ss " + roff(option.group) + "\n";
      const std::string rules = rules_of(group_of(option));
      if (!rules.empty()) out += roff(sentence(rules)) + "\n";
      out += ".Bl -tag -width Ds\n";
    }
    group = option.group;
    out += man_item(option) + roff(sentence(option.help + notes(option))) + "\n";
    if (!option.long_help.empty()) out += roff(sentences(option.long_help)) + "\n";
  });
  if (!out.empty()) out += ".El\n";
  out += ".Ss General\n.Bl -tag -width Ds\n";
  out += ".It Fl h , Fl \\-help\nPrint a summary of the options and exit.\n";
  if (!usual_.empty())
    out += ".It Fl \\-help\\-all\nThe same of all options, not only the usual ones.\n";
  out += ".It Fl \\-version\nPrint version, compiler and libraries, and exit.\n.El\n";
  return out;
}

std::string Options::completion() const {
  std::string out =
      "-h,--help flag\tprint a summary of the options\n--version flag\tprint the version\n";
  if (!usual_.empty()) out += "--help-all flag\tprint a summary of all options\n";
  for (const auto& option : options_) {
    if (option->positional || option->hidden) continue;
    out += option->names;
    if (starts_true(*option)) out += ",--no-" + option->long_name();
    out += " " + completion_kind(*option) + "\t" + option->help + "\n";
  }
  return out;
}

}  // namespace tx
