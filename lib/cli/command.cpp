#include <algorithm>
#include <filesystem>
#include <numeric>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/cli/options.h"

namespace tx {

namespace {

std::string list_of(const std::string& tool, const std::string& summary,
                    const std::vector<Command>& commands) {
  std::string out = tool + ": " + summary + "\n\n";
  out += "usage: " + tool + " COMMAND [options]\n\nCommands:\n";
  for (const auto& command : commands) {
    const size_t gap = command.name.size() < 16 ? 16 - command.name.size() : 1;
    out += "  " + command.name + std::string(gap, ' ') + command.summary + "\n";
  }
  out += "\n" + tool + " COMMAND --help lists a command's options.\n";
  return out + "More in the manual: " + manual(tool) + "\n";
}

// The optimal string alignment distance: insertions, deletions, substitutions and transpositions.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string version_text(const std::string& tool, const std::function<std::string()>& more) {
  std::string out = tool.substr(0, tool.find(' ')) + " " TX_VERSION " (commit " TX_COMMIT ")\n";
  out += "compiler: " TX_COMPILER "\n";
  if (more) out += more();
  if (out.back() != '\n') out += '\n';
  return out;
}

int run_command(const std::string& tool, const std::string& summary,
                const std::vector<Command>& commands, const std::function<std::string()>& version,
                int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.name);
  const std::string word = argc > 1 ? argv[1] : "";
  for (const auto& command : commands)
    if (command.name == word) return command.run(argc - 1, argv + 1);
  if (word == "--help" || word == "-h" || word == "help")
    return print(list_of(tool, summary, commands)), 0;
  if (word == "--version") return print(version_text(tool, version)), 0;
  if (word == "--completion") {  // each command has its own --completion
    for (const auto& name : names) print(name + "\n");
    return 0;
  }
  const std::string all = joined(names, ", ");
  if (word.empty()) throw UsageError("missing command: one of " + all);
  const std::string guess = nearest(word, names);
  throw UsageError("unknown command '" + word + "'" +
                   (guess.empty() ? "; the commands are " + all : "; did you mean " + guess + "?"));
}

std::string manual(const std::string& tool) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "man " + tool;
  const fs::path page = program.parent_path().parent_path() / "man" / (tool + ".1");
  if (!fs::is_regular_file(page, error)) return "man " + tool;
  const std::string near = fs::proximate(page, error).string();
  const std::string text = error || near.starts_with("..") ? page.string() : near;
  return "man -l " + text;
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  if (word.size() == 2 && word[0] == '-') return best;  // all other letters have distance 1
  size_t min = std::max<size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    const size_t distance = edits(word, candidate);
    if (distance < min && candidate.size() > distance) {
      min = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tx
