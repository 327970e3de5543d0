// A directory in $TMPDIR that is removed with this object.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/base/error.h"

namespace tx {

class TemporaryDirectory {
 public:
  // Its name is `name`, a dot and six random characters.
  explicit TemporaryDirectory(const std::string& name) {
    const char* base = std::getenv("TMPDIR");
    const std::string parent = base && *base ? base : "/tmp";
    path_ = parent + "/" + name + ".XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw IoError("create a directory in", parent, errno);
  }
  ~TemporaryDirectory() {
    std::error_code error;
    if (!kept_) std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

}  // namespace tx
