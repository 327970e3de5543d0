#include "lib/attention/output.h"

#include "lib/attention/alignment.h"
#include "lib/attention/array_file.h"
#include "lib/attention/heatmap.h"
#include "lib/attention/statistics.h"
#include "lib/attention/svg.h"

namespace tx {

namespace {

// Writes one text per record.
class TextOutput : public AttentionOutput {
 public:
  using Format = std::function<std::string(const AttentionRecord&)>;
  TextOutput(Writer& out, Format format) : out_(out), format_(std::move(format)) {}
  Write prepare(const AttentionRecord& record) override {
    return [this, text = format_(record)] { out_.write(text); };
  }
  void flush() override { out_.flush(); }

 private:
  Writer& out_;
  Format format_;
};

// Writes one table at the end. Each line's sums are computed on any thread and added in the order
// of the lines, so the result does not depend on the number of threads.
class StatisticsOutput : public AttentionOutput {
 public:
  StatisticsOutput(const DumpOptions& options, const Selection& selection, Writer& out)
      : options_(options), selection_(selection), out_(out), sums_(selection, pairs()) {}
  Write prepare(const AttentionRecord& record) override {
    AttentionStatistics own(selection_, pairs());
    own.add(record);
    return [this, own = std::move(own)] { sums_.add(own); };
  }
  void finish() override {
    if (options_.format == "json")
      return out_.write(
          to_text(rounded(pairs() ? pairs_as_json(sums_) : heads_as_json(sums_), options_.digits)) +
          "\n");
    out_.write(pairs() ? pairs_as_tsv(sums_, options_.digits)
                       : heads_as_tsv(sums_, options_.digits));
  }

 private:
  bool pairs() const { return options_.stats == "pairs"; }
  const DumpOptions& options_;
  const Selection& selection_;
  Writer& out_;
  AttentionStatistics sums_;
};

}  // namespace

std::unique_ptr<AttentionOutput> make_attention_output(const DumpOptions& options,
                                                       const Selection& selection, Writer& out) {
  if (!options.stats.empty()) return std::make_unique<StatisticsOutput>(options, selection, out);
  if (options.align) return std::make_unique<AlignmentOutput>(selection, out);
  if (!options.svg.empty()) return std::make_unique<SvgOutput>(options, selection);
  if (options.format == "safetensors") return std::make_unique<ArrayFile>(options, selection);
  if (!options.heatmap)
    return std::make_unique<TextOutput>(out, [&](const AttentionRecord& record) {
      return format_record(record, selection, options.digits);
    });
  HeatmapStyle style = terminal_style();
  if (options.width > 0) style.width = options.width;
  if (options.color != "auto") style.color = options.color == "always";
  return std::make_unique<TextOutput>(out, [&selection, style](const AttentionRecord& record) {
    return (record.line > 1 ? "\n" : "") + draw_heatmap(record, selection, style);
  });
}

}  // namespace tx
