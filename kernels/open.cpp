#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <initializer_list>

#include "build_info.h"
#include "kernels/kernels.h"
#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

namespace {

// Sets the first of the environment variables `names` for as long as this lives, unless one of them
// is set: a library reads it while it is loaded, and children of this process do not inherit it.
class Setting {
 public:
  Setting(std::initializer_list<const char*> names, const char* value) : name_(*names.begin()) {
    for (const char* name : names) set_ = set_ && !std::getenv(name);
    if (set_) ::setenv(name_, value, 0);
  }
  ~Setting() {
    if (set_) ::unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  bool set_ = true;
};

[[noreturn]] void refuse(const std::string& path) {
  std::string why = ::dlerror();
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  if (::access(path.c_str(), F_OK) != 0) {
    why += "; install tx whole: this library lies beside libtx.so";
  } else if (why.find("failed to map") != why.npos || why.find("allocate") != why.npos) {
    why += "; memory is too short for it (ulimit -v)";
  }
  throw Error("cannot load " + path + ": " + why);
}

}  // namespace

const KernelLibrary& open_kernels(const std::string& name) {
  const std::string path = library_path("lib" + name + ".so");
  // Two programs on two cores whose threads spin for libgomp's 300,000 rounds fall to a tenth of
  // their speed. With 600 a single one keeps 98 % of it, and two together have 97 % of one; fewer
  // rounds cost the single one more, 1,000 cost the two 8 % (tests/bench/RESULTS.md). OpenBLAS
  // would start threads when it is loaded, but the kernels divide the work themselves.
  const Setting rounds({"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}, "600");
  const Setting blas_threads({"OPENBLAS_NUM_THREADS"}, "1");
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(path);
  std::string entry = name;
  entry[entry.find('-')] = '_';
  using Entry = const KernelLibrary* (*)();
  const Entry tell = reinterpret_cast<Entry>(::dlsym(library, entry.c_str()));
  if (!tell) refuse(path);
  if (std::string(tell()->version) != TX_VERSION) {
    throw Error(path + " is of tx " + tell()->version +
                ", not " TX_VERSION ": install tx whole, both come together");
  }
  return *tell();
}

}  // namespace tx
