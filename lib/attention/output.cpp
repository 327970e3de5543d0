#include "lib/attention/output.h"

#include "lib/attention/alignment.h"
#include "lib/attention/heatmap.h"
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

// Writes one table at the end. Sums are added in the order of lines, whatever the threads.
template <class Sums>
class StatisticsOutput : public AttentionOutput {
 public:
  using Table = FigureTable (*)(const Sums&);
  // `empty`: the sums of no line.
  StatisticsOutput(const DumpOptions& options, const Sums& empty, Table table, Writer& out)
      : options_(options), empty_(empty), sums_(empty), table_(table), out_(out) {}
  Write prepare(const AttentionRecord& record) override {
    Sums own = empty_;
    own.add(record);
    return [this, own = std::move(own)] { sums_.add(own); };
  }
  void finish() override {
    out_.write(table_(sums_).text(options_.format == "json", options_.digits));
  }

 private:
  const DumpOptions& options_;
  const Sums empty_;
  Sums sums_;
  Table table_;
  Writer& out_;
};

std::unique_ptr<AttentionOutput> make_statistics_output(const DumpOptions& options,
                                                        const Selection& selection,
                                                        const TokenFrequencies& frequencies,
                                                        Writer& out) {
  if (options.stats == "scores")
    return std::make_unique<StatisticsOutput<ScoreStatistics>>(options, ScoreStatistics(selection),
                                                               scores_table, out);
  const bool pairs = options.stats == "pairs";
  return std::make_unique<StatisticsOutput<AttentionStatistics>>(
      options, AttentionStatistics(selection, pairs, &frequencies),
      pairs ? pairs_table : heads_table, out);
}

}  // namespace

std::unique_ptr<AttentionOutput> make_attention_output(const DumpOptions& options,
                                                       const Selection& selection,
                                                       const TokenFrequencies& frequencies,
                                                       Writer& out) {
  if (!options.stats.empty()) return make_statistics_output(options, selection, frequencies, out);
  if (options.align) return std::make_unique<AlignmentOutput>(selection, out);
  if (!options.svg.empty()) return std::make_unique<SvgOutput>(options, selection);
  if (options.format == "safetensors") return make_array_file(options, selection);
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
