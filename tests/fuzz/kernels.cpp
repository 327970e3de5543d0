// Fuzz targets are linked with the CPU kernels, instead of loading them as kernels/open.cpp does.
#include "kernels/kernels.h"

#include "lib/base/error.h"

namespace tx {

const KernelLibrary& open_kernels(const std::string& name) {
  TX_ASSERT(name == "tx-cpu");
  return *tx_cpu();
}

}  // namespace tx
