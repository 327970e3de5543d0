// The run directory, tx-run(5): names, lock, log, links, pruning.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/checkpoint/run_checkpoints.h"

namespace tx {

class RunDirectory {
 public:
  // Creates the directory, or uses one in which no run has saved yet; UsageError for one with a
  // run, remains of one, or another program's file that a run would overwrite. Until keep(), the
  // destructor removes what the run wrote: a failed start leaves nothing.
  static RunDirectory create(const std::string& path);
  // Opens an existing run; DataError if it is not a run or has no checkpoint to resume from.
  static RunDirectory open(const std::string& path);
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept;
  void keep() { fresh_ = false; }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string model(int64_t step) const { return checkpoint_file(path_, "model", step); }
  std::string state(int64_t step) const { return checkpoint_file(path_, "state", step); }

  // Before each write to `path`, a file of the run. DataError if another directory has the place of
  // the locked one, or `path` is a pipe or a device. Removes a symbolic link there.
  void claim(const std::string& path) const;
  bool held() const;  // whether the directory is still the one that is locked

  void write_config(const Json& config) const;
  Json read_config() const { return read_config(path_); }
  static Json read_config(const std::string& directory);  // also of a run that is in use
  // Whether config.json is as this user's tx-train wrote it here: only then its command may run.
  static bool wrote_config(const std::string& directory);

  // Steps that have both model and state, ascending; a run resumes from the last.
  std::vector<int64_t> complete_steps() const;
  int64_t newest_before(int64_t step) const;  // of them; -1: none
  // Atomically points `name` (best, last) at the model of `step`.
  void link(const std::string& name, int64_t step) const;
  // Removes the link or file NAME.safetensors, if it exists.
  void unlink(const std::string& name) const;
  // Removes the checkpoints up to `step`, except it, `others`, and the newest `keep` complete ones
  // on schedule. Those of a signal or the clock are off schedule: a run that was stopped ends with
  // the same files. Later ones, of a run that rewound to this one, stay and are not counted.
  void prune(int keep, int64_t step, std::set<int64_t> others,
             const std::function<bool(int64_t)>& on_schedule) const;
  void discard(int64_t step) const;        // a checkpoint that is not complete
  void discard_after(int64_t step) const;  // all checkpoints of later steps

  // False if the line could not be written; the log then ends with the previous line.
  bool append_log(const Json& line) const;
  // Removes the log lines of steps after `step`; returns the step and time of the last line left.
  struct LogEnd {
    int64_t step = 0;
    double seconds = 0;  // the last value in the log
  };
  LogEnd cut_log(int64_t step) const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  void lock();
  std::string foreign_file() const;
  bool never_saved() const;
  std::string remains() const;
  void remove_fresh() const;
  void sweep() const;  // temporary files of a killed writer
  void refuse_devices() const;
  void check_held() const;
  std::set<std::string> names() const;
  std::string path_;
  int lock_ = -1;
  bool fresh_ = false, made_ = false;  // made_: the run created the directory
  std::set<std::string> before_;       // its files when a new run began
};

}  // namespace tx
