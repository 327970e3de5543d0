// The libraries that are installed next to libtx.so, which opens one when it is needed.
#pragma once
#include <string>

namespace tx {

// The path of `file` in the directory of libtx.so, or of the program that it is linked into.
std::string library_path(const std::string& file);

}  // namespace tx
