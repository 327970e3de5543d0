// A directory below $TMPDIR that goes with this object.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/base/error.h"

namespace tx {

class TemporaryFolder {
 public:
  // `name`: what it is called, before six random characters.
  explicit TemporaryFolder(const std::string& name) {
    const char* base = std::getenv("TMPDIR");
    const std::string folder = base && *base ? base : "/tmp";
    path_ = folder + "/" + name + ".XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw IoError("create a directory in", folder, errno);
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!stays_) std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  void stay() { stays_ = true; }

 private:
  std::string path_;
  bool stays_ = false;
};

}  // namespace tx
