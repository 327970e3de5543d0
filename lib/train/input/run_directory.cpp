#include "lib/train/input/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/io.h"
#include "lib/base/outputs.h"
#include "lib/base/split.h"
#include "lib/data/cache_format.h"

namespace tx {
namespace fs = std::filesystem;
namespace {

// Whether the link or file was left by a killed writer: it has a temporary name, and no process
// holds it. Links are made only by the run that holds the lock.
bool is_abandoned(const std::string& path) {
  if (!is_temporary_name(fs::path(path).filename())) return false;
  std::error_code error;
  if (fs::is_symlink(path)) return fs::read_symlink(path, error).string().starts_with("model-");
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat info = {};
  const bool free = fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0) ::close(fd);
  return free;
}

bool is_link_name(const std::string& name) {
  return name == "best.safetensors" || name == "last.safetensors";
}

void refuse_special(const std::string& path) {
  std::error_code error;
  if (fs::is_other(fs::status(path, error)))
    throw DataError(path + ": is a pipe or a device; a run needs regular files");
}

// Whether the text looks like a config.json that write_config() wrote.
bool is_settings(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("command") && json.contains("options");
}

// Checks the members of config.json that a resumed run reads. Of `options`, only those that are
// read even if the command line gives another value; Options checks the rest.
void check_config(const Json& config, const std::string& name) {
  json_value<std::string>(config, "command", name);
  const Json options = json_value<Json::object_t>(config, "options", name);
  json_value<int64_t>(options, "save-every", name + ": options");
  for (const char* key : {"keep", "log-every"})
    json_value<int64_t>(options, key, name + ": options");
  for (const char* key : {"memory", "valid-command", "guided-alignment"})
    json_value<std::string>(options, key, name + ": options");
  json_value<std::string>(config, "data", name);
  for (const char* key : {"valid_data", "data_cache", "valid_data_cache", "products"})
    json_value<std::string>(config, key, name, "");
  json_value<int>(config, "batch_tokens_resolved", name);
  json_value(config, "frozen_tokens", name, std::vector<int64_t>());
  for (const Json& former : json_value(config, "saves_before", name, Json::array_t()))
    for (const char* key : {"until", "every"})
      json_value<int64_t>(former, key, name + ": saves_before");
  if (config.contains("valid_text"))
    json_value<int64_t>(config["valid_text"], "lines", name + ": valid_text");
}

// Changes when the file is written, copied or unpacked, by anybody: nobody can choose the time of a
// status change. "" for a file of another user.
std::string mark_of(const std::string& file) {
  struct stat info = {};
  if (::lstat(file.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return "";
  return std::to_string(info.st_ino) + " " + std::to_string(info.st_ctim.tv_sec) + "." +
         std::to_string(info.st_ctim.tv_nsec) + "\n";
}

bool same_file(int fd, const std::string& path) {
  struct stat mine, theirs;
  return ::fstat(fd, &mine) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

}  // namespace

RunDirectory RunDirectory::create(const std::string& path) {
  if (file_exists(path) && !is_directory(path))
    throw UsageError("--out " + path + " is not a directory");
  RunDirectory run(path);
  run.made_ = !file_exists(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("create", path, error.value());
  run.before_ = run.names();
  run.refuse_devices();
  run.lock();
  run.sweep();
  run.fresh_ = true;
  const std::string foreign = run.foreign_file();
  if (!foreign.empty())
    throw UsageError(run.file(foreign) +
                     " was not written by tx-train and would be overwritten: choose another "
                     "--out");
  if (!run.complete_steps().empty())
    throw UsageError(path + " already holds a run: resume it with --resume " + shell_word(path) +
                     ", or choose another --out");
  if (!run.never_saved()) throw UsageError(path + " " + run.remains() + "; choose another --out");
  return run;
}

// The name of a file that a run would overwrite although no run wrote it; "" if there is none.
// Without a config.json no run wrote the checkpoints either.
std::string RunDirectory::foreign_file() const {
  const auto begins = [&](const std::string& name, std::string_view magic) {
    std::string start(magic.size(), '\0');
    return bool(std::ifstream(file(name), std::ios::binary).read(start.data(), start.size())) &&
           start == magic;
  };
  for (const std::string& name : names())
    if (is_run_file(name) && !is_link_name(name) &&
        fs::symlink_status(file(name)).type() != fs::file_type::regular)
      return name;
  const bool config = file_exists(file("config.json"));
  if (config && !is_settings(read_file(file("config.json"), 1 << 24))) return "config.json";
  for (const char* name : {"train.ids", "valid.ids"})
    if (file_exists(file(name)) && !begins(name, cache_format::magic)) return name;
  for (const char* name : {"best.safetensors", "last.safetensors"})
    if (file_exists(file(name)) && !fs::is_symlink(file(name))) return name;
  if (config) return "";
  for (const char* name : {"log.jsonl", "valid.jsonl"})
    if (file_exists(file(name))) return name;
  for (const char* kind : {"model", "state"})
    for (const int64_t step : checkpoint_steps(path_, kind))
      return fs::path(checkpoint_file(path_, kind, step)).filename();
  return "";
}

// Whether the run was killed before its first save, of step 0, was complete: it cannot be resumed.
bool RunDirectory::never_saved() const {
  const std::vector<int64_t> models = checkpoint_steps(path_, "model");
  return checkpoint_steps(path_, "state").empty() && (models.empty() || models.back() == 0);
}

// Why a run that has saved cannot be resumed, and what to do.
std::string RunDirectory::remains() const {
  const std::vector<int64_t> models = checkpoint_steps(path_, "model");
  if (models.empty()) return "has training states but no models, and cannot be resumed";
  return "has models but no training state of any of them, and cannot be resumed; start a new run "
         "from the newest model with --init " +
         shell_word(model(models.back()));
}

RunDirectory RunDirectory::open(const std::string& path) {
  if (!is_directory(path))
    throw IoError("open the run", path, file_exists(path) ? ENOTDIR : ENOENT);
  RunDirectory run(path);
  if (!file_exists(run.file("config.json")))
    throw DataError(path + " is not a run directory: config.json is missing");
  run.refuse_devices();
  run.lock();
  run.sweep();
  if (run.complete_steps().empty() && run.never_saved())
    throw DataError(path +
                    " has no complete checkpoint to resume from: start it again with its original "
                    "command");
  if (run.complete_steps().empty()) throw DataError(path + " " + run.remains());
  return run;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      fresh_(std::exchange(other.fresh_, false)),
      made_(other.made_),
      before_(std::move(other.before_)) {}

RunDirectory::~RunDirectory() {
  if (fresh_) remove_fresh();
  if (lock_ >= 0) ::close(lock_);
}

void RunDirectory::remove_fresh() const {
  std::error_code error;
  try {
    check_held();
    for (const std::string& name : names())
      if (is_run_file(name) && !before_.count(name)) ::unlink(file(name).c_str());
    sweep();
  } catch (const Error&) {  // the directory is gone; the first error is reported
  }
  if (made_) fs::remove(path_, error);  // only when empty
}

void RunDirectory::sweep() const {
  for (const std::string& name : names())
    if (is_abandoned(file(name))) ::unlink(file(name).c_str());
}

void RunDirectory::refuse_devices() const {
  for (const std::string& name : names())
    if (is_run_file(name)) refuse_special(file(name));
}

bool RunDirectory::held() const { return same_file(lock_, file("lock")); }

void RunDirectory::check_held() const {
  if (held()) return;
  if (!file_exists(file("lock"))) throw IoError("find", file("lock"), ENOENT);
  throw DataError(path_ + " is no longer the directory that this run locked: it was replaced by " +
                  "another; nothing more is written to it");
}

void RunDirectory::claim(const std::string& path) const {
  check_held();
  std::error_code error;
  if (fs::is_symlink(path, error)) ::unlink(path.c_str());
  refuse_special(path);
}

// A run that fails to start removes its lock file: another, new one may have to be locked.
void RunDirectory::lock() {
  const std::string name = file("lock");
  do {
    if (lock_ >= 0) ::close(lock_);
    lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock_ < 0) throw IoError("lock", name, errno);
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) continue;
    if (errno == EWOULDBLOCK)
      throw DataError(path_ + " is in use by another tx-train: wait for it to end, or stop it");
    throw IoError("lock", name, errno);
  } while (!same_file(lock_, name));
}

std::set<std::string> RunDirectory::names() const {
  std::set<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error))
    found.insert(at->path().filename().string());
  if (error) throw IoError("read", path_, error.value());
  return found;
}

void RunDirectory::write_config(const Json& config) const {
  claim(file("config.json"));
  write_atomically(file("config.json"), to_text(config, 2) + "\n");
  const std::string mark = mark_of(file("config.json"));
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, mark.data(), mark.size(), 0) < 0) {
    // Without the mark, a resumed run asks for --valid-command.
  }
}

