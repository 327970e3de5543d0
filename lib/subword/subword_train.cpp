#include <pthread.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/base/utf8.h"
#include "lib/subword/subword.h"

namespace tx {
namespace {

// SentencePiece reserves U+2581 (its space) and U+2585 (its unknown): words with them are cut
// there.
constexpr std::string_view reserved_start = "\xE2\x96";
bool is_reserved(std::string_view text) {
  return text.starts_with("\xE2\x96\x81") || text.starts_with("\xE2\x96\x85");
}

// SentencePiece skips longer lines, and a text without spaces has such words.
constexpr size_t longest_word = 4000;

// Where the word of valid UTF-8 must be cut to be no longer than that.
size_t part_end(std::string_view word) {
  if (word.size() <= longest_word) return word.size();
  size_t end = longest_word;
  while (is_continuation(word[end])) --end;
  return end;
}

// Hands the counts over as lines "word TAB count", sorted, so that no order of a hash table enters.
class Counts final : public sentencepiece::SentenceIterator {
 public:
  explicit Counts(const WordCounts& counts) {
    for (const auto& [word, count] : counts) add(word, count);
    std::sort(lines_.begin(), lines_.end());
  }
  bool empty() const { return lines_.empty(); }
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

// SentencePiece's message holds "ASKED vs NEEDED"; returns NEEDED, 0 when the message is another.
int min_size(std::string_view message) {
  const size_t at = message.find(" vs ");
  int needed = 0;
  if (message.find("smaller than required_chars") != message.npos && at != message.npos) {
    std::from_chars(message.data() + at + 4, message.data() + message.size(), needed);
  }
  return needed;
}

// Comma-separated values, each in quotes.
std::string quoted(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) {
    out += out.empty() ? "\"" : ",\"";
    for (const char c : value) out += c == '"' ? std::string(2, c) : std::string(1, c);
    out += '"';
  }
  return out;
}

std::string decimal(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// What SentencePiece's threads take of memory: one that is refused some ends the process.
size_t thread_bytes(const WordCounts& counts) {
  constexpr size_t threads = 16, beside = size_t(16) << 20;
  size_t stack = 0, words = 0;
  pthread_attr_t attributes;
  ::pthread_getattr_default_np(&attributes);
  ::pthread_attr_getstacksize(&attributes, &stack);
  ::pthread_attr_destroy(&attributes);
  for (const auto& [word, count] : counts) words += word.size();
  return threads * stack + beside + 4 * words;
}

}  // namespace

std::string train_subword(const WordCounts& counts, const SubwordTraining& options) {
  Counts lines(counts);
  if (lines.empty()) throw DataError("the text has no words to make a subword model of");
  std::string bytes;
  // What stands here is stored in the file; the thread count is left out for that reason (training
  // by byte-pair encoding uses one thread whatever it says).
  std::unordered_map<std::string, std::string> settings = {
      {"model_type", "bpe"},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", decimal(options.character_coverage)},
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
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &bytes);
  if (status.ok()) return bytes;
  if (const int needed = min_size(status.message())) {
    throw UsageError("--vocab-size " + std::to_string(options.vocab_size) +
                     " is too small: the special tokens, 256 byte tokens, " +
                     (options.user_symbols.empty() ? "" : "the user symbols ") +
                     "and the characters of this text need at least " + std::to_string(needed) +
                     " (or a lower --character-coverage)");
  }
  throw DataError(std::string("cannot train a subword model: ") + status.message());
}

}  // namespace tx
