#include "lib/attention/records.h"

#include <algorithm>

#include "lib/attention/words.h"
#include "lib/base/error.h"

namespace tx {

Recorder::Recorder(const Selection& selection, bool forced, const Translator& translator)
    : selection_(selection),
      forced_(forced),
      models_(translator.models()),
      backend_(make_backend(translator.options().device, 1)),
      extraction_(backend_, *models_.transformers().front(), models_.dtype(), selection) {}

AttentionRecord Recorder::record(const Item& item, int threads) {
  set_threads(backend_, threads);
  AttentionRecord record;
  record.line = item.line;
  record.text = item.text;
  record.forced = forced_;
  const bool two = models_.kind() == ModelKind::encoder_decoder;
  if (two ? item.source.ids.empty() : item.target.empty()) return record;
  TX_ASSERT(!item.target.empty());
  if (two) {
    record.source_ids = item.source.ids;
    record.source_ids.push_back(Vocabulary::eos);
  }
  record.input_ids = {Vocabulary::bos};
  record.input_ids.insert(record.input_ids.end(), item.target.begin(), item.target.end() - 1);
  record.target_ids = item.target;
  record.source = models_.source().tokens(record.source_ids);
  record.input = models_.target().tokens(record.input_ids);
  record.target = models_.target().tokens(record.target_ids);
  record.translation = item.translation;
  try {
    std::vector<std::vector<int>> sides{record.input_ids};
    if (two) sides.insert(sides.begin(), record.source_ids);
    static_cast<Extracted&>(record) = extraction_.run(sides, record.target_ids);
  } catch (const DataError& error) {
    throw DataError("line " + std::to_string(item.line) + ": " + error.what());
  }
  if (!selection_.words) return record;
  return in_words(record, selection_, words_of(record, models_.source(), models_.target()));
}

Records::Records(const Selection& selection, bool forced, const Translator& translator,
                 AttentionOutput& output)
    : threads_(translator.options().threads), output_(output) {
  recorders_.resize(size_t(threads_));
  make_ = [&selection, forced, &translator] {
    return std::make_unique<Recorder>(selection, forced, translator);
  };
}

void Records::write(const std::vector<Item>& items) {
  taken_ = written_ = 0;
  const int workers = int(std::min(items.size(), size_t(threads_)));
  parallel_for(workers, workers, [&](int64_t worker) {
    auto& recorder = recorders_[size_t(worker)];
    if (!recorder) recorder = make_();
    size_t line = 0;
    while (take(items.size(), line)) {
      try {
        hand_over(line, output_.prepare(recorder->record(items[line], threads_ / workers)));
      } catch (...) {
        fail(line, std::current_exception());
      }
    }
  });
  output_.flush();
  if (failure_) std::rethrow_exception(failure_);
}

bool Records::take(size_t count, size_t& line) {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] {
    return failure_ || taken_ == count || taken_ < written_ + waiting_each * size_t(threads_);
  });
  if (failure_ || taken_ == count) return false;
  line = taken_++;
  return true;
}

void Records::hand_over(size_t line, AttentionOutput::Write write) {
  const std::lock_guard guard(lock_);
  ready_[line] = std::move(write);
  for (auto next = ready_.begin(); next != ready_.end() && next->first == written_;
       next = ready_.erase(next), ++written_)
    next->second();
  changed_.notify_all();
}

// Of several failures the first line's counts.
void Records::fail(size_t line, std::exception_ptr failure) {
  const std::lock_guard guard(lock_);
  if (!failure_ || line < failed_) {
    failure_ = failure;
    failed_ = line;
  }
  changed_.notify_all();
}

}  // namespace tx
