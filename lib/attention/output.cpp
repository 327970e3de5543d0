#include "lib/attention/output.h"

#include "lib/attention/array_file.h"
#include "lib/attention/heatmap.h"

namespace tx {

namespace {

// One text for each record.
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

}  // namespace

std::unique_ptr<AttentionOutput> make_attention_output(const DumpOptions& options,
                                                       const Selection& selection, Writer& out) {
  if (options.format == "safetensors") return std::make_unique<ArrayFile>(options, selection);
  if (!options.heatmap)
    return std::make_unique<TextOutput>(out, [&](const AttentionRecord& record) {
      return format_record(record, selection, options.digits);
    });
  HeatmapStyle style = terminal_style();
  if (options.width > 0) style.width = options.width;
  return std::make_unique<TextOutput>(out, [&selection, style](const AttentionRecord& record) {
    return (record.line > 1 ? "\n" : "") + draw_heatmap(record, selection, style);
  });
}

}  // namespace tx
