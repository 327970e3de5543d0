#include "lib/search/lines.h"

#include <limits>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/subword/filter.h"

namespace tx {

namespace {

constexpr int64_t most_warnings = 10;

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

std::vector<int> ids_of(std::string_view text, LineForm form, const Vocabulary& vocabulary) {
  std::vector<int> ids;
  if (is_blank(text)) return ids;
  if (form != LineForm::text) return split_pieces(vocabulary, text, form == LineForm::ids);
  vocabulary.encode(text, ids);
  return ids;
}

std::string output(const PieceHypothesis& h, LineForm form, const Vocabulary& vocabulary) {
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
  Line line;
  ids = ids_of(text, options.form, translator.models().source());
  line.pieces = int64_t(ids.size());
  line.blank = ids.empty();
  line.cut = line.pieces > translator.max_source();
  if (line.cut) ids.resize(size_t(translator.max_source()));
  return line;
}

int64_t parse_target(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& labels) {
  labels = ids_of(text, options.form, translator.models().target());
  const int64_t pieces = int64_t(labels.size()), most = translator.models().longest() - 1;
  if (pieces <= most)
    labels.push_back(Vocabulary::eos);
  else
    labels.resize(size_t(most));
  return pieces;
}

int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& ids) {
  if (options.form == LineForm::text) text = text.substr(0, text.find_last_not_of(" \r") + 1);
  ids = ids_of(text, options.form, translator.models().target());
  const int64_t pieces = int64_t(ids.size());
  ids.resize(size_t(std::min(pieces, translator.max_source())));
  return pieces;
}

void CutWarnings::add(const TextReader& reader, int64_t pieces, int64_t left, const char* options) {
  if (++lines_ > most_warnings) return;
  log_.warn(reader.place(reader.line_number()) + ": " + counted(pieces, "piece") +
            ", cut to the first " + std::to_string(left) + " (" + options + ")");
}

void CutWarnings::at_end() const {
  if (lines_ > most_warnings) log_.warn(std::to_string(lines_) + " lines in all were cut");
}

Translation answer_blank(const Source& source) {
  PieceHypothesis h;
  if (source.target.size() <= 1) return {h};
  h.ids = source.target;
  h.complete = h.ids.back() == Vocabulary::eos;
  if (h.complete) h.ids.pop_back();
  h.log_p = h.score = -std::numeric_limits<double>::infinity();
  return {h};
}

std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns) {
  std::string out;
  for (size_t rank = 0; rank < translation.size(); ++rank) {
    const PieceHypothesis& h = translation[rank];
    if (options.list) out += std::to_string(line.number) + "\t" + std::to_string(rank + 1) + "\t";
    if (options.list || options.scores) {
      out += six_decimals(h.score) + "\t" + six_decimals(h.log_p) + "\t";
    }
    out += output(h, options.form, vocabulary);
    if (!columns.empty()) out += "\t" + columns[rank];
    out += "\n";
    if (!options.list) break;
  }
  return out;
}

std::string status_header() {
  return "line\tstate\tsource_pieces\toutput_pieces\treplaced\tscore\tlog_p\tmilliseconds\n";
}

std::string format_status(const Line& line, const Translation& translation, double milliseconds) {
  const PieceHypothesis& best = translation.front();
  char time[64];
  std::snprintf(time, sizeof time, "%.1f", milliseconds);
  return std::to_string(line.number) + "\t" + states(line, !best.complete) + "\t" +
         std::to_string(line.pieces) + "\t" + std::to_string(best.ids.size()) + "\t" +
         std::to_string(line.replaced) + "\t" + six_decimals(best.score) + "\t" +
         six_decimals(best.log_p) + "\t" + time + "\n";
}

}  // namespace tx
