#include "lib/subword/token_lines.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/split.h"
#include "lib/base/workers.h"
#include "lib/subword/token_counts.h"
#include "lib/subword/words.h"

namespace tx {

namespace {

constexpr size_t max_lines = 1024, max_bytes = size_t(1) << 20;
constexpr int patience_ms = 200;

// Waits for a line, then takes the lines that are buffered. Sometimes empty, so that a failed
// output ends the wait. An error of the input is thrown after the lines before it.
class BlockReader {
 public:
  explicit BlockReader(TextReader& in) : in_(in) {}

  bool read(Block& block) {
    if (failure_) std::rethrow_exception(failure_);
    block.lines.clear();
    if (!in_.ready(patience_ms)) return true;
    block.first_line = in_.line_number() + 1;
    try {
      return fill(block);
    } catch (...) {
      failure_ = std::current_exception();
      return true;
    }
  }

 private:
  bool fill(Block& block) {
    size_t bytes = 0;
    std::string line;
    do {
      if (!in_.next(line)) return !block.lines.empty();
      bytes += line.size();
      block.lines.push_back(std::move(line));
    } while (block.lines.size() < max_lines && bytes < max_bytes && in_.ready());
    return true;
  }

  TextReader& in_;
  std::exception_ptr failure_;
};

// The lines for which the map threw, by number. A worker truncates its block there, so that the
// lines before it are written first, and the place is looked up after reading has ended.
class BadLines {
 public:
  void add(int64_t line_number, const std::string& reason) {
    const std::lock_guard guard(lock_);
    reasons_[line_number] = reason;
  }
  bool has(int64_t line_number) const {
    const std::lock_guard guard(lock_);
    return reasons_.count(line_number) > 0;
  }
  [[noreturn]] void refuse_first(const TextReader& in) const {
    throw DataError(in.place(reasons_.begin()->first) + ": " + reasons_.begin()->second);
  }

 private:
  mutable std::mutex lock_;
  std::map<int64_t, std::string> reasons_;
};

struct StopWriting {};

void map_block(Block& block, const LineMap& map, BadLines& bad) {
  for (size_t i = 0; i < block.lines.size(); ++i) {
    try {
      map(block.lines[i], block.first_line + int64_t(i));
    } catch (const DataError& error) {
      bad.add(block.first_line + int64_t(i), error.what());
      return block.lines.resize(i);
    }
  }
}

int parse_id(const Vocabulary& vocabulary, std::string_view word) {
  int id = -1;
  if (!parse_number(word, id)) throw DataError(shown(word) + " is not an id");
  vocabulary.check_id(id);
  return id;
}

int find_token(const Vocabulary& vocabulary, std::string_view word) {
  const int id = vocabulary.id_of(word);
  if (id >= 0) return id;
  if (word.ends_with('\r') && vocabulary.id_of(word.substr(0, word.size() - 1)) >= 0)
    throw DataError("the line ends with CR LF: remove the CR with tr -d '\\r'");
  throw DataError(shown(word) + " is not a token of this vocabulary");
}

int64_t words_of(std::string_view line) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : line) {
    words += !inside && !separates_words(c);
    inside = !separates_words(c);
  }
  return words;
}

LineCounts encode_line(const Vocabulary& vocabulary, const EncodeOptions& options,
                       std::string& line, int64_t number) {
  LineCounts counts;
  std::vector<int> ids;
  if (options.count) counts.words = words_of(line);
  if (options.dropout.probability > 0) {
    MergeDraws draws(options.dropout, number);
    vocabulary.encode(line, draws, ids);
  } else {
    vocabulary.encode(line, ids);
  }
  counts.cut = options.max_tokens > 0 && ids.size() > size_t(options.max_tokens);
  if (counts.cut) ids.resize(size_t(options.max_tokens));
  counts.tokens = int64_t(ids.size());
  if (options.count) {
    TokenShares shares;
    shares.add(ids, vocabulary);
    counts.bytes = shares.bytes;
    counts.unknown = shares.unknown;
  }
  if (options.bos) ids.insert(ids.begin(), Vocabulary::bos);
  if (options.eos) ids.push_back(Vocabulary::eos);
  line = join_tokens(vocabulary, ids, options.ids);
  return counts;
}

