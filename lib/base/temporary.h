// Temporary files: names, and that none is left behind.
#pragma once
#include <string>

namespace tx {

// "FOLDER/.tx-RANDOM.tmp", which cannot be guessed; a killed process leaves such a file at
// worst, and whoever tidies the folder knows it by its name.
std::string temporary_name(const std::string& folder);

// The name of a file that remove_temporaries() removes as long as this lives. Made before the file.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder);
  ~TemporaryFile();  // the file stays, if there is one
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int slot_;  // -1: it is not known to remove_temporaries()
};

// For signal handlers that end the process.
void remove_temporaries();

}  // namespace tx
