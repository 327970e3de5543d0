// Finds NVIDIA libraries at run time: nothing links with them.
#pragma once
#include <string>
#include <vector>

namespace tx {

struct SoughtLibrary {
  const char* variable;            // environment variable with the path of the file
  std::vector<std::string> files;  // names, the preferred one first
  std::vector<std::string> pip;    // directories of Python packages, below nvidia/
};

// Paths to try, in order: the loader's, CUDA toolkits, Python packages (environment, user, system).
std::vector<std::string> library_places(const SoughtLibrary& library);
// A handle of the first that can be opened, else null. `tried` gets a line of each failure.
void* open_first(const SoughtLibrary& library, std::string& tried);

}  // namespace tx
