#include "lib/attention/stream.h"

#include <algorithm>

#include "lib/attention/alignment.h"
#include "lib/attention/importance.h"
#include "lib/attention/input.h"
#include "lib/attention/page.h"
#include "lib/attention/records.h"

namespace tx {

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

void write_importance(const DumpOptions& options, const Translator& translator,
                      const Selection& selection, ItemReader& reader, Writer& out, const Log& log) {
  std::vector<Item> all, items;
  while (reader.read(items)) {
    if (options.target.empty()) translate_items(translator, items);
    all.insert(all.end(), items.begin(), items.end());
  }
  const Importance found = measure_importance(options, selection, all, log);
  out.write(options.format == "json"
                ? to_text(rounded(importance_as_json(found), options.digits)) + "\n"
                : importance_as_tsv(found, options.digits));
  out.close();
}

Selection selected(const DumpOptions& options, const Translator& translator, const Log& log) {
  const ModelConfig& config = translator.models().transformers().front()->config();
  if (!options.html.empty()) return options.selection.resolve_page(config);
  if (options.heatmap) return options.selection.resolve_drawn(config);
  if (!options.svg.empty()) return options.selection.resolve_drawn(config, true);
  if (!options.align) return options.selection.resolve(config);
  if (options.align_dev.empty()) return options.selection.resolve_aligned(config);
  return chosen_head(options.selection.resolve_candidates(config), options.align_dev, translator,
                     log);
}

}  // namespace

void dump_attention(const DumpOptions& options, const Log& log) {
  TranslatorOptions settings = options.translator;
  settings.models = {options.model};
  settings.languages.needed = false;
  limit_threads(settings.threads, log);
  const Translator translator(settings);
  const ModelSet& models = translator.models();
  refuse_languages(models.vocabularies(), "tx-attn-dump", models.name());
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
  const auto output = make_attention_output(options, selection, out);
  Records records(selection, !options.target.empty(), translator, *output);
  std::vector<Item> items;
  while (reader.read(items)) {
    if (options.target.empty() && !translator.continues()) translate_items(translator, items);
    records.write(items);
  }
  output->finish();
  out.close();
  reader.warn_at_end();
}

}  // namespace tx
