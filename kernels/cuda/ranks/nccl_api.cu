#include <dlfcn.h>

#include "kernels/cuda/ranks/nccl_api.h"
#include "kernels/cuda/runtime/library_places.h"
#include "lib/base/error.h"

namespace tx {

namespace {

template <class F>
void find(void* handle, F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(handle, name));
  if (!f) throw UsageError(std::string("NCCL has no ") + name + ": 2.7 or newer is needed");
}

NcclApi open() {
  std::string tried;
  void* handle = open_first({"TX_NCCL", {"libnccl.so.2"}, {"nccl"}}, tried);
  if (!handle)
    throw UsageError("ranks on GPUs need NCCL, which cannot be opened:" + tried +
                     "\ninstall libnccl2, or set TX_NCCL to the path of libnccl.so.2; or use "
                     "--device cpu, or start one rank");
  NcclApi api;
  find(handle, api.get_version, "ncclGetVersion");
  find(handle, api.words, "ncclGetErrorString");
  find(handle, api.make_id, "ncclGetUniqueId");
  find(handle, api.join, "ncclCommInitRank");
  find(handle, api.destroy, "ncclCommDestroy");
  find(handle, api.abort, "ncclCommAbort");
  find(handle, api.state, "ncclCommGetAsyncError");
  find(handle, api.group_start, "ncclGroupStart");
  find(handle, api.group_end, "ncclGroupEnd");
  find(handle, api.send, "ncclSend");
  find(handle, api.receive, "ncclRecv");
  find(handle, api.gather_all, "ncclAllGather");
  find(handle, api.broadcast, "ncclBroadcast");
  return api;
}

}  // namespace

const NcclApi& nccl() {
  static const NcclApi api = open();
  return api;
}

void NcclApi::check(int result, const char* doing) const {
  if (result != success)
    throw Error(std::string("NCCL failed while ") + doing + ": " + words(result));
}

// Up to 2.8 with a digit less for the major number.
std::string NcclApi::version() const {
  int number = 0;
  check(get_version(&number), "telling its version");
  const int major = number < 10000 ? 1000 : 10000;
  return std::to_string(number / major) + "." + std::to_string(number % major / 100) + "." +
         std::to_string(number % 100);
}

}  // namespace tx
