// Finding a library of NVIDIA's at run time: nothing links with it.
#pragma once
#include <string>
#include <vector>

namespace tx {

struct SoughtLibrary {
  const char* variable;            // of the environment: the file, where it is set
  std::vector<std::string> files;  // names, the preferred one first
  std::vector<std::string> pip;    // folders of Python's packages, below nvidia/
};

// Paths to try, in order: where the loader looks, the toolkits, Python's packages (of the present
// environment, which may be conda's, of the user, of the system).
std::vector<std::string> library_places(const SoughtLibrary& library);
// The first that can be opened; null with the loader's words for each, "\n  " in front of them.
void* open_first(const SoughtLibrary& library, std::string& tried);

}  // namespace tx
