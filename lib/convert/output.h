// tx-convert's output directories. OutputDirectory creates one atomically: files are written under
// a temporary name next to it, and finish() renames it. A signal removes it with its files.
#pragma once
#include <deque>
#include <string>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/convert.h"

namespace tx {

class OutputDirectory {
 public:
  // UsageError: `path` exists (nothing is overwritten). IoError: the directory cannot be created.
  explicit OutputDirectory(const std::string& path);
  ~OutputDirectory();  // removes everything unless finish() was called
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  std::string file(const std::string& name);  // its path
  void write_json(const std::string& name, const Json& json);
  // An error message about one of its files, with the final path instead of the temporary one.
  std::string named(std::string message) const;
  void finish();

 private:
  std::string path_, temporary_;
  std::deque<TemporaryFile> removed_;  // on a signal: the directory and its files
};

// The writers throw DataError that names what the other program does not support. `max_positions`:
// rows of the sinusoid table, the longest sentence that CTranslate2 accepts.
void write_ctranslate2(OutputDirectory& directory, const ModelReader& model, int max_positions);

// Warns where MarianMT's results differ slightly.
void write_marian(OutputDirectory& directory, const ModelReader& model, int max_positions,
                  const Log& log);

// Of a recurrent model, for Firefox or Marian's own programs.
void write_firefox(OutputDirectory& directory, const ModelReader& model,
                   const ConvertOptions& options);

void write_llama(OutputDirectory& directory, const ModelReader& model, int max_positions);

}  // namespace tx
