#include "lib/text/line_pairs.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<std::string> or_standard_input(std::vector<std::string> files) {
  if (files.empty()) files = {"-"};
  return files;
}

std::string names_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : or_standard_input(files))
    out += (out.empty() ? "" : " + ") + name_of(file);
  return out;
}

std::string text_of(const LineCount& count) {
  return count.name + (count.more ? " has more than " : " has ") + counted(count.lines, "line");
}

// `longer` has just given its first line beyond the end of `shorter`.
[[noreturn]] void throw_counts_differ(const TextReader& shorter, const std::string& shorter_name,
                                      TextReader& longer, const std::string& longer_name) {
  const int64_t first = longer.line_number();
  throw DataError(counts_differ({shorter_name, shorter.line_number()},
                                count_to_end(longer, longer_name), first));
}

}  // namespace

std::string counts_differ(const LineCount& shorter, const LineCount& longer, int64_t first,
                          const std::string& quoted) {
  return text_of(shorter) + ", " + text_of(longer) + ": line " + std::to_string(first) + " of " +
         longer.name + (quoted.empty() ? "" : " (" + quoted + ")") +
         " has no counterpart; give files whose lines belong together";
}

LinePairs::LinePairs(std::vector<std::string> files, const std::string& beside, bool strict)
    : text_name_(names_of(files)),
      other_name_(name_of(beside)),
      text_(or_standard_input(std::move(files)), strict) {
  if (beside.empty()) return;
  other_ = std::make_unique<TextReader>(std::vector{beside}, strict);
}

void LinePairs::check(const std::vector<std::string>& files, const std::string& beside) {
  if (beside == "-" && (files.empty() || std::count(files.begin(), files.end(), "-") > 0))
    throw UsageError("standard input can be only one of the files: name the text");
}

bool LinePairs::next(std::string& line, std::string& other) {
  const bool more = text_.next(line), more_other = other_ && other_->next(other);
  if (other_ && more && !more_other) throw_counts_differ(*other_, other_name_, text_, text_name_);
  if (more_other && !more) throw_counts_differ(text_, text_name_, *other_, other_name_);
  return more;
}

bool LinePairs::ready(int wait_ms) {
  return text_.ready(wait_ms) && (!other_ || other_->ready(wait_ms));
}

std::vector<std::string> LinePairs::warnings() const {
  std::vector<std::string> out = text_.warnings();
  if (!other_) return out;
  for (std::string& warning : other_->warnings()) out.push_back(std::move(warning));
  return out;
}

}  // namespace tx
