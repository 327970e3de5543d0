#include "lib/checkpoint/model_output.h"

#include <filesystem>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"

namespace tx {

void check_replaceable(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) == 0 || names_model(path))
    return;
  throw UsageError("--out " + path +
                   " exists and is not a model: choose another name, or remove it");
}

}  // namespace tx
