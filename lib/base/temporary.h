// Temporary files: their names, and their removal.
#pragma once
#include <string>

namespace tx {

// "FOLDER/.tx-RANDOM.tmp", which cannot be guessed; at worst a killed process leaves such a
// file, whose name shows that it may be deleted.
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
