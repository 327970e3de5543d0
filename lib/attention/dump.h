// tx-attn-dump: reads lines of text and writes the attention of each, in order.
#pragma once
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/options.h"
#include "lib/attention/output.h"
#include "lib/base/log.h"
#include "lib/base/pool.h"

namespace tx {

// Computes the record of a sentence; one per thread.
class Recorder {
 public:
  // `forced`: targets were given. Keeps references to selection and translator.
  Recorder(const Selection& selection, bool forced, const Translator& translator);
  // In words with selection.words. DataError names the line whose values are not finite.
  AttentionRecord record(const Item& item, int threads);

 private:
  const Selection& selection_;
  bool forced_;
  const ModelSet& models_;
  RecordModel model_;
  Backend backend_;
  Extraction extraction_;
};

// Computes records on several threads and writes them in order. Records can be large, so the number
// waiting to be written is bounded. After a failure only the lines before it are written.
class Records {
 public:
  // Keeps references to all arguments.
  Records(const Selection& selection, bool forced, const Translator& translator,
          AttentionOutput& output);
  void write(const std::vector<Item>& items);

 private:
  static constexpr size_t waiting_each = 2;  // lines per thread that may wait to be written
  bool take(size_t count, size_t& line);
  void hand_over(size_t line, AttentionOutput::Write write);
  void fail(size_t line, std::exception_ptr failure);

  int threads_;
  AttentionOutput& output_;
  Pool<Recorder> recorders_;
  std::mutex lock_;  // guards the members below and the output
  std::condition_variable changed_;
  size_t taken_ = 0, written_ = 0, failed_ = 0;
  std::map<size_t, AttentionOutput::Write> ready_;
  std::exception_ptr failure_;
};

// Flushes when the input pauses. Blank lines: empty records. DataError: a line without counterpart.
void dump_attention(const DumpOptions& options, const Log& log);

}  // namespace tx
