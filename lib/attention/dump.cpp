#include "lib/attention/dump.h"

#include <algorithm>
#include <filesystem>

#include "lib/attention/alignment.h"
#include "lib/attention/importance.h"
#include "lib/attention/page.h"
#include "lib/base/error.h"

namespace tx {

namespace {

// The tokens of a sentence, without attention; no lists for a blank line.
AttentionRecord sentence_of(const Item& item, bool forced, const ModelSet& models) {
  AttentionRecord record;
  record.line = item.line;
  record.text = item.text;
  record.forced = forced;
  if (item.blank()) return record;
  record.source_ids = item.source.ids;
  if (models.kind() == ModelKind::encoder) {
    record.source_ids.insert(record.source_ids.begin(), Vocabulary::bos);
    for (const int id : encoder_closing(models.source())) record.source_ids.push_back(id);
    record.source = models.source().tokens(record.source_ids);
    name_masks(record.source);
    return record;
  }
  if (item.target.empty())
    throw DataError("line " + std::to_string(item.line) + ": the translation has no tokens, not " +
                    "even the end: " + models.name() + " forbids all of them");
  if (models.kind() == ModelKind::encoder_decoder &&
      models.transformers().front()->config().source_eos)
    for (const int id : closing_tokens(models.source())) record.source_ids.push_back(id);
  const int first = first_token(models.target());
  if (first >= 0) record.target_ids = {first};
  record.target_ids.insert(record.target_ids.end(), item.target.begin(), item.target.end());
  record.input_ids = {Vocabulary::bos};
  record.input_ids.insert(record.input_ids.end(), record.target_ids.begin(),
                          record.target_ids.end() - 1);
  record.source = models.source().tokens(record.source_ids);
  record.input = models.target().tokens(record.input_ids);
  record.target = models.target().tokens(record.target_ids);
  record.translation = item.translation;
  return record;
}

// A link such as RUN/best.safetensors is replaced by the file that it names.
RecordModel named(const ModelSet& models) {
  std::filesystem::path file = models.name();
  std::error_code error;
  const auto target = std::filesystem::read_symlink(file, error);
  if (!error) file = file.parent_path() / target;
  RecordModel out{file.string(), models.source().hash(), models.target().hash()};
  if (models.kind() == ModelKind::encoder) out.target_vocabulary.clear();
  if (models.kind() == ModelKind::decoder) out.source_vocabulary.clear();
  return out;
}

}  // namespace

Recorder::Recorder(const Selection& selection, bool forced, const Translator& translator)
    : selection_(selection),
      forced_(forced),
      models_(translator.models()),
      model_(named(models_)),
      backend_(make_backend(translator.options().device, 1)),
      extraction_(backend_, *models_.transformers().front(), models_.dtype(), selection) {}

AttentionRecord Recorder::record(const Item& item, int threads) {
  set_threads(backend_, threads);
  AttentionRecord record = sentence_of(item, forced_, models_);
  record.model = model_;
  if (record.blank()) return record;
  try {
    std::vector<std::vector<int>> sides;
    for (const auto* ids : {&record.source_ids, &record.input_ids})
      if (!ids->empty()) sides.push_back(*ids);
    static_cast<Extracted&>(record) = extraction_.run(sides, record.target_ids);
    models_.check_unchanged();
  } catch (const DataError& error) {
    throw DataError("line " + std::to_string(item.line) + ": " + error.what());
  }
  if (!selection_.words) return record;
  return in_words(record, selection_, words_of(record, models_.source(), models_.target()));
}

Records::Records(const Selection& selection, bool forced, const Translator& translator,
                 AttentionOutput& output)
    : threads_(translator.options().threads),
      output_(output),
      recorders_([&selection, forced, &translator] {
        return std::make_unique<Recorder>(selection, forced, translator);
      }) {}

void Records::write(const std::vector<Item>& items) {
  taken_ = written_ = 0;
  const int workers = int(std::min(items.size(), size_t(threads_)));
  parallel_for(workers, workers, [&](int64_t) {
    const auto recorder = recorders_.lend();
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

// If several lines fail, keeps the failure of the first of them.
void Records::fail(size_t line, std::exception_ptr failure) {
  const std::lock_guard guard(lock_);
  if (!failure_ || line < failed_) {
    failure_ = failure;
    failed_ = line;
  }
  changed_.notify_all();
}

namespace {

void translate_items(const Translator& translator, std::vector<Item>& items) {
  std::vector<Source> sources;
  for (const Item& item : items) sources.push_back(item.source);
  const std::vector<Translation> found = translator.translate(sources);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].source.ids.empty()) continue;
    const TokenHypothesis& best = found[i].front();
    items[i].target = best.ids;
    if (best.complete) items[i].target.push_back(Vocabulary::eos);
    items[i].translation = translator.models().target().decode(best.ids);
  }
}

// Translates the items unless they have targets or the model does not translate.
void complete(const DumpOptions& options, const Translator& translator, std::vector<Item>& items) {
  const bool translates = translator.models().kind() == ModelKind::encoder_decoder;
  if (options.target.empty() && translates) translate_items(translator, items);
}

constexpr size_t page_lines_together = 16;

// Reads the whole text first: one that is far too long is rejected before the model runs.
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
    complete(options, translator, items);
    records.write(items);
  }
  page.finish();
  if (page.full()) log.warn(page.notice());
}

