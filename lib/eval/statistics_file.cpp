#include "lib/eval/statistics_file.h"

#include <charconv>

#include "lib/base/error.h"

namespace tx {
namespace {

constexpr std::string_view magic = "#tx-stats 1 ";

// The shortest text that gives the same double back.
void append_number(std::string& text, double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

}  // namespace

std::string statistics_header(const Json& metrics) { return std::string(magic) + to_text(metrics); }

std::string statistics_line(size_t references, const Metrics& metrics,
                            std::span<const double> row) {
  std::string text = std::to_string(references);
  size_t k = 0;
  for (const auto& metric : metrics) {
    const size_t end = k + metric->size();
    text.push_back('\t');
    for (bool first = true; k < end; ++k, first = false) {
      if (!first) text.push_back(' ');
      append_number(text, row[k]);
    }
  }
  return text;
}

StatisticsReader::StatisticsReader(const std::string& path) : reader_(path) {
  if (!reader_.next(line_)) throw DataError(name() + ": no statistics: the file is empty");
  settings_ = parse_header(line_);
}

Json StatisticsReader::parse_header(const std::string& line) const {
  const std::string where = name() + " line " + std::to_string(reader_.line_number());
  if (!line.starts_with(magic)) {
    throw DataError(where + ": no statistics of this version; make them with tx-bleu --stats");
  }
  return parse_json(std::string_view(line).substr(magic.size()), where);
}

bool StatisticsReader::next(size_t columns, size_t& references, std::vector<double>& row) {
  for (;;) {
    if (!reader_.next(line_)) return false;
    if (!line_.starts_with('#')) break;
    const std::string place = name() + " line " + std::to_string(reader_.line_number());
    check_same_settings(settings_, name() + " line 1", parse_header(line_), place);
  }
  const auto damaged = [&](const std::string& what) {
    throw DataError(name() + " line " + std::to_string(reader_.line_number()) + ": " + what);
  };
  row.clear();
  for (const char *at = line_.data(), *end = at + line_.size(); at < end;) {
    double value = 0;
    const auto result = std::from_chars(at, end, value);
    if (result.ec != std::errc() || !(value >= 0 && value < 0x1p53)) {
      damaged("no number at byte " + std::to_string(at - line_.data() + 1));
    }
    row.push_back(value);
    at = result.ptr;
    if (at < end && *at != ' ' && *at != '\t') {
      damaged("no space behind the number at byte " + std::to_string(at - line_.data() + 1));
    }
    if (at < end) ++at;
  }
  if (row.size() != columns + 1) {
    damaged(std::to_string(row.size()) + " numbers instead of " + std::to_string(columns + 1));
  }
  references = size_t(row.front());
  row.erase(row.begin());
  return true;
}

void check_same_settings(const Json& a, const std::string& name_a, const Json& b,
                         const std::string& name_b) {
  if (a == b) return;
  const auto refuse = [&](const std::string& of_a, const std::string& of_b) {
    throw DataError("the statistics do not add up: " + name_a + " has " + of_a + ", " + name_b +
                    " has " + of_b + "; make both with the same options");
  };
  const auto count = [](const Json& json) { return std::to_string(json.size()) + " metrics"; };
  if (a.size() != b.size()) refuse(count(a), count(b));
  for (size_t m = 0; m < a.size(); ++m) {
    for (const char* key : {"metric", "settings"}) {
      const std::string of_a = a[m].value(key, ""), of_b = b[m].value(key, "");
      if (of_a != of_b) refuse(of_a, of_b);
    }
    for (const auto& [key, value] : a[m].items()) {
      if (key == "columns") continue;  // they follow from the rest
      const Json other = b[m].contains(key) ? b[m][key] : Json();
      if (value != other) refuse(key + " " + to_text(value), key + " " + to_text(other));
    }
  }
  refuse("other settings", "more of them");
}

}  // namespace tx
