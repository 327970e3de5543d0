// An option is described once; from that one list come parsing, --help, the man page's OPTIONS,
// the shell completion, and reading and writing JSON (run directory's config.json, --config).
//
//   struct Settings { std::string model; int beam = 4; bool scores = false; };
//   Settings s;
//   Options options("tx-decode", "translate lines of text");
//   options.group("Search");
//   options.add("--beam", s.beam, "N", "beam width; 1 is greedy").range(1, 1000);
//   options.flag("--scores", s.scores, "print scores", "long text for the man page");
//   options.add("--top-k", s.top_k, "N", "draw among N").needs({"--sample"});
//   options.positional("FILE", s.files, "references");
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "lib/base/json.h"
#include "lib/base/named.h"
#include "lib/base/split.h"

namespace tx {

// A field that an option sets; its value when the option is added is the default. A vector field
// makes the option repeatable; if any other option is given twice, the last value counts. Every
// flag in the configuration also has a --no-NAME, which overrides a preset or --config.
using FieldPointer =
    std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<int>*, std::optional<double>*>;
struct Field : FieldPointer {
  template <class T>
  requires std::is_constructible_v<FieldPointer, T*> Field(T& field) : FieldPointer(&field) {}
};

// A condition on another option, or on a fact that the tool learns later: check_fact().
struct Condition {
  Condition(const char* option, std::string wanted = "", bool is_fact = false)
      : name(option), value(std::move(wanted)), fact(is_fact) {}
  bool operator==(const Condition&) const = default;
  std::string text() const { return value.empty() ? name : name + " " + value; }
  std::string name;   // "--metric"; of a fact "a model of kind"
  std::string value;  // the option has this value, or its list contains it
  bool fact;
};

// Other options that an option needs or excludes.
struct Conditions {
  std::vector<Condition> list;
  std::string advice;
};

// An option that would have no effect is an error if the user gives it, whatever its value, also as
// --no-NAME. A condition without a value, such as "--sample", holds
//   for needs():    if that option is on (not false, empty or 0), for whatever reason;
//   for excludes(): if it was given, or a preset or --config turned it on.
// needs() requires any one of the conditions, excludes() none of them; `advice` replaces the
// default end of the message. --help and the man page show the options that an option needs, and
// the fact that a group needs if it is a single one; they do not show exclusions. An option may
// turn off what --config turned on, and two flags may both be turned off.
template <class T>
struct Conditional {
  std::vector<Conditions> needed, excluded;
  std::vector<std::string> modes;

  T& needs(std::vector<Condition> any, std::string advice = "") {
    needed.push_back({std::move(any), std::move(advice)});
    return static_cast<T&>(*this);
  }
  T& excludes(std::vector<Condition> none, std::string advice = "") {
    excluded.push_back({std::move(none), std::move(advice)});
    return static_cast<T&>(*this);
  }
  // With a mode, such as --resume, only options that name it may be given.
  T& goes_with(const std::vector<std::string>& names) {
    modes.insert(modes.end(), names.begin(), names.end());
    return static_cast<T&>(*this);
  }
};

// What the value of an option names: a file or directory that is read, or one that is written.
enum class FileRole { none, input, output };

struct Option : Conditional<Option> {
  std::string names;    // "-o,--out"; a positional has a bare name such as "FILE"
  std::string aliases;  // in the same form
  FieldPointer field;
  std::string unit;       // the placeholder: "N", "FILE", "post|pre"; empty for a flag
  std::string help;       // one line, no full stop
  std::string long_help;  // further sentences for the man page
  std::string group;
  bool required = false, positional = false, in_config = true, hidden = false, list = false,
       empty_allowed = false, mode = false;
  FileRole file = FileRole::none;
  std::optional<double> low, high;
  std::vector<std::string> choices, unlisted_choices;
  std::optional<int> zero;
  bool given = false;      // set by parse()
  bool from_file = false;  // set by from_json()
  std::string default_text;
  std::optional<std::string> standard_input;  // set by or_standard_input(): `except`
  Json start;                                 // the field's value when the option was added
  Json file_value;  // from_json()'s value of an option that was given; null if there is none
  std::string mode_advice;

