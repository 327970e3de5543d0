// Files that are installed beside libtx.so: the libraries that it opens when one is needed.
#pragma once
#include <string>

namespace tx {

// The path of `file` in the folder of libtx.so, or of the program that holds it.
std::string path_beside(const std::string& file);

}  // namespace tx