// The next lines with their targets; false at the end.
bool read_items(const DumpOptions& options, const Translator& translator, ItemReader& reader,
                std::vector<Item>& items) {
  if (!reader.read(items)) return false;
  complete(options, translator, items);
  return true;
}

std::vector<Item> read_all(const DumpOptions& options, const Translator& translator,
                           ItemReader& reader) {
  std::vector<Item> all, items;
  while (read_items(options, translator, reader, items))
    all.insert(all.end(), items.begin(), items.end());
  return all;
}

TokenFrequencies frequencies_of(const std::vector<Item>& items, const Selection& selection,
                                const ModelSet& models) {
  TokenFrequencies out;
  for (const Item& item : items) {
    const AttentionRecord record = sentence_of(item, false, models);
    if (!selection.words || record.blank())
      out.add(record);
    else
      out.add(in_words(record, selection, words_of(record, models.source(), models.target())));
  }
  return out;
}

void write_importance(const DumpOptions& options, const Translator& translator,
                      const Selection& selection, ItemReader& reader, Writer& out, const Log& log) {
  const std::vector<Item> all = read_all(options, translator, reader);
  const Importance found = measure_importance(options, selection, all, log);
  out.write(importance_table(found).text(options.format == "json", options.digits));
  out.close();
}

Selection selected(const DumpOptions& options, const Translator& translator, const Log& log) {
  const ModelConfig& config = translator.models().transformers().front()->config();
  if (!options.html.empty()) return options.selection.resolve_page(config);
  if (options.heatmap) return options.selection.resolve_drawn(config);
  if (!options.svg.empty()) return options.selection.resolve_drawn(config, true);
  if (options.stats == "scores") {
    SelectionOptions selection = options.selection;
    selection.what = "scores,scaled,masked";
    return selection.resolve(config);
  }
  if (!options.align) return options.selection.resolve(config);
  if (options.align_dev.empty()) return options.selection.resolve_aligned(config);
  return chosen_head(options.selection.resolve_candidates(config), options.align_dev, translator,
                     log);
}

}  // namespace

void dump_attention(const DumpOptions& options, const Log& log) {
  TranslatorOptions settings = options.translator;
  settings.languages.needed = false;
  limit_threads(settings.threads, log);
  const Translator translator(settings);
  const ModelSet& models = translator.models();
  refuse_languages(models.vocabularies(), "tx-attn-dump", models.name());
  if (!models.transformers().front()->config().source_bos)
    throw DataError("tx-attn-dump: the texts of " + models.name() + " do not begin with <s>");
  const Selection selection = selected(options, translator, log);
  ItemReader reader(options, translator, log);
  if (!options.html.empty()) {
    write_page(options, translator, selection, reader, log);
    return reader.warn_at_end();
  }
  Writer out(options.format == "safetensors" ? "-" : options.out);
  if (options.stats == "importance") {
    write_importance(options, translator, selection, reader, out, log);
    return reader.warn_at_end();
  }
  TokenFrequencies frequencies;
  const auto output = make_attention_output(options, selection, frequencies, out);
  Records records(selection, !options.target.empty(), translator, *output);
  std::vector<Item> items;
  if (options.stats == "heads") {
    items = read_all(options, translator, reader);
    frequencies = frequencies_of(items, selection, models);
    records.write(items);
  } else {
    while (read_items(options, translator, reader, items)) records.write(items);
  }
  output->finish();
  out.close();
  reader.warn_at_end();
}

}  // namespace tx