  template <class F, class V>
  Option& set(F Option::*member, V value) {
    this->*member = std::move(value);
    return *this;
  }
  Option& range(double min, double max) { return at_least(min).set(&Option::high, max); }
  Option& at_least(double min) { return set(&Option::low, min); }
  using Words = std::vector<std::string>;
  Option& one_of(Words values) { return set(&Option::choices, std::move(values)); }
  // Comma-separated, each at most once.
  Option& list_of(Words values) { return set(&Option::list, true).one_of(std::move(values)); }
  // Accepted too, but not listed.
  Option& also(Words values) { return set(&Option::unlisted_choices, std::move(values)); }
  Option& zero_is(int value) { return set(&Option::zero, value); }  // replaces a 0 that is given
  Option& may_be_empty() { return set(&Option::empty_allowed, true); }  // others reject ""
  // Unlisted names, for users of other programs, also with one dash and several letters: "-tok".
  Option& alias(std::string further) { return set(&Option::aliases, std::move(further)); }
  // The value names files: parse() refuses an output that is also an input (lib/base/outputs.h).
  Option& input() { return set(&Option::file, FileRole::input); }
  Option& output() { return set(&Option::file, FileRole::output); }
  // An input that is standard input if it is not given, unless the option `except` is on.
  Option& or_standard_input(const std::string& except = "") {
    default_text = "standard input" + (except.empty() ? "" : "; none with " + except);
    return input().set(&Option::standard_input, except);
  }
  Option& is_mode(std::string advice = "leave one of them out") {
    return set(&Option::mode, true).set(&Option::mode_advice, std::move(advice));
  }
  Option& must() { return set(&Option::required, true); }
  Option& runtime() { return set(&Option::in_config, false); }  // paths of this run, --describe ...
  Option& secret() { return set(&Option::hidden, true); }       // accepted, not listed
  Option& more(const std::string& text) {
    return set(&Option::long_help, long_help + (long_help.empty() ? "" : " ") + text);
  }
  // Shown instead of the field's initial value.
  Option& default_is(std::string text) { return set(&Option::default_text, std::move(text)); }
  std::string long_name() const;  // "beam"; for a positional its name
  bool is_flag() const { return std::holds_alternative<bool*>(field); }
  bool repeatable() const { return std::holds_alternative<std::vector<std::string>*>(field); }
};

// Options under one heading. Its conditions and modes apply to each of them.
struct Group : Conditional<Group> {
  explicit Group(std::string heading) : name(std::move(heading)) {}
  std::string name;
};

class Options {
 public:
  Options(std::string tool, std::string summary);
  void usage(std::string line);  // shown under "usage:", repeatable
  // The options of --help: long names, separated by spaces. --help-all shows all, and --help does
  // without this call.
  void usual(const std::string& names) { usual_ = " " + names + " "; }
  // What --version prints after the version and commit: a function of the tool.
  void version(std::function<std::string()> text);
  Group& group(const std::string& name);  // of the options that are added next
  Option& add(std::string names, Field field, std::string unit, std::string help,
              std::string long_help = "");
  // The choices are the names of the enumeration.
  template <class E>
  Option& add(std::string names, Named<E>& field, std::string help, std::string long_help = "") {
    const std::vector<std::string> choices = names_of<E>();
    return add(std::move(names), field.name, joined(choices, "|"), std::move(help),
               std::move(long_help))
        .one_of(choices);
  }
  Option& flag(std::string names, bool& field, std::string help, std::string long_help = "");
  Option& positional(std::string name, Field field, std::string help, std::string long_help = "");

  Option& at(const std::string& long_name);  // one that was added

  // --threads with the help text that all tools share; 0, the default, is all processors.
  Option& threads(int& field, std::string long_help);

  // Parses, calls `configure` and checks the conditions of the options; throws UsageError.
  // `configure` may set options that were not given from a file (from_json()); it returns the names
  // of options whose values are not known yet: conditions on them are not checked. --help,
  // --version, --man-options and --completion print and return false: the tool exits with status 0.
  using Configure = std::function<std::vector<std::string>()>;
  bool parse(int argc, const char* const* argv, const Configure& configure = {});
  // Checks the conditions of all options, except conditions on the options named in `open`.
  void check(const std::vector<std::string>& open = {}) const;
  // Checks the conditions on a fact. A given option that needs another value is a UsageError that
  // ends in `because`, such as "m.safetensors is of kind decoder".
  void check_fact(const Condition& fact, const std::string& because) const;
  bool given(const std::string& long_name) const;
  bool chosen(const std::string& long_name) const;  // given, or in a file of from_json()
  // Takes from `of`, whose options set other fields, which were given, to what a file set them, and
  // their initial values.
  void take_origins(const Options& of);
  // Takes from `of`, whose options set other fields, the values of options that are not chosen()
  // here. Options given on the command line may turn off what `of` turned on.
  void take_defaults(const Options& of);
  const std::vector<std::unique_ptr<Option>>& all() const { return options_; }
  const Group& group_of(const Option& option) const;

  std::string help_text(bool all) const;
  std::string man_options() const;  // mdoc list for the page's OPTIONS
  // For shell completion: one line per option, "NAME[,NAME] KIND [WORD...]", a tab and its help;
  // KIND is flag, value, words (the choices follow), list (comma-separated choices), file or folder
  // (inputs), or output.
  std::string completion() const;

  Json to_json() const;  // every option in_config with its current value
  // Sets fields from the form of to_json(); an unknown key is a UsageError that names it. Options
  // given on the command line keep their values.
  void from_json(const Json& json, const std::string& where);

 private:
  Option& push(Option option);
  const Option* find(const std::string& long_name) const;
  void protect_inputs() const;
  void check_modes() const;
  std::string tool_, summary_, usual_, group_ = "Options";
  std::vector<std::string> usage_;
  std::function<std::string()> version_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Option>> options_;
};

// A tool of several commands ("tx-bpe encode ..."): runs the one named by argv[1] with the rest of
// the line. --help lists them; an unknown name is a UsageError that suggests the nearest.
struct Command {
  std::string name, summary;
  std::function<int(int argc, const char* const* argv)> run;  // argv[0] is the command's name
};
int run_command(const std::string& tool, const std::string& summary,
                const std::vector<Command>& commands, const std::function<std::string()>& version,
                int argc, const char* const* argv);

// "tx-decode 0.1.0 (commit abc)", the compiler, then the lines of `more`.
std::string version_text(const std::string& tool, const std::function<std::string()>& more);

// The command that shows the tool's man page: "man tx-train", or "man -l build/man/tx-train.1" if
// the tool runs from its build directory, where man does not find it.
std::string manual(const std::string& tool);

// The known word nearest to `word`, or "" if all differ in more than a third of its letters.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// The only catch in a tool: runs body, prints "tool: message" for an exception, closes and checks
// standard output, returns the exit status. SIGPIPE ends a filter silently.
int run_tool(const char* tool, const std::function<int()>& body);

// The message and exit status (2 for a wrong command line) that a tool reports for an exception.
struct Failure {
  std::string message;
  int status = 1;
};
Failure describe_failure(const std::exception_ptr& thrown, const std::string& tool);

}  // namespace tx
