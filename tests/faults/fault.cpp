// Makes system calls fail as if the disk were broken; for LD_PRELOAD. TX_FAULT selects the fault:
//
//   TX_FAULT="write ENOSPC /run/ 100000"   writes to files with "/run/" in their path fail once
//                                          100000 bytes are written to such files
//   TX_FAULT="fsync EIO /run 2"            the third fsync of such a file or directory fails, and
//                                          all later ones
//   TX_FAULT="open EROFS /run/ 5"          the sixth open of such a file for writing fails, and all
//                                          later ones
//   TX_FAULT="fsync HOLD /run 2"           the third and later fsyncs of such a file wait while a
//                                          file "hold" exists in the working directory, as on a
//                                          slow disk
//   TX_FAULT="open OTHER train.ids 0"      opening such a file for reading opens the file with the
//                                          suffix ".other", as if this machine had its own copy
//   TX_FAULT="thread EAGAIN - 2"           at most two threads run besides the main thread
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Fault {
  char call[16] = "", error[16] = "", part[256] = "";
  long long left = 0;

  Fault() {
    const char* text = std::getenv("TX_FAULT");
    if (text && std::sscanf(text, "%15s %15s %255s %lld", call, error, part, &left) != 4)
      call[0] = 0;
  }
  bool meets(const char* name, int fd) const {
    if (std::strcmp(call, name) != 0) return false;
    char link[64], path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = ::readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    return std::strstr(path, part) != nullptr;
  }
  int number() const {
    return std::strcmp(error, "ENOSPC") == 0  ? ENOSPC
           : std::strcmp(error, "EROFS") == 0 ? EROFS
                                              : EIO;
  }
  bool exchanges(const char* path, int flags) const {
    return std::strcmp(call, "open") == 0 && std::strcmp(error, "OTHER") == 0 &&
           (flags & O_ACCMODE) == O_RDONLY && std::strstr(path, part) != nullptr;
  }
  bool refuses(const char* path, int flags) {
    if (std::strcmp(call, "open") != 0 || (flags & O_ACCMODE) == O_RDONLY) return false;
    return std::strstr(path, part) != nullptr && left-- <= 0;
  }
};

Fault& fault() {
  static Fault chosen;
  return chosen;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

std::atomic<long long> threads = 0;

struct Thread {
  void* (*run)(void*);
  void* argument;
};

struct Counted {
  ~Counted() { --threads; }  // also if the thread calls pthread_exit()
};

void* counted(void* data) {
  const Counted counted;
  const Thread thread = *static_cast<Thread*>(data);
  delete static_cast<Thread*>(data);
  return thread.run(thread.argument);
}

}  // namespace

extern "C" int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = next<Create>("pthread_create");
  const Fault& f = fault();
  if (std::strcmp(f.call, "thread") != 0) return real(id, attributes, run, argument);
  if (++threads > f.left) {
    --threads;
    return EAGAIN;
  }
  return real(id, attributes, counted, new Thread{run, argument});
}

extern "C" ssize_t write(int fd, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  Fault& f = fault();
  if (!f.meets("write", fd)) return real(fd, bytes, count);
  if (f.left <= 0) {
    errno = f.number();
    return -1;
  }
  // A full disk writes the bytes that still fit before it fails.
  const ssize_t done =
      real(fd, bytes, static_cast<long long>(count) < f.left ? count : size_t(f.left));
  if (done > 0) f.left -= done;
  return done;
}

extern "C" int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  Fault& f = fault();
  if (!f.meets("fsync", fd) || f.left-- > 0) return real(fd);
  if (std::strcmp(f.error, "HOLD") == 0) {
    while (::access("hold", F_OK) == 0) ::usleep(20000);
    return real(fd);
  }
  errno = f.number();
  return -1;
}

extern "C" int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, mode_t)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  Fault& f = fault();
  if (f.exchanges(path, flags)) return real((std::string(path) + ".other").c_str(), flags, mode);
  if (!f.refuses(path, flags)) return real(path, flags, mode);
  errno = f.number();
  return -1;
}
