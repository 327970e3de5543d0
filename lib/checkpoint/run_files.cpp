#include "lib/checkpoint/run_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "lib/base/error.h"

namespace tx {

namespace {

constexpr std::string_view suffix = ".safetensors";

// The step in "KIND-STEP.safetensors" as we write it; -1 for every other name.
int64_t step_of(std::string_view name, const std::string& kind) {
  const size_t before = kind.size() + 1;
  if (name.size() <= before + suffix.size() || !name.starts_with(kind + "-") ||
      !name.ends_with(suffix))
    return -1;
  const std::string_view digits = name.substr(before, name.size() - before - suffix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && std::to_string(step) == digits ? step : -1;
}

}  // namespace

std::string checkpoint_file(const std::string& run, const std::string& kind, int64_t step) {
  return run + "/" + kind + "-" + std::to_string(step) + std::string(suffix);
}

std::vector<int64_t> checkpoint_steps(const std::string& run, const std::string& kind) {
  std::error_code error;
  std::filesystem::directory_iterator entry(run, error);
  std::vector<int64_t> steps;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const int64_t step = step_of(entry->path().filename().native(), kind);
    if (step >= 0) steps.push_back(step);
  }
  if (error) throw IoError("read", run, error.value());
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace tx
