#include "lib/convert/output_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

namespace {

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : path_(without_slash(path)) {
  if (file_exists(path_))
    throw UsageError("--out " + path_ + " exists: name a folder that does not, or remove it");
  temporary_ = temporary_name(folder_of(path_));
  if (::mkdir(temporary_.c_str(), 0777) != 0) throw IoError("write", path_, errno);
}

OutputFolder::~OutputFolder() {
  std::error_code error;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, error);
}

std::string OutputFolder::named(std::string message) const {
  const size_t at = temporary_.empty() ? message.npos : message.find(temporary_);
  return at == message.npos ? message : message.replace(at, temporary_.size(), path_);
}

void OutputFolder::finish() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw IoError("write", path_, errno);
  temporary_.clear();
}

}  // namespace tx
