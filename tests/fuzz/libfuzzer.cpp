// A fuzz target for libFuzzer. "write-seeds FOLDER" as its arguments writes the seeds there and
// ends.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "lib/base/io.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "write-seeds") != 0) return 0;
  int number = 0;
  for (const std::string& seed : tx_fuzz::seeds()) {
    tx::write_atomically(std::string((*argv)[2]) + "/seed-" + std::to_string(++number), seed);
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tx_fuzz::run_guarded({reinterpret_cast<const char*>(data), size});
  return 0;
}
