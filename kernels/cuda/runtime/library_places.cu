#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>

#include "kernels/cuda/runtime/library_places.h"

namespace tx {

namespace {

void append_matches(const std::string& pattern, std::vector<std::string>& places) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    places.insert(places.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
}

// The directories of Python packages.
std::vector<std::string> roots() {
  std::vector<std::string> roots;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* folder = std::getenv(name)) roots.push_back(folder);
  if (const char* home = std::getenv("HOME")) roots.push_back(std::string(home) + "/.local");
  roots.insert(roots.end(), {"/usr/local", "/usr", "/opt/*", "/opt/*/.venv"});
  return roots;
}

}  // namespace

std::vector<std::string> library_places(const SoughtLibrary& library) {
  const char* path = std::getenv(library.variable);
  if (path && *path) return {path};
  std::vector<std::string> places;
  for (const char* folder : {"", "/usr/local/cuda/lib64/"})
    for (const std::string& file : library.files) places.push_back(folder + file);
  for (const std::string& file : library.files)
    append_matches("/usr/local/cuda-*/lib64/" + file, places);
  for (const std::string& root : roots()) {
    for (const std::string& file : library.files) append_matches(root + "/lib/" + file, places);
    for (const char* packages : {"/site-packages/", "/dist-packages/"})
      for (const std::string& folder : library.pip)
        for (const std::string& file : library.files)
          append_matches(root + "/lib/python3*" + packages + "nvidia/" + folder + "/lib/" + file,
                         places);
  }
  return places;
}

void* open_first(const SoughtLibrary& library, std::string& tried) {
  for (const std::string& place : library_places(library)) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += "\n  " + std::string(dlerror());
  }
  return nullptr;
}

}  // namespace tx
