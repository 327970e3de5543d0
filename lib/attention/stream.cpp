#include "lib/attention/stream.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "lib/attention/heatmap.h"
#include "lib/attention/input.h"
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

// The share of one thread.
class ItemAnswerer {
 public:
  ItemAnswerer(const DumpOptions& options, const Selection& selection, const ModelSet& models,
               const std::string& device)
      : options_(options),
        selection_(selection),
        models_(models),
        backend_(make_backend(device, 1)),
        extraction_(backend_, *models.transformers().front(), models.dtype(), selection) {}

  std::string answer(const Item& item, int threads) {
    set_threads(backend_, threads);
    const AttentionRecord record = record_of(item);
    if (!options_.heatmap) return format_record(record, selection_, options_.digits);
    HeatmapStyle style = terminal_style();
    if (options_.width > 0) style.width = options_.width;
    return (item.line > 1 ? "\n" : "") + draw_heatmap(record, selection_, style);
  }

 private:
  AttentionRecord record_of(const Item& item) {
    AttentionRecord record;
    record.line = item.line;
    record.text = item.text;
    record.forced = !options_.target.empty();
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
          extraction_.run(record.source_ids, record.input_ids, record.target_ids);
    } catch (const DataError& error) {
      throw DataError("line " + std::to_string(item.line) + ": " + error.what());
    }
    return record;
  }

  const DumpOptions& options_;
  const Selection& selection_;
  const ModelSet& models_;
  Backend backend_;
  Extraction extraction_;
};

// Records can be large, so no more are held than are made at a time.
class Answers {
 public:
  Answers(const DumpOptions& options, const Selection& selection, const Translator& translator)
      : threads_(translator.options().threads) {
    answerers_.resize(size_t(threads_));
    make_ = [&options, &selection, &translator] {
      return std::make_unique<ItemAnswerer>(options, selection, translator.models(),
                                            translator.options().device);
    };
  }

  void write(const std::vector<Item>& items, Writer& out) {
    for (size_t first = 0; first < items.size(); first += size_t(threads_)) {
      const size_t count = std::min(items.size() - first, size_t(threads_));
      std::vector<std::string> texts(count);
      parallel_for(int(count), int64_t(count), [&](int64_t i) {
        auto& own = answerers_[size_t(i)];
        if (!own) own = make_();
        texts[size_t(i)] = own->answer(items[first + size_t(i)], threads_ / int(count));
      });
      for (const std::string& text : texts) out.write(text);
    }
    out.flush();
  }

 private:
  int threads_;
  std::vector<std::unique_ptr<ItemAnswerer>> answerers_;  // made when first needed
  std::function<std::unique_ptr<ItemAnswerer>()> make_;
};

}  // namespace

void dump_attention(const DumpOptions& options, Writer& out, const Log& log) {
  TranslatorOptions settings = options.translator;
  settings.models = {options.model};
  limit_threads(settings.threads, log);
  const Translator translator(settings);
  const ModelConfig& config = translator.models().transformers().front()->config();
  const Selection selection =
      options.heatmap ? options.selection.resolve_drawn(config) : options.selection.resolve(config);
  ItemReader reader(options, translator, log);
  Answers answers(options, selection, translator);
  std::vector<Item> items;
  while (reader.read(items)) {
    if (options.target.empty()) translate_items(translator, items);
    answers.write(items, out);
  }
  reader.warn_at_end();
}

}  // namespace tx
