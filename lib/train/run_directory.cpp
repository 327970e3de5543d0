#include "lib/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/run_files.h"

namespace tx {

namespace fs = std::filesystem;

RunDirectory RunDirectory::create(const std::string& path) {
  if (file_exists(path + "/config.json"))
    throw UsageError(path + " already holds a run: go on with --resume " + path +
                     ", or choose another --out");
  if (file_exists(path) && !is_directory(path))
    throw UsageError("--out " + path + " is not a directory");
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("create", path, error.value());
  RunDirectory run(path);
  run.lock();
  return run;
}

RunDirectory RunDirectory::open(const std::string& path) {
  if (!is_directory(path)) throw IoError("open the run", path, file_exists(path) ? ENOTDIR : ENOENT);
  if (!file_exists(path + "/config.json"))
    throw DataError(path + " holds no run: config.json is missing");
  RunDirectory run(path);
  run.lock();
  return run;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

void RunDirectory::lock() {
  const std::string name = file("lock");
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (lock_ < 0) throw IoError("lock", name, errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    throw DataError(path_ + " is in use by another tx-train; wait for it to end, or stop it");
  throw IoError("lock", name, errno);
}

std::string RunDirectory::model(int64_t step) const { return checkpoint_file(path_, "model", step); }
std::string RunDirectory::state(int64_t step) const { return checkpoint_file(path_, "state", step); }

void RunDirectory::write_config(const Json& config) const {
  write_atomically(file("config.json"), to_text(config, 2) + "\n");
}

Json RunDirectory::read_config() const {
  return parse_json(read_file(file("config.json"), 1 << 24), file("config.json"));
}

std::vector<int64_t> RunDirectory::complete_steps() const {
  std::vector<int64_t> both;
  const auto models = checkpoint_steps(path_, "model"),
             states = checkpoint_steps(path_, "state");
  std::set_intersection(models.begin(), models.end(), states.begin(), states.end(),
                        std::back_inserter(both));
  return both;
}

void RunDirectory::link(const std::string& name, int64_t step) const {
  const std::string target = "model-" + std::to_string(step) + ".safetensors";
  const std::string to = file(name + ".safetensors"), fresh = to + ".new";
  ::unlink(fresh.c_str());
  if (::symlink(target.c_str(), fresh.c_str()) != 0) throw IoError("link", fresh, errno);
  if (::rename(fresh.c_str(), to.c_str()) != 0) throw IoError("rename", to, errno);
}

void RunDirectory::prune(int keep, int64_t best_step) const {
  const std::vector<int64_t> complete = complete_steps();
  std::set<int64_t> kept{best_step};
  for (size_t i = complete.size() - std::min(complete.size(), size_t(std::max(keep, 1)));
       i < complete.size(); ++i)
    kept.insert(complete[i]);
  const int64_t newest = complete.empty() ? INT64_MAX : complete.back();
  if (newest > 0) kept.erase(0);  // the start is nothing that an average should hold
  for (int64_t step : checkpoint_steps(path_, "state"))
    if (!kept.count(step) && step < newest) ::unlink(state(step).c_str());
  for (int64_t step : checkpoint_steps(path_, "model"))
    if (!kept.count(step) && step < newest) ::unlink(model(step).c_str());
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, 4, ".tx-") == 0 && entry.path().extension() == ".tmp")
      ::unlink(entry.path().c_str());
  }
}

void RunDirectory::append_log(const Json& line) const {
  const std::string name = file("log.jsonl"), text = to_text(line) + "\n";
  const int fd = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) throw IoError("open", name, errno);
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = written < 0 ? errno : ENOSPC;
  ::close(fd);
  if (written != ssize_t(text.size())) throw IoError("write", name, error);
}

double RunDirectory::cut_log(int64_t step) const {
  const std::string name = file("log.jsonl");
  double seconds = 0;
  if (!file_exists(name)) return seconds;
  std::string kept, line;
  LineReader reader(name);
  while (reader.next(line)) {
    const Json json = Json::parse(line, nullptr, false);  // a killed writer may leave half a line
    if (json.is_discarded() || !json.contains("step") || json["step"].get<int64_t>() > step) continue;
    kept += line + "\n";
    if (json.contains("seconds")) seconds = json["seconds"].get<double>();
  }
  write_atomically(name, kept);
  return seconds;
}

}  // namespace tx