bool RunDirectory::wrote_config(const std::string& directory) {
  struct stat info = {};
  const std::string lock = directory + "/lock";
  return ::lstat(lock.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
         info.st_size > 0 && read_file(lock, 1 << 10) == mark_of(directory + "/config.json");
}

Json RunDirectory::read_config(const std::string& directory) {
  const std::string name = directory + "/config.json";
  if (!file_exists(name))
    throw DataError(directory + " is not a run directory: config.json is missing");
  Json config = parse_json(read_regular_file(name, 1 << 24), name);
  check_config(config, name);
  return config;
}

std::vector<int64_t> RunDirectory::complete_steps() const {
  std::vector<int64_t> both;
  const auto models = checkpoint_steps(path_, "model"), states = checkpoint_steps(path_, "state");
  std::set_intersection(models.begin(), models.end(), states.begin(), states.end(),
                        std::back_inserter(both));
  return both;
}

void RunDirectory::link(const std::string& name, int64_t step) const {
  check_held();
  const std::string target = "model-" + std::to_string(step) + ".safetensors";
  const std::string to = file(name + ".safetensors"), fresh = temporary_name(path_);
  if (::symlink(target.c_str(), fresh.c_str()) != 0) throw IoError("link", to, errno);
  failpoint("link");
  if (::rename(fresh.c_str(), to.c_str()) != 0) throw IoError("rename", to, errno);
}

void RunDirectory::unlink(const std::string& name) const {
  check_held();
  ::unlink(file(name + ".safetensors").c_str());
}

int64_t RunDirectory::newest_before(int64_t step) const {
  int64_t newest = -1;
  for (const int64_t at : complete_steps())
    if (at < step) newest = at;
  return newest;
}

void RunDirectory::prune(int keep, int64_t step, std::set<int64_t> others,
                         const std::function<bool(int64_t)>& on_schedule) const {
  check_held();
  const std::vector<int64_t> complete = complete_steps();
  std::set<int64_t> kept = std::move(others);
  kept.insert(step);
  for (auto at = complete.rbegin(); at != complete.rend() && keep > 0; ++at) {
    // Initial weights do not belong in an average.
    if (*at == 0 || *at > step || !on_schedule(*at)) continue;
    kept.insert(*at);
    --keep;
  }
  const auto remove = [&](int64_t at, const std::string& path) {
    if (kept.count(at) || at > step) return;
    ::unlink(path.c_str());
    failpoint("pruning");
  };
  for (int64_t at : checkpoint_steps(path_, "state")) remove(at, state(at));
  for (int64_t at : checkpoint_steps(path_, "model")) remove(at, model(at));
}

void RunDirectory::discard(int64_t step) const {
  check_held();
  ::unlink(state(step).c_str());
  ::unlink(model(step).c_str());
}

void RunDirectory::discard_after(int64_t step) const {
  check_held();
  for (const char* kind : {"state", "model"})
    for (const int64_t later : checkpoint_steps(path_, kind))
      if (later > step) ::unlink(checkpoint_file(path_, kind, later).c_str());
}

bool RunDirectory::append_log(const Json& line) const {
  const std::string name = file("log.jsonl"), text = to_text(line) + "\n";
  claim(name);
  const int fd = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return false;
  const off_t end = ::lseek(fd, 0, SEEK_END);
  const bool whole = ::write(fd, text.data(), text.size()) == ssize_t(text.size());
  if (!whole && ::ftruncate(fd, end) != 0) {
    // Half a line stays; the next resumed run removes it (cut_log()).
  }
  ::close(fd);
  return whole;
}

RunDirectory::LogEnd RunDirectory::cut_log(int64_t step) const {
  const std::string name = file("log.jsonl");
  LogEnd end;
  if (!file_exists(name)) return end;
  std::string kept;
  // Not by LineReader: whatever the file begins with, it is no text of another kind.
  constexpr int64_t max_bytes = int64_t(1) << 34;
  const std::string text = read_regular_file(name, max_bytes);
  for (size_t begin = 0, bytes = 0; begin < text.size(); begin += bytes + 1) {
    bytes = std::min(text.find('\n', begin), text.size()) - begin;
    const std::string line = text.substr(begin, bytes);
    const Json json = Json::parse(line, nullptr, false);  // a killed writer may leave half a line
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer() ||
        json["step"].get<int64_t>() > step)
      continue;
    kept += line + "\n";
    end.step = json["step"].get<int64_t>();
    const auto at = json.find("seconds");
    if (at != json.end() && at->is_number()) end.seconds = at->get<double>();
  }
  claim(name);
  write_atomically(name, kept);
  return end;
}

}  // namespace tx
