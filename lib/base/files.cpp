#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "lib/base/error.h"
#include "lib/base/io.h"

#if __has_include(<sanitizer/asan_interface.h>)  // does nothing without AddressSanitizer
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace tx {

namespace {

// A map ends with a whole page, so that reading beyond the file would not be noticed: this part
// is forbidden under AddressSanitizer.
size_t bytes_behind(int64_t size) {
  const auto page = size_t(::sysconf(_SC_PAGESIZE));
  return (page - size_t(size) % page) % page;
}

struct Descriptor {
  int fd;
  explicit Descriptor(const std::string& path)
      : fd(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd < 0) throw IoError("read", path, errno);
  }
  ~Descriptor() {
    if (fd > 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  struct stat status(const std::string& path) const {
    struct stat info;
    if (::fstat(fd, &info) != 0) throw IoError("read", path, errno);
    if (S_ISDIR(info.st_mode)) throw IoError("read", path, EISDIR);
    return info;
  }
};

// Before it is opened: to open a pipe without a writer never ends.
void require_regular_file(const std::string& path) {
  struct stat info;
  if ((path == "-" ? ::fstat(0, &info) : ::stat(path.c_str(), &info)) != 0)
    throw IoError("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw IoError("read", path, EISDIR);
  if (!S_ISREG(info.st_mode))
    throw DataError(path + ": is a pipe or a device; this input must be a file");
}

}  // namespace

std::string read_file(const std::string& path, int64_t limit) {
  const Descriptor file(path);
  const struct stat info = file.status(path);
  const std::string too_large =
      path + ": larger than the " + std::to_string(limit) + " bytes this kind of file may have";
  if (S_ISREG(info.st_mode) && info.st_size > limit) throw DataError(too_large);
  std::string out;
  size_t filled = 0;
  for (;;) {
    // One byte more than the size tells, so that the last read sees the end.
    const size_t expected = filled == 0 ? size_t(info.st_size) + 1 : 0;
    out.resize(std::max({filled + 65536, expected}));
    const ssize_t got = ::read(file.fd, out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError("read", path, errno);
    filled += size_t(got);
    if (int64_t(filled) > limit) throw DataError(too_large);
    if (got == 0) break;
  }
  out.resize(filled);
  return out;
}

std::string read_regular_file(const std::string& path, int64_t limit) {
  require_regular_file(path);
  return read_file(path, limit);
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  require_regular_file(path);
  const Descriptor file(path);
  const struct stat info = file.status(path);
  size_ = info.st_size;
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_t(size_), PROT_READ, MAP_SHARED, file.fd, 0);
  if (data == MAP_FAILED) throw IoError("map", path, errno);
  data_ = static_cast<const char*>(data);
  ASAN_POISON_MEMORY_REGION(data_ + size_, bytes_behind(size_));
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(data_ + size_, bytes_behind(size_));
  ::munmap(const_cast<char*>(data_), size_t(size_));
}

void MappedFile::forget(int64_t begin, int64_t bytes) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (end > first) ::madvise(const_cast<char*>(data_ + first), size_t(end - first), MADV_DONTNEED);
}

bool file_exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

int64_t free_bytes(const std::string& path) {
  struct statvfs info;
  if (::statvfs(path.c_str(), &info) != 0) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (::statvfs(folder.c_str(), &info) != 0) throw IoError("look at", folder, errno);
  }
  return int64_t(info.f_bavail) * int64_t(info.f_frsize);
}

}  // namespace tx
