#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/utf8.h"
#include "lib/cli/options.h"

namespace tx {

namespace {

// If a standard descriptor is closed, the next file would get its number, and a message could be
// written into a model. /dev/null takes it, opened so that use fails.
void fill_standard_descriptors() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    const int taken = ::open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY);
    if (taken != fd && taken >= 0) ::close(taken);
  }
}

// A filter must end silently when its reader ends, even if the parent ignores or blocks SIGPIPE.
void default_sigpipe() {
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void clean_and_end(int signal) {
  remove_temporaries();
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // delivered when this handler returns
}

// Removes temporary files when a signal ends the tool; ignored signals stay ignored. Exceeding
// ulimit -f is a failed write, as on a full disk, instead of a signal. Of a fault in the program
// (SIGSEGV, SIGABRT, ...) the core file shows the place only without a handler.
void watch_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<int> ending{SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,   SIGQUIT, SIGUSR1, SIGUSR2,
                          SIGALRM, SIGXCPU, SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGSTKFLT};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ending.push_back(signal);
  for (const int signal : ending) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = clean_and_end;
    ::sigaction(signal, &action, nullptr);
  }
}

// The stacks of threads have the size of ulimit -s, which may be too small.
void give_threads_stack() {
  constexpr size_t enough = size_t(1) << 20;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= enough) return;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, enough);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

// glibc reserves 64 MiB of addresses per thread: under a small ulimit -v all share one arena.
void share_addresses() {
  constexpr rlim_t small = rlim_t(1) << 30;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < small) ::mallopt(M_ARENA_MAX, 1);
}

void end_by_closed_pipe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const IoError& e) {
    if (e.error_number != EPIPE) return;
    default_sigpipe();
    std::raise(SIGPIPE);
  } catch (...) {
  }
}

// Runs body; an exception becomes a message and an exit status.
int guarded(const Log& log, const std::function<int()>& body) {
  try {
    return body();
  } catch (...) {
    end_by_closed_pipe(std::current_exception());
    const Failure failure = describe_failure(std::current_exception(), log.tool());
    log.error(failure.message);
    return failure.status;
  }
}

// On a full disk or a network file system the error may appear only at the last write or the close.
void close_stdout() {
  const bool failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) != 0 || failed)
    throw IoError("write", "standard output", errno != 0 ? errno : EIO);
  if (::close(1) != 0 && errno != EINTR && errno != EBADF)
    throw IoError("write", "standard output", errno);
}

}  // namespace

Failure describe_failure(const std::exception_ptr& thrown, const std::string& tool) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& e) {
    return {std::string(e.what()) + "\ntry " + tool + " --help", 2};
  } catch (const std::bad_alloc&) {
    return {"out of memory", 1};
  } catch (const Json::exception& e) {  // a value that was not read by json_value()
    return {
        std::string("internal error: a value was not checked: ") + e.what() + "; please report it",
        1};
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) return {e.what(), 1};
    return {std::string("cannot start a thread: ") + e.what() +
                "; the limit of processes (ulimit -u) or memory (ulimit -v) is reached",
            1};
  } catch (const Error& e) {
    return {e.what(), 1};
  } catch (const std::exception& e) {
    return {printable(e.what()), 1};
  } catch (...) {
    return {"internal error: an exception of unknown type; please report it", 1};
  }
}

int run_tool(const char* tool, const std::function<int()>& body) {
  fill_standard_descriptors();
  default_sigpipe();
  watch_signals();
  give_threads_stack();
  share_addresses();
  const Log log(tool);
  const int status = guarded(log, body);
  const int closing = guarded(log, [] { return close_stdout(), 0; });
  return status != 0 ? status : closing;
}

}  // namespace tx
