#include "lib/attention/input.h"

namespace tx {

namespace {

constexpr size_t max_lines = 256;  // per batch of translations
constexpr int linger_ms = 1;       // wait for a further line

}  // namespace

ItemReader::ItemReader(const DumpOptions& options, const Translator& translator, const Log& log)
    : translator_(translator),
      log_(log),
      in_(options.files, options.target, options.strict),
      cuts_(log),
      unknown_(log, translator.models().source()) {}

bool ItemReader::read(std::vector<Item>& items) {
  items.clear();
  try {
    do {
      Item item;
      if (ended_ || !next(item)) break;
      items.push_back(std::move(item));
    } while (items.size() < max_lines && in_.ready(linger_ms));
  } catch (...) {  // return the lines before it first
    failure_ = std::current_exception();
    ended_ = true;
  }
  if (items.empty() && failure_) std::rethrow_exception(failure_);
  return !items.empty();
}

bool ItemReader::next(Item& item) {
  ended_ = !in_.next(text_, target_);
  if (ended_) return false;
  const TextReader& text = in_.text();
  item.line = item.source.line = text.line_number();
  const Vocabulary& vocabulary = translator_.models().source();
  if (translator_.continues()) {
    take_text(item);
    unknown_.add(text, unknown_text(text_, item.target, LineForm::text, vocabulary));
    return true;
  }
  const Line line = parse_line(text_, {}, translator_, item.source.ids);
  unknown_.add(text, line.unknown);
  if (line.cut) cuts_.add(text, line.tokens, translator_.max_source(), translator_.limit());
  item.text = text_;
  if (in_.other() && !line.blank) take_target(item);
  return true;
}

// For a language model the line itself is the target.
void ItemReader::take_text(Item& item) {
  item.text = item.translation = text_;
  const int64_t tokens = parse_target(text_, {}, translator_, item.target);
  const int64_t max = translator_.max_source();
  if (tokens > max) item.target.resize(size_t(max));
  if (tokens > max) cuts_.add(in_.text(), tokens, max, translator_.limit());
  if (tokens == 0) item.target.clear();
}

void ItemReader::take_target(Item& item) {
  const int64_t tokens = parse_target(target_, {}, translator_, item.target);
  item.translation = target_;
  const int64_t labels = int64_t(item.target.size());
  if (tokens > labels) cuts_.add(*in_.other(), tokens, labels, "--max-length and --max-extra");
}

void ItemReader::warn_at_end() const {
  cuts_.at_end();
  unknown_.at_end();
  for (const std::string& warning : in_.warnings()) log_.warn(warning);
}

}  // namespace tx
