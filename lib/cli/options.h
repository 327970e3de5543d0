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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "lib/base/json.h"

namespace tx {

// A field that an option fills; its value at that moment is the default. A vector field makes the
// option repeatable; of another option given twice the last one counts. Every flag in the
// configuration also has a --no-NAME, so that a preset or --config can be taken back.
using FieldPointer =
    std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<int>*, std::optional<double>*>;
struct Field : FieldPointer {
  template <class T>
  requires std::is_constructible_v<FieldPointer, T*> Field(T& field) : FieldPointer(&field) {}
};

// What an option asks of the others; see Option::needs().
struct Conditions {
  std::vector<std::string> words;
  std::string advice;
};

// What the value of an option names: a file or directory that is read, or one that is written.
enum class FileRole { none, input, output };

struct Option {
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
  bool given = false;  // set by parse()
  std::string default_text;
  Json start;       // the field's value when the option was added
  Json file_value;  // what from_json() has for an option that was given; null: nothing
  std::vector<Conditions> needed, excluded;
  std::string mode_advice;
  std::vector<std::string> modes;  // see goes_with()

  Option& range(double min, double max);
  Option& at_least(double min);
  Option& one_of(std::vector<std::string> values);
  Option& list_of(std::vector<std::string> values);  // several, with commas between, each once
  Option& also(std::vector<std::string> values);     // further ones that are not offered
  Option& zero_is(int value);                        // what a 0 that the user types stands for
  Option& may_be_empty();                            // "" is a value; others refuse it
  // Further names on the command line, which are not listed: what users of another program type. A
  // name such as "-tok" may have one dash and several letters.
  Option& alias(std::string names);
  // The value names files that are read or written: parse() refuses an output that is also an
  // input, see lib/base/outputs.h.
  Option& input();
  Option& output();
  // An option that is typed without effect beside the others is refused, whatever its value, also
  // as --no-NAME. A condition is written as a user types it:
  //   "--sample"      needs(): that option is on (not false, empty or 0), by whatever means;
  //                   excludes(): it was typed, or a preset or --config has turned it on
  //   "--metric ter"  that option has this value, or has it in its list
  //   "a model of kind decoder"  a fact that the tool finds out later and passes to check_fact()
  // needs() requires any one of the conditions, excludes() none of them; `advice` takes the place
  // of the usual end of the message. --help and the page show which options an option needs, and
  // of a group also which fact if there is one; what is excluded is left to the message. An option
  // that turns off what --config has turned on is not refused, nor are two flags that are both
  // turned off.
  Option& needs(std::vector<std::string> any, std::string advice = "");
  Option& excludes(std::vector<std::string> none, std::string advice = "");
  // With a mode, such as --resume, no option may be typed but those that name it in goes_with().
  Option& is_mode(std::string advice = "leave one of them out");
  Option& goes_with(std::vector<std::string> modes);
  Option& must();     // required
  Option& runtime();  // not part of config.json (paths of this call, --describe, ...)
  Option& secret();   // parsed, not listed
  Option& more(std::string text);
  Option& default_is(std::string text);  // shown where the field's own start value says too little
  std::string long_name() const;         // "beam"; of a positional its name
  bool is_flag() const { return std::holds_alternative<bool*>(field); }
  bool repeatable() const { return std::holds_alternative<std::vector<std::string>*>(field); }
};

// Options under one heading. What it needs, excludes and goes with holds for each of them.
struct Group {
  std::string name;
  std::vector<Conditions> needed, excluded;
  std::vector<std::string> modes;
  Group& needs(std::vector<std::string> any, std::string advice = "");
  Group& excludes(std::vector<std::string> none, std::string advice = "");
  Group& goes_with(std::vector<std::string> names);
};

class Options {
 public:
  Options(std::string tool, std::string summary);
  void usage(std::string line);  // shown under "usage:", repeatable
  // What --version prints after the version and commit (BLAS, instruction set, ...): lib/cli does
  // not know the kernels, so the tool hands it in.
  void version(std::function<std::string()> text);
  Group& group(const std::string& name);  // of the options added from here on
  Option& add(std::string names, Field field, std::string unit, std::string help,
              std::string long_help = "");
  Option& flag(std::string names, bool& field, std::string help, std::string long_help = "");
  Option& positional(std::string name, Field field, std::string help, std::string long_help = "");

  Option& at(const std::string& long_name);  // one that was added

  // --threads in the words that every tool has for it; 0, the default, is all processors.
  Option& threads(int& field, std::string long_help);

  // Parses, calls `configure` and checks what the options need and exclude; throws UsageError.
  // `configure` may set what was not given from a file (from_json()); it returns the names of
  // options whose values are settled later, on which no condition is checked yet. --help,
  // --version, --man-options and --completion print and return false: the tool ends with status 0.
  using Configure = std::function<std::vector<std::string>()>;
  bool parse(int argc, const char* const* argv, const Configure& configure = {});
  // Checks what the options need and exclude, but for conditions on the options named `open`.
  void check(const std::vector<std::string>& open = {}) const;
  // Checks the conditions on a fact: check_fact("a model of kind", "decoder", "m.safetensors is of
  // kind decoder"). UsageError, which ends in `because`, for an option that needs other values.
  void check_fact(const std::string& fact, const std::string& value,
                  const std::string& because) const;
  bool given(const std::string& long_name) const;
  const std::vector<std::unique_ptr<Option>>& all() const { return options_; }
  const Group& group_of(const Option& option) const;

  std::string help_text() const;
  std::string man_options() const;  // mdoc list for the page's OPTIONS
  // For the shells: one line per option, "NAME[,NAME] KIND [WORD...]", a tab and its help; KIND is
  // flag, value, words (the choices follow), list (of such choices, with commas between), file or
  // folder (inputs), or output.
  std::string completion() const;

  Json to_json() const;  // every option in_config with its present value
  // Sets fields from to_json()'s form; an unknown key is a UsageError that names it. An option
  // given on the command line keeps its value.
  void from_json(const Json& json, const std::string& where);

 private:
  Option& push(Option option);
  const Option* find(const std::string& long_name) const;
  void protect_inputs() const;
  void check_modes() const;
  std::string tool_, summary_, group_ = "Options";
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

// The command that shows the tool's page: "man tx-train", or where the tool runs from the folder it
// was built in, whose pages man does not find, "man -l build/man/tx-train.1".
std::string manual(const std::string& tool);

// The known word that differs least from `word`, or "" where all differ in more than a third of
// its letters.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// The only catch in a tool: runs body, prints "tool: message" for an exception, closes and checks
// standard output, returns the exit status. SIGPIPE ends a filter silently.
int run_tool(const char* tool, const std::function<int()>& body);

}  // namespace tx
