#include "lib/train/options/options.h"

namespace tx {

std::string peek_option(int argc, const char* const* argv, const std::string& name) {
  const std::string word = "--" + name;
  std::string value;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--") break;
    if (arg == word && i + 1 < argc) value = argv[i + 1];
    if (arg.compare(0, word.size() + 1, word + "=") == 0) value = arg.substr(word.size() + 1);
  }
  return value;
}

std::string command_line(int argc, const char* const* argv) {
  std::string line = "tx-train";
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i], before = argv[i - 1];
    if (i > 1 && (before == "-o" || before == "--out"))
      line += " RUN";
    else if (arg.compare(0, 6, "--out=") == 0)
      line += " --out=RUN";
    else if (arg.compare(0, 2, "-o") == 0 && arg.size() > 2)
      line += " -oRUN";
    else
      line += " " + arg;
  }
  return line;
}

}  // namespace tx
