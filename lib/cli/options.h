// An option is described once; from that one list come parsing, --help, the man page's OPTIONS, the
// shell completion, and reading and writing JSON (run directory's config.json, --config).
//
//   struct Settings { std::string model; int beam = 4; bool scores = false; };
//   Settings s;
//   Options options("tx-decode", "translate lines of text");
//   options.group("Search");
//   options.add("--beam", s.beam, "N", "beam width; 1 is greedy").range(1, 1000);
//   options.flag("--scores", s.scores, "print scores", "long text for the man page");
//   options.positional("FILE", s.files, "references");
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/json.h"

namespace tx {

// A field that an option fills. A vector field makes the option repeatable.
using Field = std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*,
                           std::vector<std::string>*, std::optional<int>*, std::optional<double>*>;

struct Option {
  std::string names;      // "-o,--out"; a positional has a bare name such as "FILE"
  Field field;
  std::string unit;       // the placeholder: "N", "FILE", "post|pre"; empty for a flag
  std::string help;       // one line, no full stop
  std::string long_help;  // further sentences for the man page
  std::string group;
  bool required = false, positional = false, in_config = true, hidden = false;
  std::optional<double> low, high;
  std::vector<std::string> choices;
  bool given = false;  // set by parse()
  std::string default_text;

  Option& range(double least, double most);
  Option& one_of(std::vector<std::string> values);
  Option& must();        // required
  Option& runtime();     // not part of config.json (paths of this call, --describe, ...)
  Option& secret();      // parsed, not listed
  Option& more(std::string text);
  std::string long_name() const;  // "beam"
};

class Options {
 public:
  Options(std::string tool, std::string summary);
  void usage(std::string line);  // shown under "usage:", repeatable
  // What --version prints behind the version and commit (BLAS, instruction set, ...): lib/cli knows
  // no kernels, so the tool hands it in.
  void version(std::function<std::string()> text);
  void group(std::string name);  // of the options added from here on
  Option& add(std::string names, Field field, std::string unit, std::string help,
              std::string long_help = "");
  Option& flag(std::string names, bool& field, std::string help, std::string long_help = "");
  Option& positional(std::string name, Field field, std::string help, std::string long_help = "");

  // Parses; throws UsageError. --help, --version, --man-options and --completion print and return
  // false: the tool ends with status 0.
  bool parse(int argc, const char* const* argv);
  bool given(const std::string& long_name) const;

  std::string help_text() const;
  std::string man_options() const;  // mdoc list for the page's OPTIONS
  std::string completion() const;   // bash: one line of words per option

  Json to_json() const;             // every option in_config with its present value
  // Sets fields from to_json()'s form; keys not known are a UsageError that names them. An option
  // given on the command line keeps its value.
  void from_json(const Json& json, const std::string& where);

 private:
  Option& push(Option option);
  std::string tool_, summary_, group_ = "Options";
  std::vector<std::string> usage_;
  std::function<std::string()> version_;
  std::vector<std::unique_ptr<Option>> options_;
};

// The only catch in a tool: runs body, prints "tool: message" for an exception, closes and checks
// standard output, returns the exit status. SIGPIPE ends a filter silently.
int run_tool(const char* tool, const std::function<int()>& body);

}  // namespace tx
