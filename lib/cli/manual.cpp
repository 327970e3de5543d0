#include <filesystem>

#include "lib/cli/options.h"

namespace tx {

namespace fs = std::filesystem;

std::string manual(const std::string& tool) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "man " + tool;
  const fs::path page = program.parent_path().parent_path() / "man" / (tool + ".1");
  if (!fs::is_regular_file(page, error)) return "man " + tool;
  const std::string near = fs::proximate(page, error).string();
  const std::string text = error || near.starts_with("..") ? page.string() : near;
  return "man -l " + text;
}

}  // namespace tx