void add(EncodeReport& report, const LineCounts& counts, int64_t number) {
  ++report.lines;
  report.words += counts.words;
  report.tokens += counts.tokens;
  report.bytes += counts.bytes;
  report.unknown += counts.unknown;
  if (counts.tokens > report.longest ||
      (counts.tokens == report.longest && counts.tokens > 0 && number < report.longest_line)) {
    report.longest = counts.tokens;
    report.longest_line = number;
  }
  if (!counts.cut) return;
  report.first_cut = report.cut_lines == 0 ? number : std::min(report.first_cut, number);
  ++report.cut_lines;
}

}  // namespace

void map_lines(TextReader& in, int threads, Writer& out, const LineMap& map) {
  BlockReader reader(in);
  BadLines bad;
  const auto write = [&](const Block& block) {
    for (const std::string& line : block.lines) {
      out.write(line);
      out.write("\n");
    }
    out.flush();
    if (bad.has(block.first_line + int64_t(block.lines.size()))) throw StopWriting();
  };
  try {
    ordered_workers(
        threads, [&](Block& block) { return reader.read(block); },
        [&](Block& block) { map_block(block, map, bad); }, write);
  } catch (const StopWriting&) {
    bad.refuse_first(in);
  }
}

std::string join_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, bool ids) {
  std::string line;
  for (const int id : tokens) {
    if (!line.empty()) line += ' ';
    line += ids ? std::to_string(id) : vocabulary.token(id);
  }
  return line;
}

std::vector<int> split_tokens(const Vocabulary& vocabulary, std::string_view line, bool ids) {
  std::vector<int> tokens;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const auto word = line.substr(at, end - at);
    if (!word.empty())
      tokens.push_back(ids ? parse_id(vocabulary, word) : find_token(vocabulary, word));
    at = end + 1;
  }
  return tokens;
}

void decode_lines(TextReader& in, const Vocabulary& vocabulary, bool ids, int threads,
                  Writer& out) {
  map_lines(in, threads, out, [&](std::string& line, int64_t) {
    line = vocabulary.decode(split_tokens(vocabulary, line, ids));
  });
}

void write_listing(const Vocabulary& vocabulary, Writer& out) {
  for (int id = 0; id < vocabulary.size(); ++id) {
    std::string line = std::to_string(id) + "\t" + in_one_line(vocabulary.token(id));
    if (const auto score = vocabulary.score(id)) line += "\t" + shortest(*score);
    out.write(line + "\n");
  }
}

LineTokenizer line_tokenizer(const Vocabulary& vocabulary, const EncodeOptions& options) {
  if (options.dropout.probability > 0) check_has_merges(vocabulary, "--bpe-dropout");
  return [&vocabulary, options](std::string& line, int64_t number) {
    return encode_line(vocabulary, options, line, number);
  };
}

EncodeReport encode_lines(TextReader& in, const LineTokenizer& tokenizer, int threads,
                          Writer& out) {
  EncodeReport report;
  std::mutex lock;
  map_lines(in, threads, out, [&](std::string& line, int64_t number) {
    const LineCounts counts = tokenizer(line, number);
    const std::lock_guard guard(lock);
    add(report, counts, number);
  });
  return report;
}

std::string describe(const EncodeReport& report, const TextReader& in) {
  const auto share = [](int64_t part, int64_t whole) {
    return double(part) / double(std::max<int64_t>(1, whole));
  };
  std::string text =
      counted(report.lines, "line") + ", " + counted(report.words, "word") + ", " +
      counted(report.tokens, "token") + ": " +
      (report.cut_lines > 0  // of the words before the cut
           ? std::string()
           : formatted("%.3f per word, ", share(report.tokens, report.words))) +
      formatted("%.3f %% of them bytes, %.3f %% <unk>", 100 * share(report.bytes, report.tokens),
                100 * share(report.unknown, report.tokens));
  if (report.longest > 0)
    text +=
        "; longest line " + in.place(report.longest_line) + ", " + counted(report.longest, "token");
  return text;
}

std::vector<std::string> warnings(const EncodeReport& report, const TextReader& in,
                                  int max_tokens) {
  if (report.cut_lines == 0) return {};
  std::string text = in.place(report.first_cut) + ": cut after " + counted(max_tokens, "token") +
                     " (--max-length)";
  if (report.cut_lines > 1)
    text += " (the first of " + std::to_string(report.cut_lines) + " such lines)";
  return {text};
}

}  // namespace tx
