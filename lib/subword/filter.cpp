#include "lib/subword/filter.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <mutex>

#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {
namespace {

constexpr size_t max_lines = 1024, max_bytes = size_t(1) << 20;
constexpr int patience_ms = 200;

// Waits for a line, then takes what has arrived. An empty block now and then lets a failure of the
// output end the wait; a failure of the input waits until the lines before it are on their way.
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

// The lines that could not be mapped, by number. A worker cuts its block there and leaves the
// reason here, so that the lines before are written first and the place is looked up when reading
// has ended.
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

std::string shortest(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

int parse_id(const Vocabulary& vocabulary, std::string_view word) {
  int id = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw DataError("'" + std::string(word) + "' is not an id");
  }
  if (id >= 0 && id < vocabulary.size()) return id;
  throw DataError("id " + std::to_string(id) + " is outside the vocabulary of " +
                  std::to_string(vocabulary.size()) + " tokens");
}

int find_token(const Vocabulary& vocabulary, std::string_view word) {
  const int id = vocabulary.id_of(word);
  if (id >= 0) return id;
  throw DataError("'" + std::string(word) + "' is not a token of this vocabulary");
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
    std::string line = std::to_string(id) + "\t" + vocabulary.token(id);
    if (const auto score = vocabulary.score(id)) line += "\t" + shortest(*score);
    out.write(line + "\n");
  }
}

}  // namespace tx
