#include "lib/attention/input.h"

#include "lib/base/error.h"
#include "lib/search/lines.h"

namespace tx {

namespace {

constexpr size_t most_lines = 256;  // translated together
constexpr int linger_ms = 1;        // for the next line of a writer that is about to send it
constexpr int64_t most_warnings = 10;

std::string file_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string names_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "" : " + ") + file_name(file);
  return out;
}

std::string count_of(int64_t lines) {
  return std::to_string(lines) + (lines == 1 ? " line" : " lines");
}

int64_t count_to_end(TextReader& reader) {
  std::string line;
  while (reader.next(line)) {
  }
  return reader.line_number();
}

// `longer` has just given its first line beyond the end of `shorter`.
[[noreturn]] void throw_counts_differ(const TextReader& shorter, const std::string& shorter_name,
                                      TextReader& longer, const std::string& longer_name) {
  const int64_t first = longer.line_number();
  throw DataError(shorter_name + " has " + count_of(shorter.line_number()) + ", " + longer_name +
                  " has " + count_of(count_to_end(longer)) + ": line " + std::to_string(first) +
                  " of " + longer_name + " has no counterpart; give files whose lines belong " +
                  "together");
}

}  // namespace

ItemReader::ItemReader(const DumpOptions& options, const Translator& translator, const Log& log)
    : options_(options),
      translator_(translator),
      log_(log),
      files_(options.files.empty() ? std::vector<std::string>{"-"} : options.files),
      in_(files_, options.strict) {
  if (options.target.empty()) return;
  target_ = std::make_unique<TextReader>(std::vector{options.target}, options.strict);
}

bool ItemReader::read(std::vector<Item>& items) {
  items.clear();
  try {
    do {
      Item item;
      if (ended_ || !next(item)) break;
      items.push_back(std::move(item));
    } while (items.size() < most_lines && in_.ready(linger_ms));
  } catch (...) {  // the lines before are answered first
    failure_ = std::current_exception();
    ended_ = true;
  }
  if (items.empty() && failure_) std::rethrow_exception(failure_);
  return !items.empty();
}

bool ItemReader::next(Item& item) {
  std::string target;
  const bool more = in_.next(text_), more_target = target_ && target_->next(target);
  if (target_ && more && !more_target) {
    throw_counts_differ(*target_, file_name(options_.target), in_, names_of(files_));
  }
  if (more_target && !more) {
    throw_counts_differ(in_, names_of(files_), *target_, file_name(options_.target));
  }
  ended_ = !more;
  if (!more) return false;
  item.line = item.source.line = in_.line_number();
  const Line line = parse_line(text_, {}, translator_, item.source.ids);
  if (line.cut) warn_cut(in_, line.pieces, translator_.max_source(), "--max-source");
  if (target_ && !line.blank) take_target(item, target);
  return true;
}

void ItemReader::take_target(Item& item, const std::string& text) {
  const size_t most = size_t(translator_.models().longest()) - 1;
  if (!is_blank(text)) translator_.models().target().encode(text, item.target);
  item.translation = text;
  if (item.target.size() <= most) {
    item.target.push_back(Vocabulary::eos);
  } else {
    warn_cut(*target_, int64_t(item.target.size()), int64_t(most), "--max-source and --max-extra");
    item.target.resize(most);
  }
}

void ItemReader::warn_cut(const TextReader& reader, int64_t pieces, int64_t most,
                          const char* options) {
  if (++cut_ > most_warnings) return;
  log_.warn(reader.place(reader.line_number()) + ": " + std::to_string(pieces) +
            " pieces, cut to the first " + std::to_string(most) + " (" + options + ")");
}

void ItemReader::warn_at_end() const {
  if (cut_ > most_warnings) log_.warn(std::to_string(cut_) + " lines in all were cut");
  for (const TextReader* reader : {&in_, static_cast<const TextReader*>(target_.get())}) {
    if (!reader) continue;
    for (const std::string& warning : reader->warnings()) log_.warn(warning);
  }
}

}  // namespace tx
