#include "lib/attention/stream.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "lib/attention/input.h"
#include "lib/attention/output.h"
#include "lib/attention/page.h"
#include "lib/attention/words.h"
#include "lib/base/error.h"

namespace tx {

namespace {

void translate_items(const Translator& translator, std::vector<Item>& items) {
  std::vector<Source> sources;
  for (const Item& item : items) sources.push_back(item.source);
  const std::vector<Translation> found = translator.translate(sources);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].source.ids.empty()) continue;
    const PieceHypothesis& best = found[i].front();
    items[i].target = best.ids;
    if (best.complete) items[i].target.push_back(Vocabulary::eos);
    items[i].translation = translator.models().target().decode(best.ids);
  }
}

// The share of one thread: from a line to its record.
class Recorder {
 public:
  Recorder(const Selection& selection, bool forced, const Translator& translator)
      : selection_(selection),
        forced_(forced),
        models_(translator.models()),
        backend_(make_backend(translator.options().device, 1)),
        extraction_(backend_, *models_.transformers().front(), models_.dtype(), selection) {}

  AttentionRecord record(const Item& item, int threads) {
    set_threads(backend_, threads);
    AttentionRecord record;
    record.line = item.line;
    record.text = item.text;
    record.forced = forced_;
    if (item.source.ids.empty()) return record;
    TX_ASSERT(!item.target.empty());
    record.source_ids = item.source.ids;
    record.source_ids.push_back(Vocabulary::eos);
    record.input_ids = {Vocabulary::bos};
    record.input_ids.insert(record.input_ids.end(), item.target.begin(), item.target.end() - 1);
    record.target_ids = item.target;
    record.source = models_.source().pieces(record.source_ids);
    record.input = models_.target().pieces(record.input_ids);
    record.target = models_.target().pieces(record.target_ids);
    record.translation = item.translation;
    try {
      static_cast<Extracted&>(record) =
          extraction_.run({record.source_ids, record.input_ids}, record.target_ids);
    } catch (const DataError& error) {
      throw DataError("line " + std::to_string(item.line) + ": " + error.what());
    }
    if (!selection_.words) return record;
    return in_words(record, selection_, words_of(record, models_.source(), models_.target()));
  }

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
  Records(const Selection& selection, bool forced, const Translator& translator,
          AttentionOutput& output)
      : threads_(translator.options().threads), output_(output) {
    recorders_.resize(size_t(threads_));
    make_ = [&selection, forced, &translator] {
      return std::make_unique<Recorder>(selection, forced, translator);
    };
  }

  void write(const std::vector<Item>& items) {
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

 private:
  static constexpr size_t waiting_each = 2;  // lines a thread may be ahead of what is written

  bool take(size_t count, size_t& line) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] {
      return failure_ || taken_ == count || taken_ < written_ + waiting_each * size_t(threads_);
    });
    if (failure_ || taken_ == count) return false;
    line = taken_++;
    return true;
  }

  void hand_over(size_t line, AttentionOutput::Write write) {
    const std::lock_guard guard(lock_);
    ready_[line] = std::move(write);
    for (auto next = ready_.begin(); next != ready_.end() && next->first == written_;
         next = ready_.erase(next), ++written_)
      next->second();
    changed_.notify_all();
  }

  // Of several failures the first line's counts.
  void fail(size_t line, std::exception_ptr failure) {
    const std::lock_guard guard(lock_);
    if (!failure_ || line < failed_) {
      failure_ = failure;
      failed_ = line;
    }
    changed_.notify_all();
  }

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

constexpr size_t page_lines_together = 16;

// Reads the whole text first, so that one that is far too long is refused before any work.
void write_page(const DumpOptions& options, const Translator& translator,
                const Selection& selection, ItemReader& reader, const Log& log) {
  AttentionPage page(options, selection, translator.models());
  const std::vector<Item> all = read_page_text(reader, page);
  Records records(selection, !options.target.empty(), translator, page);
  for (size_t first = 0; first < all.size(); first += page_lines_together) {
    const size_t end = std::min(all.size(), first + page_lines_together);
    std::vector<Item> items(all.begin() + int64_t(first), all.begin() + int64_t(end));
    if (page.full()) {
      for (const Item& item : items) page.leave_out(item.line);
      continue;
    }
    if (options.target.empty()) translate_items(translator, items);
    records.write(items);
  }
  page.finish();
  if (page.full()) log.warn(page.notice());
}

}  // namespace

void dump_attention(const DumpOptions& options, const Log& log) {
  TranslatorOptions settings = options.translator;
  settings.models = {options.model};
  limit_threads(settings.threads, log);
  const Translator translator(settings);
  const ModelConfig& config = translator.models().transformers().front()->config();
  const Selection selection = !options.html.empty() ? options.selection.resolve_page(config)
                              : options.heatmap     ? options.selection.resolve_drawn(config)
                                                    : options.selection.resolve(config);
  ItemReader reader(options, translator, log);
  if (!options.html.empty()) {
    write_page(options, translator, selection, reader, log);
    return reader.warn_at_end();
  }
  Writer out(options.format == "safetensors" ? "-" : options.out);
  const auto output = make_attention_output(options, selection, out);
  Records records(selection, !options.target.empty(), translator, *output);
  std::vector<Item> items;
  while (reader.read(items)) {
    if (options.target.empty()) translate_items(translator, items);
    records.write(items);
  }
  output->finish();
  out.close();
  reader.warn_at_end();
}

}  // namespace tx
