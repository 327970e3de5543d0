#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/io.h"

namespace tx {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

namespace {

constexpr size_t buffer_bytes = 1 << 16;

// With the free space of the disk. `fd`: the open file; standard output may not be a file.
[[noreturn]] void fail_to_write(const std::string& path, int number, int fd = -1,
                                const char* verb = "write") {
  std::string detail;
  struct stat info;
  const bool on_disk = fd < 0 || (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode));
  if (number == EFBIG) {
    detail = "the limit of ulimit -f is reached";
  } else if (on_disk &&
             (number == ENOSPC || number == EDQUOT || number == EIO || number == EROFS)) {
    try {
      const std::string place = fd < 0 ? path : "/proc/self/fd/" + std::to_string(fd);
      const int64_t free = free_bytes(place);
      detail = std::to_string(free >> 20) + " MiB free";
      if (number == ENOSPC && !has_free_inodes(place))
        detail = "no inodes are left on this file system; delete some files";
      else if (number == ENOSPC || number == EDQUOT)
        detail += "; free some space";
    } catch (const IoError&) {  // report the failed write without the free space
    }
  }
  throw IoError(verb, path, number, detail);
}

void write_all(int fd, const std::string& name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done >= 0) {
      bytes.remove_prefix(size_t(done));
    } else if (errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, -1);
    } else if (errno != EINTR) {
      fail_to_write(name, errno, fd);
    }
  }
}

// The target of a path's links, which need not exist yet.
std::string follow_links(const std::string& path) {
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    std::string out = real;
    std::free(real);
    return out;
  }
  std::string at = path;
  char target[PATH_MAX];
  for (int links = 0; links < 40; ++links) {
    const ssize_t length = ::readlink(at.c_str(), target, sizeof target);
    if (length < 0) break;
    const std::string next(target, size_t(length));
    at = next.starts_with('/') ? next : directory_of(at) + "/" + next;
  }
  return at;
}

int create_temporary(const std::string& directory, const std::string& target,
                     std::optional<TemporaryFile>& file) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const char* name = file.emplace(temporary_name(directory)).name().c_str();
    const int fd = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0) {
      (void)::flock(fd, LOCK_EX | LOCK_NB);  // see is_temporary_name()
      return fd;
    }
    if (errno != EEXIST) fail_to_write(target, errno);
  }
  throw IoError("write", target, EEXIST);
}

void sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // writable but not readable
  const int status = ::fsync(fd), number = errno;
  ::close(fd);
  // Some file systems (network, FUSE) do not support fsync of a directory.
  if (status != 0 && number != EINVAL && number != ENOTSUP)
    fail_to_write(directory, number, -1, "sync");
}

// For remove_temporaries(), a signal handler: static memory and atomics only.
struct Slot {
  std::atomic<bool> taken = false, filled = false;
  char name[PATH_MAX];
};
Slot slots[16];
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

Writer::Writer(const std::string& path) : name_(path) {
  if (path == "-") {
    fd_ = 1;
    name_ = "standard output";
  } else {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail_to_write(path, errno);
  }
}

Writer::Writer(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

Writer::~Writer() {
  try {
    if (fd_ >= 0) flush();  // keeps the results before an error
  } catch (const Error&) {
  }
  if (fd_ > 2) ::close(fd_);
}

void Writer::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() > buffer_bytes) {
    write_all(fd_, name_, bytes);
    total_ += int64_t(bytes.size());
  } else {
    buffer_ += bytes;
  }
}

void Writer::flush() {
  std::string bytes;
  bytes.swap(buffer_);  // a failed write is not retried
  write_all(fd_, name_, bytes);
  total_ += int64_t(bytes.size());
  bytes.clear();
  buffer_.swap(bytes);  // keeps its capacity
}

void Writer::sync() {
  flush();
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_to_write(name_, errno, fd_);
}

void Writer::close() {
  if (fd_ < 0) return;
  flush();
  const int fd = fd_;
  fd_ = -1;
  // Standard output is closed and checked once, by run_tool().
  if (fd > 2 && ::close(fd) != 0 && errno != EINTR) fail_to_write(name_, errno);
}

std::string temporary_name(const std::string& directory) {
  unsigned long long random = 0;
  while (::getrandom(&random, sizeof random, 0) != ssize_t(sizeof random)) continue;
  char digits[40];
  std::snprintf(digits, sizeof digits, "/.tx-%016llx.tmp", random);
  return directory + digits;
}

TemporaryFile::TemporaryFile(std::string name) : name_(std::move(name)), slot_(-1) {
  if (name_.size() >= sizeof slots[0].name) return;
  for (int i = 0; i < int(std::size(slots)) && slot_ < 0; ++i)
    if (!slots[i].taken.exchange(true)) slot_ = i;
  if (slot_ < 0) return;
  std::strcpy(slots[slot_].name, name_.c_str());
  slots[slot_].filled = true;
}

TemporaryFile::~TemporaryFile() {
  if (slot_ < 0) return;
  slots[slot_].filled = false;
  slots[slot_].taken = false;
}

void remove_temporaries() {
  for (Slot& slot : slots)
    if (slot.filled) ::unlink(slot.name);
  for (Slot& slot : slots)  // directories, now empty
    if (slot.filled) ::rmdir(slot.name);
}

// Links are followed as by open(2). In a world-writable directory the system refuses links of other
// users (fs.protected_symlinks), so stat() fails here.
void write_atomically(const std::string& path, const std::function<void(Writer&)>& content) {
  struct stat info;
  const bool exists = path != "-" && ::stat(path.c_str(), &info) == 0;
  if (path != "-" && !exists && errno != ENOENT) fail_to_write(path, errno);
  // A rename would replace a device (even /dev/null, as root) or a FIFO.
  if (path == "-" || (exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
    Writer writer(path);
    content(writer);
    writer.close();
    return;
  }
  if (exists && S_ISDIR(info.st_mode)) throw IoError("write", path, EISDIR);
  // A rename would replace a file that this process may not write.
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    fail_to_write(path, errno);
  const std::string target = follow_links(path), directory = directory_of(target);
  std::optional<TemporaryFile> temporary;
  const int fd = create_temporary(directory, path, temporary);
  const char* name = temporary->name().c_str();
  try {
    Writer writer(fd, path);
    if (exists) {  // keeps its owner, if this process may give files away, and its permissions
      (void)!::fchown(fd, info.st_uid, info.st_gid);
      (void)!::fchmod(fd, info.st_mode & 07777);
    }
    content(writer);
    writer.flush();
    failpoint("sync");
    writer.sync();
    failpoint("rename");
    if (::rename(name, target.c_str()) != 0) fail_to_write(path, errno);
    writer.close();  // only now, because it ends the lock
  } catch (...) {
    ::unlink(name);
    throw;
  }
  failpoint("renamed");
  sync_directory(directory);
}

void write_atomically(const std::string& path, std::string_view bytes) {
  write_atomically(path, [&](Writer& writer) { writer.write(bytes); });
}

void print(std::string_view text) { write_atomically("-", text); }

}  // namespace tx
