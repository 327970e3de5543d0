#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/temporary.h"

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

// A read behind the end of a mapped file that became shorter is the signal SIGBUS: a handler says
// which file it was and ends the process. It may run at any moment, so that what is in the list
// stays there, and is used for another file when its own is closed.
struct Range {
  std::atomic<const char*> begin = nullptr, end = nullptr;  // null: not in use
  std::atomic<const char*> path = nullptr;
  Range* next = nullptr;
};
std::atomic<Range*> ranges = nullptr;
std::mutex ranges_lock;  // of those that change the list
struct sigaction action_before;

void put(const char* text) {
  if (::write(2, text, std::strlen(text)) < 0) return;  // a lost stderr is not an error
}

void bus_error(int, siginfo_t* info, void*) {
  const char* const at = static_cast<const char*>(info->si_addr);
  const bool fault = info->si_code > 0;  // else somebody sent it
  for (const Range* r = ranges; fault && r; r = r->next) {
    if (at < r->begin || at >= r->end) continue;
    put(program_invocation_short_name);
    put(": cannot read ");
    put(r->path);
    put(": it became shorter while it was in use, or its disk failed\n");
    remove_temporaries();
    ::_exit(1);
  }
  ::sigaction(SIGBUS, &action_before, nullptr);  // not ours: a fault comes again on return
  if (!fault) ::raise(SIGBUS);
}

void watch() {
  struct sigaction action = {};
  ::sigaction(SIGBUS, nullptr, &action);
  if ((action.sa_flags & SA_SIGINFO) && action.sa_sigaction == bus_error) return;
  action_before = action;
  action = {};
  action.sa_sigaction = bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

void add_range(const char* begin, size_t bytes, const char* path) {
  const std::lock_guard guard(ranges_lock);
  watch();
  Range* range = ranges;
  while (range && range->begin) range = range->next;
  if (!range) {
    range = new Range;
    range->next = ranges;
    ranges = range;
  }
  range->path = path;
  range->end = begin + bytes;
  range->begin = begin;
}

void remove_range(const char* begin) {
  const std::lock_guard guard(ranges_lock);
  for (Range* range = ranges; range; range = range->next)
    if (range->begin == begin) range->begin = range->end = nullptr;
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
  try {
    add_range(data_, size_t(size_), path_.c_str());
  } catch (...) {
    ::munmap(data, size_t(size_));
    throw;
  }
  ASAN_POISON_MEMORY_REGION(data_ + size_, bytes_behind(size_));
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(data_ + size_, bytes_behind(size_));
  remove_range(data_);
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
