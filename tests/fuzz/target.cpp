#include "tests/fuzz/target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx_fuzz {

void run_guarded(std::string_view bytes) {
  try {
    run(bytes);
  } catch (const tx::DataError&) {
  } catch (const tx::IoError&) {
  } catch (const tx::UsageError&) {
  }
}

MemoryFile::MemoryFile() : fd_(::memfd_create("tx-fuzz", MFD_CLOEXEC)) {
  if (fd_ < 0) std::abort();
  path_ = "/proc/self/fd/" + std::to_string(fd_);
}

MemoryFile::~MemoryFile() { ::close(fd_); }

const std::string& MemoryFile::fill(std::string_view bytes) {
  if (::ftruncate(fd_, 0) != 0) std::abort();
  if (::pwrite(fd_, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size())) std::abort();
  return path_;
}

std::string MemoryFile::content() const { return tx::read_file(path_); }

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace tx_fuzz
