#include <pthread.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/resources.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/subword.h"
#include "lib/subword/token_table.h"

namespace tx {

namespace {

constexpr std::string_view reserved_signs[] = {"\xE2\x96\x81", "\xE2\x96\x85"};

// SentencePiece reserves U+2581 (space) and U+2585 (unknown): words are split there.
constexpr std::string_view reserved_start = "\xE2\x96";
bool is_reserved(std::string_view text) {
  return text.starts_with("\xE2\x96\x81") || text.starts_with("\xE2\x96\x85");
}

// SentencePiece skips longer lines, which text without spaces has.
constexpr size_t max_word_bytes = 4000;

// The end of the longest prefix of a word of valid UTF-8 within that limit.
size_t part_end(std::string_view word) {
  if (word.size() <= max_word_bytes) return word.size();
  size_t end = max_word_bytes;
  while (is_continuation(word[end])) --end;
  return end;
}

// The counts as sorted lines "word TAB count", independent of the order of the hash table.
class Counts final : public sentencepiece::SentenceIterator {
 public:
  explicit Counts(const WordCounts& counts) {
    for (const auto& [word, count] : counts) add(word, count);
    std::sort(lines_.begin(), lines_.end());
  }
  bool empty() const { return lines_.empty(); }
  void rewind() { at_ = 0; }
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void add(std::string_view word, int64_t count) {
    size_t begin = 0;
    for (size_t at = word.find(reserved_start); at != word.npos;
         at = word.find(reserved_start, at + reserved_start.size())) {
      if (!is_reserved(word.substr(at))) continue;
      add_parts(word.substr(begin, at - begin), count);
      begin = at + reserved_start.size() + 1;
    }
    add_parts(word.substr(begin), count);
  }

  void add_parts(std::string_view word, int64_t count) {
    while (!word.empty()) {
      const size_t end = part_end(word);
      lines_.push_back(std::string(word.substr(0, end)) + '\t' + std::to_string(count));
      word.remove_prefix(end);
    }
  }

  std::vector<std::string> lines_;
  size_t at_ = 0;
};

// NEEDED of SentencePiece's message "ASKED vs NEEDED", 0 for any other message.
int min_size(std::string_view message) {
  const size_t at = message.find(" vs ");
  int needed = 0;
  if (message.find("smaller than required_chars") != message.npos && at != message.npos)
    std::from_chars(message.data() + at + 4, message.data() + message.size(), needed);
  return needed;
}

// Comma-separated quoted values.
std::string quoted(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) {
    out += out.empty() ? "\"" : ",\"";
    for (const char c : value) out += c == '"' ? std::string(2, c) : std::string(1, c);
    out += '"';
  }
  return out;
}

// Memory for the threads in which SentencePiece normalises words, by default 16: their stacks, and
// an estimate of their copies of the words. A failed allocation there would end the process.
size_t thread_bytes(const WordCounts& counts) {
  constexpr size_t threads = 16, fixed_bytes = size_t(16) << 20;
  size_t stack = 0, words = 0;
  pthread_attr_t attributes;
  ::pthread_getattr_default_np(&attributes);
  ::pthread_attr_getstacksize(&attributes, &stack);
  ::pthread_attr_destroy(&attributes);
  for (const auto& [word, count] : counts) words += word.size();
  return threads * stack + fixed_bytes + 4 * words;
}

}  // namespace

std::string fault_of_symbol(std::string_view symbol) {
  if (symbol.empty()) return "an empty line is not a symbol";
  if (count_invalid_utf8(symbol) > 0) return "not valid UTF-8";
  if (std::any_of(symbol.begin(), symbol.end(), separates_words))
    return "a symbol cannot contain white space or control characters";
  for (const std::string_view sign : reserved_signs)
    if (symbol.find(sign) != symbol.npos)
      return "a symbol cannot contain " + std::string(sign) + ", which SentencePiece uses";
  if (std::ranges::count(Vocabulary::special_names, symbol) > 0 || names_byte(symbol))
    return std::string(symbol) + " is a special token of every model";
  return "";
}

std::vector<std::string> read_user_symbols(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> symbols;
  std::unordered_set<std::string> seen;
  for (std::string line; reader.next(line);) {
    std::string fault = fault_of_symbol(line);
    if (fault.empty() && !seen.insert(line).second) fault = line + " occurs twice";
    if (!fault.empty())
      throw DataError(reader.name() + ":" + std::to_string(reader.line_number()) + ": " + fault);
    symbols.push_back(line);
  }
  const auto nested = nested_too_deep({symbols.begin(), symbols.end()});
  if (!nested.empty())
    throw DataError(reader.name() + ": " + std::string(nested) + " begins with " +
                    std::to_string(max_nested_pieces) +
                    " other symbols; SentencePiece supports fewer");
  return symbols;
}

std::string train_subword(const WordCounts& counts, const SubwordTraining& options) {
  Counts lines(counts);
  if (lines.empty()) throw DataError("the text has no words");
  std::string bytes;
  // num_threads is not set: the file would hold it, and only the normalisation has several threads.
  std::unordered_map<std::string, std::string> settings = {
      {"model_type", "bpe"},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", shortest(options.character_coverage)},
      {"byte_fallback", "true"},
      {"split_digits", options.split_digits ? "true" : "false"},
      {"normalization_rule_name", options.normalization},
      {"remove_extra_whitespaces", "false"},
      {"pad_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "2"},
      {"eos_id", "3"},
      {"input_format", "tsv"},
      {"minloglevel", "3"}};
  if (!options.user_symbols.empty())
    settings["user_defined_symbols"] = quoted(options.user_symbols);
  require_memory(thread_bytes(counts));
  auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &bytes);
  // A text with hardly any spaces. Not set before, because the model file holds the settings.
  if (status.ok() && parse_subword(bytes, "the new model")->id_of(reserved_signs[0]) < 0) {
    settings["required_chars"] = reserved_signs[0];
    lines.rewind();
    bytes.clear();
    status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &bytes);
  }
  if (status.ok()) return bytes;
  if (const int needed = min_size(status.message()))
    throw UsageError("--vocab-size " + std::to_string(options.vocab_size) +
                     " is too small: the special tokens, 256 byte tokens, " +
                     (options.user_symbols.empty() ? "" : "the user symbols ") +
                     "and the characters of this text need at least " + std::to_string(needed) +
                     " (or a lower --character-coverage)");
  throw DataError(std::string("cannot train a subword model: ") + status.message());
}

}  // namespace tx
