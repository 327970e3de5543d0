#include "lib/convert/output.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "lib/base/error.h"

namespace tx {

namespace {

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

OutputDirectory::OutputDirectory(const std::string& path) : path_(without_slash(path)) {
  if (file_exists(path_))
    throw UsageError("--out " + path_ + " already exists: remove it or choose another path");
  temporary_ = temporary_name(directory_of(path_));
  removed_.emplace_back(temporary_);
  if (::mkdir(temporary_.c_str(), 0777) != 0) throw IoError("write", path_, errno);
}

OutputDirectory::~OutputDirectory() {
  std::error_code error;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, error);
}

std::string OutputDirectory::file(const std::string& name) {
  removed_.emplace_back(temporary_ + "/" + name);
  return removed_.back().name();
}

void OutputDirectory::write_json(const std::string& name, const Json& json) {
  write_atomically(file(name), to_text(json, 2) + "\n");
}

std::string OutputDirectory::named(std::string message) const {
  const size_t at = temporary_.empty() ? message.npos : message.find(temporary_);
  return at == message.npos ? message : message.replace(at, temporary_.size(), path_);
}

void OutputDirectory::finish() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw IoError("write", path_, errno);
  temporary_.clear();
}

}  // namespace tx
