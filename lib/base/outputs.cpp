#include "lib/base/outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "lib/base/error.h"

namespace tx {

namespace fs = std::filesystem;

namespace {

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_run(const fs::path& directory) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::exists(directory / name, error); };
  return has("config.json") && (has("lock") || has("log.jsonl"));
}

// The run directory that this file belongs to, or "".
std::string run_of(const std::string& output) {
  std::error_code error;
  for (const fs::path& path : {fs::path(output), fs::weakly_canonical(output, error)})
    if (is_run_file(path.filename()) && is_run(path.has_parent_path() ? path.parent_path() : "."))
      return path.has_parent_path() ? path.parent_path() : ".";
  return "";
}

bool holds(const std::string& directory, const struct stat& file) {
  std::error_code error;
  if (is_run(directory)) return false;  // run_of() protects its own files; others are not read
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    struct stat there;
    if (::stat(entry.path().c_str(), &there) == 0 && same(there, file)) return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(what + ": choose another name");
}

}  // namespace

bool is_standard_input(const std::string& path) {
  if (path == "-") return true;
  struct stat file, in;
  if (::stat(path.c_str(), &file) != 0 || ::fstat(0, &in) != 0 || !same(file, in)) return false;
  return S_ISFIFO(in.st_mode) || S_ISSOCK(in.st_mode) || ::isatty(0) != 0;
}

bool is_descriptor(const std::string& text) {
  return text.size() <= 6 && text.find_first_not_of("0123456789") == text.npos;
}

bool is_temporary_name(const std::string& name) {
  return name.size() == 24 && name.starts_with(".tx-") && name.ends_with(".tmp") &&
         name.find_first_not_of("0123456789abcdef", 4) == 20;
}

bool is_run_file(const std::string& name) {
  static const char* const fixed[] = {
      "lock",      "config.json", "log.jsonl",        "train.ids",
      "valid.ids", "valid.jsonl", "last.safetensors", "best.safetensors"};
  if (std::find(std::begin(fixed), std::end(fixed), name) != std::end(fixed)) return true;
  for (const std::string begin : {"model-", "state-", "flight-"})
    if (name.size() > begin.size() && name.starts_with(begin)) {
      const char next = name[begin.size()];
      return next >= '0' && next <= '9';
    }
  return false;
}

void check_writable(const std::string& output) {
  struct stat info;
  if (output == "-") return;
  const bool exists = ::stat(output.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw IoError("write", output, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return;
  std::error_code error;  // an error leaves the path empty
  const fs::path directory = fs::weakly_canonical(fs::absolute(output, error), error).parent_path();
  if (!error && ::access(directory.c_str(), W_OK) != 0) throw IoError("write", output, errno);
}

void check_output(const std::string& option, const std::string& output,
                  const std::vector<std::string>& inputs) {
  const std::string title = option + " " + output;
  if (output == "-") return;
  if (const std::string run = run_of(output); !run.empty())
    refuse(title + " belongs to the run directory " + run);
  struct stat out, in;
  if (::stat(output.c_str(), &out) != 0 || !S_ISREG(out.st_mode)) return;
  if (::fstat(0, &in) == 0 && same(in, out)) refuse(title + " is also standard input");
  for (const std::string& input : inputs) {
    if (input == "-" || ::stat(input.c_str(), &in) != 0) continue;
    if (same(in, out)) refuse(title + " is also an input" + (input == output ? "" : ", " + input));
    if (S_ISDIR(in.st_mode) && holds(input, out))
      refuse(title + " is in the input directory " + input);
  }
  // Now rather than after long work.
  if (::faccessat(AT_FDCWD, output.c_str(), W_OK, AT_EACCESS) != 0)
    throw IoError("write", output, errno);
}

}  // namespace tx
