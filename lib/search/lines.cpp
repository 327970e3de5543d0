#include "lib/search/lines.h"

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/text/filter.h"

namespace tx {

namespace {

bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::string six_decimals(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", x == 0 ? 0.0 : x);
  return text;
}

std::string output(const Hypothesis& h, LineForm form, const Vocabulary& vocabulary) {
  return form == LineForm::text ? vocabulary.decode(h.ids)
                                : join_pieces(vocabulary, h.ids, form == LineForm::ids);
}

std::string states(const Line& line, bool reached_maximum) {
  std::string out;
  const auto add = [&](bool holds, const char* name) {
    if (holds) out += (out.empty() ? "" : ",") + std::string(name);
  };
  add(line.blank, "empty");
  add(line.replaced > 0, "replaced");
  add(line.cut, "cut");
  add(reached_maximum, "maximum");
  return out.empty() ? "ok" : out;
}

}  // namespace

bool is_blank(std::string_view line) {
  for (size_t i = 0; i < line.size();) {
    if (!is_white_space(next_code_point(line, i))) return false;
  }
  return true;
}

Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids) {
  const Vocabulary& vocabulary = translator.models().source();
  Line line;
  ids.clear();
  if (!is_blank(text) && options.form == LineForm::text) vocabulary.encode(text, ids);
  if (!is_blank(text) && options.form != LineForm::text) {
    ids = split_pieces(vocabulary, text, options.form == LineForm::ids);
  }
  line.pieces = int64_t(ids.size());
  line.blank = ids.empty();
  line.cut = line.pieces > translator.max_source();
  if (line.cut) ids.resize(size_t(translator.max_source()));
  return line;
}

std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary) {
  std::string out;
  for (size_t rank = 0; rank < translation.size(); ++rank) {
    const Hypothesis& h = translation[rank];
    if (options.list) out += std::to_string(line.number) + "\t" + std::to_string(rank + 1) + "\t";
    if (options.list || options.scores) {
      out += six_decimals(h.score) + "\t" + six_decimals(h.log_p) + "\t";
    }
    out += output(h, options.form, vocabulary) + "\n";
    if (!options.list) break;
  }
  return out;
}

std::string status_header() {
  return "line\tstate\tsource_pieces\toutput_pieces\treplaced\tscore\tlog_p\tmilliseconds\n";
}

std::string format_status(const Line& line, const Translation& translation, double milliseconds) {
  const Hypothesis& best = translation.front();
  char time[64];
  std::snprintf(time, sizeof time, "%.1f", milliseconds);
  return std::to_string(line.number) + "\t" + states(line, !best.complete) + "\t" +
         std::to_string(line.pieces) + "\t" + std::to_string(best.ids.size()) + "\t" +
         std::to_string(line.replaced) + "\t" + six_decimals(best.score) + "\t" +
         six_decimals(best.log_p) + "\t" + time + "\n";
}

}  // namespace tx
