// What calls of MPI need. MPI is initialised for calls that never overlap, from any thread: every
// call is made under one lock, and none of them waits.
#pragma once
#include <mpi.h>

#include <mutex>

namespace tx::mpi {

std::mutex& lock();
// Throws Error with MPI's words where `code`, what `call` returned, is not success.
void check(int code, const char* call);

}  // namespace tx::mpi
