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

// Sets the first of the variables `names` during its lifetime, unless one is set or value is null.
class Setting {
 public:
  Setting(std::initializer_list<const char*> names, const char* value) : name_(*names.begin()) {
    for (const char* name : names) set_ = set_ && value && !std::getenv(name);
    if (set_) ::setenv(name_, value ? value : "", 0);
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

// OpenBLAS chooses its kernels by the processor's name: on one that is newer than itself it takes
// those of SSE3, a fifth as fast. These are the ones for the instructions that it has.
const char* blas_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

[[noreturn]] void refuse(const std::string& name, const std::string& path) {
  std::string why = ::dlerror();
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  if (::access(path.c_str(), F_OK) != 0) {
    why += name == "tx-cuda" ? "; this tx was installed without it, as wheels are"
                             : "; reinstall tx: this library belongs in the directory of libtx.so";
  } else if (why.find("failed to map") != why.npos || why.find("allocate") != why.npos) {
    why += "; not enough memory (see ulimit -v)";
  }
  throw Error("cannot load " + path + ": " + why);
}

}  // namespace

const KernelLibrary& open_kernels(const std::string& name) {
  const std::string path = library_path("lib" + name + ".so");
  // Two programs on two cores whose threads spin for libgomp's default of 300,000 rounds fall to a
  // tenth of their speed. With 600 rounds a single program keeps 98 % of its speed, two together 97
  // % of the throughput of one; with 1,000 they lose 8 % (tests/bench/RESULTS.md). OpenBLAS would
  // start threads when loaded, but the kernels distribute the work themselves.
  const Setting rounds({"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}, "600");
  const Setting blas_threads({"OPENBLAS_NUM_THREADS"}, "1");
  const Setting blas({"OPENBLAS_CORETYPE"}, blas_kernels());
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(name, path);
  std::string entry = name;
  entry[entry.find('-')] = '_';
  using Entry = const KernelLibrary* (*)();
  const Entry tell = reinterpret_cast<Entry>(::dlsym(library, entry.c_str()));
  if (!tell) refuse(name, path);
  if (std::string(tell()->version) != TX_VERSION)
    throw Error(path + " is from tx " + tell()->version + ", not " TX_VERSION "; reinstall tx");
  return *tell();
}

}  // namespace tx
