// The functions of NCCL, found by dlsym: nothing links with the library, and they are declared here
// after its manual, so that no header of it is needed. For kernels/cuda/ranks alone.
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "kernels/mover.h"

namespace tx {

struct NcclId {  // ncclUniqueId: by which the ranks of a communicator find each other
  char bytes[mover_id_bytes];
};
using NcclCommunicator = struct ncclComm*;

struct NcclApi {
  static constexpr int success = 0, in_progress = 7;  // of ncclResult_t
  static constexpr int byte = 0;                      // ncclInt8 of ncclDataType_t

  int (*get_version)(int* version);
  const char* (*words)(int result);
  int (*make_id)(NcclId* id);
  int (*join)(NcclCommunicator* made, int ranks, NcclId id, int rank);
  int (*destroy)(NcclCommunicator);
  int (*abort)(NcclCommunicator);
  int (*state)(NcclCommunicator, int* result);  // ncclCommGetAsyncError
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, size_t count, int type, int to_rank, NcclCommunicator,
              cudaStream_t);
  int (*receive)(void* to, size_t count, int type, int from_rank, NcclCommunicator, cudaStream_t);
  int (*gather_all)(const void* mine, void* all, size_t count, int type, NcclCommunicator,
                    cudaStream_t);
  int (*broadcast)(const void* from, void* to, size_t count, int type, int root, NcclCommunicator,
                   cudaStream_t);

  // Throws Error with NCCL's words for `result`, and what was being done.
  void check(int result, const char* doing) const;
  std::string version() const;  // such as 2.28.9
};

// Opened by the first call; UsageError where it is not found, with what was tried.
const NcclApi& nccl();

}  // namespace tx
