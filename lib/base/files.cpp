#include <dlfcn.h>
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
#include <filesystem>
#include <mutex>

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

// A map ends at a page boundary: what follows the file in it is reported to AddressSanitizer.
size_t bytes_after(int64_t size) {
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

// Checked before it is opened: opening a pipe without a writer blocks.
void require_regular_file(const std::string& path) {
  struct stat info;
  if ((path == "-" ? ::fstat(0, &info) : ::stat(path.c_str(), &info)) != 0)
    throw IoError("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw IoError("read", path, EISDIR);
  if (!S_ISREG(info.st_mode))
    throw DataError(path + ": is a pipe or a device; this input must be a regular file");
}

// If a mapped file is truncated, reading beyond its end raises SIGBUS: a handler names the file and
// ends the process. It may run at any time, so the list only grows.
struct Range {
  std::atomic<const char*> begin = nullptr, end = nullptr;  // null: not in use
  std::atomic<const char*> path = nullptr;
  Range* next = nullptr;
};
std::atomic<Range*> ranges = nullptr;
std::mutex ranges_lock;  // for changes of the list
struct sigaction action_before;

void put(const char* text) {
  if (::write(2, text, std::strlen(text)) < 0) return;
}

void bus_error(int, siginfo_t* info, void*) {
  const char* const at = static_cast<const char*>(info->si_addr);
  const bool fault = info->si_code > 0;  // otherwise sent by a process
  for (const Range* r = ranges; fault && r; r = r->next) {
    if (at < r->begin || at >= r->end) continue;
    put(program_invocation_short_name);
    put(": cannot read ");
    put(r->path);
    put(": it was truncated while in use, or its disk failed\n");
    remove_temporaries();
    ::_exit(1);
  }
  ::sigaction(SIGBUS, &action_before, nullptr);  // not a mapped file: the fault recurs on return
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

std::mutex times_lock;  // for the times of all maps

std::array<int64_t, 2> times_of(const struct stat& info) {
  const auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; };
  return {ns(info.st_mtim), ns(info.st_ctim)};
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
      path + ": exceeds the limit of " + std::to_string(limit) + " bytes for this kind of file";
  if (S_ISREG(info.st_mode) && info.st_size > limit) throw DataError(too_large);
  std::string out;
  size_t filled = 0;
  for (;;) {
    // One byte more than the size, so that the same read reaches the end.
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
  times_ = times_of(info);
  try {
    add_range(data_, size_t(size_), path_.c_str());
  } catch (...) {
    ::munmap(data, size_t(size_));
    throw;
  }
  fd_ = ::fcntl(file.fd, F_DUPFD_CLOEXEC, 3);  // -1, at the limit of descriptors: not checked
  ASAN_POISON_MEMORY_REGION(data_ + size_, bytes_after(size_));
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(data_ + size_, bytes_after(size_));
  remove_range(data_);
  ::munmap(const_cast<char*>(data_), size_t(size_));
  if (fd_ >= 0) ::close(fd_);
}

void MappedFile::check_unchanged(const std::function<bool()>& same) const {
  struct stat info;
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) return;
  const std::lock_guard guard(times_lock);  // others wait until `same` has decided
  if (info.st_size == size_ && times_of(info) == times_) return;
  if (info.st_size != size_ || !same())
    throw DataError(path_ + " was overwritten while in use; to replace a file, write the new one " +
                    "under another name and rename it");
  times_ = times_of(info);
}

void MappedFile::forget(int64_t begin, int64_t bytes) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (end > first) ::madvise(const_cast<char*>(data_ + first), size_t(end - first), MADV_DONTNEED);
}

namespace {

struct statvfs file_system_of(const std::string& path) {
  struct statvfs info;
  if (::statvfs(path.c_str(), &info) != 0) {
    const size_t slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (::statvfs(directory.c_str(), &info) != 0)
      throw IoError("get the free space of", directory, errno);
  }
  return info;
}

}  // namespace

bool file_exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

int64_t free_bytes(const std::string& path) {
  const struct statvfs info = file_system_of(path);
  return int64_t(info.f_bavail) * int64_t(info.f_frsize);
}

bool has_free_inodes(const std::string& path) {
  const struct statvfs info = file_system_of(path);
  return info.f_files == 0 || info.f_favail > 0;  // 0 files: unlimited
}

std::string library_path(const std::string& file) {
  Dl_info info{};
  TX_ASSERT(::dladdr(reinterpret_cast<void*>(&library_path), &info) != 0 && info.dli_fname);
  return std::filesystem::path(info.dli_fname).replace_filename(file);
}

// The libraries are in PREFIX/lib, on Debian in PREFIX/lib/x86_64-linux-gnu; /lib may be a link.
std::string data_directory() {
  std::error_code error;
  const std::filesystem::path libraries = std::filesystem::canonical(library_path("."), error);
  const std::filesystem::path near = libraries.parent_path() / "share/tx";
  const std::filesystem::path above = libraries.parent_path().parent_path() / "share/tx";
  return is_directory(above) && !is_directory(near) ? above : near;
}

}  // namespace tx
