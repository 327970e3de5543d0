// From lines to their records, by several threads.
#pragma once
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/output.h"

namespace tx {

// The share of one thread, and all that one sentence needs.
class Recorder {
 public:
  // `forced`: targets were given. Selection and translator must live longer.
  Recorder(const Selection& selection, bool forced, const Translator& translator);
  // In words where the selection says so. DataError that names the line where the model gives
  // numbers that are not finite.
  AttentionRecord record(const Item& item, int threads);

 private:
  const Selection& selection_;
  bool forced_;
  const ModelSet& models_;
  Backend backend_;
  Extraction extraction_;
};

// Records of lines, made by several threads and written in order. They can be large, so a thread
// takes a line only while few are waiting to be written. After a failure the lines before it are
// written, and no other.
class Records {
 public:
  // All must live longer.
  Records(const Selection& selection, bool forced, const Translator& translator,
          AttentionOutput& output);
  void write(const std::vector<Item>& items);

 private:
  static constexpr size_t waiting_each = 2;  // lines a thread may be ahead of what is written
  bool take(size_t count, size_t& line);
  void hand_over(size_t line, AttentionOutput::Write write);
  void fail(size_t line, std::exception_ptr failure);

  int threads_;
  AttentionOutput& output_;
  std::vector<std::unique_ptr<Recorder>> recorders_;  // made when first needed
  std::function<std::unique_ptr<Recorder>()> make_;
  std::mutex lock_;  // guards what follows, and the output
  std::condition_variable changed_;
  size_t taken_ = 0, written_ = 0, failed_ = 0;
  std::map<size_t, AttentionOutput::Write> ready_;
  std::exception_ptr failure_;
};

}  // namespace tx
