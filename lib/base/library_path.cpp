#include "lib/base/library_path.h"

#include <dlfcn.h>

#include <filesystem>

#include "lib/base/error.h"

namespace tx {

std::string library_path(const std::string& file) {
  Dl_info info{};
  TX_ASSERT(::dladdr(reinterpret_cast<void*>(&library_path), &info) != 0 && info.dli_fname);
  return std::filesystem::path(info.dli_fname).replace_filename(file);
}

}  // namespace tx
