// A folder that appears whole or not at all: its files are written under a temporary name beside
// it, and finish() renames it.
#pragma once
#include <string>

namespace tx {

class OutputFolder {
 public:
  // UsageError where something stands at `path` already: a folder of another program is never
  // written over. IoError where none can be made there.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();  // without finish() nothing stays
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  std::string file(const std::string& name) const { return temporary_ + "/" + name; }
  // The message of an error about such a file, with the name that it is to have.
  std::string named(std::string message) const;
  void finish();

 private:
  std::string path_, temporary_;
};

}  // namespace tx
