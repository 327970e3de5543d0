// The run directory, tx-run(5): names, lock, log, links, pruning.
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"

namespace tx {

class RunDirectory {
 public:
  // Creates the directory; one that holds a run is a UsageError (resume it or choose another).
  static RunDirectory create(const std::string& path);
  // Opens an existing run; DataError when it is none.
  static RunDirectory open(const std::string& path);
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string model(int64_t step) const;
  std::string state(int64_t step) const;

  void write_config(const Json& config) const;
  Json read_config() const;

  // Steps that have both model and state, ascending; the last is where a resumed run goes on.
  std::vector<int64_t> complete_steps() const;
  // Atomically points `name` (best, last) at the model of `step`.
  void link(const std::string& name, int64_t step) const;
  // Removes checkpoints beyond the newest `keep` complete ones, but never best, last or the newest
  // complete pair; and temporary files of a killed writer.
  void prune(int keep, int64_t best_step) const;

  void append_log(const Json& line) const;
  // Drops log lines of steps after `step`; returns the last value of `seconds` that stays.
  double cut_log(int64_t step) const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  void lock();
  std::string path_;
  int lock_ = -1;
};

}  // namespace tx
