#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/base/workers.h"
#include "lib/data/cache.h"
#include "lib/data/cache_format.h"
#include "lib/data/links.h"
#include "lib/subword/languages.h"

namespace tx {
namespace {

using namespace cache_format;

// A unit of work: enough lines to keep the threads busy, bounded bytes for constant memory.
constexpr size_t block_lines = 2048, block_bytes = size_t(1) << 20;

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An unnamed temporary file for the index, which grows with the text and is written after it.
class Spool {
 public:
  explicit Spool(const std::string& path) : path_(path), fd_(open_unnamed()) {
    const int copy = dup(fd_);
    if (copy < 0) throw IoError("write", path_, errno);
    writer_ = std::make_unique<Writer>(copy, path_);
  }
  ~Spool() { close(fd_); }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::string_view bytes) { writer_->write(bytes); }

  template <class Sink>
  void drain(Sink&& sink) {
    writer_->close();
    if (lseek(fd_, 0, SEEK_SET) < 0) throw IoError("read", path_, errno);
    std::string buffer(block_bytes, '\0');
    for (;;) {
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError("read", path_, errno);
      if (got == 0) return;
      sink(std::string_view(buffer).substr(0, size_t(got)));
    }
  }

 private:
  // Fallback without O_TMPFILE: the file stays if the program is killed before unlinking it.
  int open_unnamed() {
    const std::string folder = std::filesystem::path(path_).parent_path();
    int fd = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = path_ + ".index.XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) throw IoError("create", path_, errno);
    unlink(name.c_str());
    return fd;
  }

  std::string path_;  // of the cache
  int fd_;
  std::unique_ptr<Writer> writer_;
};

class CacheBuilder {
 public:
  CacheBuilder(const std::string& path, const std::vector<CacheSide>& sides,
               const CacheOptions& options)
      : path_(path),
        sides_(sides),
        options_(options),
        cutter_(options.context, options.blank_lines, options.cross_documents,
                [this](std::span<const int32_t> ids, int64_t line, bool continues) {
                  write_sentence(ids, line, continues);
                }),
        tokens_(sides.size()),
        longest_(sides.size()) {
    TX_ASSERT(options.context == 0 || (sides.size() == 1 && options.max_length == 0));
    TX_ASSERT(!sides.empty() && sides.size() <= max_sides);
    int largest = 0;
    for (const CacheSide& side : sides) {
      readers_.emplace_back(side.files, options.strict);
      largest = std::max(largest, side.vocabulary->size());
      first_tokens_.push_back(first_token(*side.vocabulary));
    }
    width_ = id_width(largest);
    report_.empty.resize(sides.size());
    if (options.links.empty()) return;
    TX_ASSERT(sides.size() == 2);
    readers_.emplace_back(std::vector<std::string>{options.links}, options.strict);
    link_lines_.emplace(readers_.back().place(1), *sides[0].vocabulary, *sides[1].vocabulary);
  }

  CacheReport run() {
    write_atomically(path_, [&](Writer& file) {
      file_ = &file;
      Spool index(path_);
      spool_ = &index;
      put(magic);
      ordered_workers(
          options_.threads, [&](Block& block) { return read(block); },
          [&](Block& block) { encode(block); }, [&](const Block& block) { write(block); });
      if (documents()) finish_documents();
      if (report_.pairs == 0) {
        const std::string dropped = describe_dropped(report_, options_.max_length);
        throw DataError(sides_.front().files.front() + ": no pairs are left: " +
                        (dropped.empty() ? "the file has no lines" : dropped));
      }
      put(std::string((8 - offset_ % 8) % 8, '\0'));
      const int64_t index_offset = offset_;
      index.drain([&](std::string_view bytes) { put(bytes); });
      finish(index_offset);
    });
    return report_;
  }

 private:
  bool documents() const { return options_.context > 0; }

  void put(std::string_view bytes) {
    file_->write(bytes);
    hasher_.add(bytes.data(), bytes.size());
    offset_ += int64_t(bytes.size());
  }

  // The rows of a block: a line of each side and, if given, a line of links.
  bool read(Block& block) {
    block.lines.clear();
    block.first_line = readers_.front().line_number() + 1;
    size_t bytes = 0;
    std::vector<std::string> row(readers_.size());
    while (block.lines.size() < block_lines && bytes < block_bytes && read_row(row)) {
      for (std::string& line : row) {
        bytes += line.size();
        if (documents()) report_.text.add(line);
        block.lines.push_back(std::move(line));
      }
    }
    return !block.lines.empty();
  }

  bool read_row(std::vector<std::string>& row) {
    size_t have = 0;
    for (size_t s = 0; s < readers_.size(); ++s) have += readers_[s].next(row[s]);
    if (pairwise() && readers_[0].files_begun() != readers_[1].files_begun()) refuse_files();
    if (have != 0 && have != row.size()) refuse_lengths();
    return have != 0;
  }

  // File n of the source belongs to file n of the target.
  bool pairwise() const {
    return sides_.size() == 2 && sides_[0].files.size() == sides_[1].files.size();
  }

  [[noreturn]] void refuse_files() {
    const size_t file = std::min(readers_[0].files_begun(), readers_[1].files_begun()) - 1;
    LineCount shorter = readers_[0].count_file(file), longer = readers_[1].count_file(file);
    if (shorter.lines > longer.lines) std::swap(shorter, longer);
    throw DataError(counts_differ(shorter, longer, shorter.lines + 1));
  }

  [[noreturn]] void refuse_lengths() {
    if (pairwise() && sides_[0].files.size() > 1 &&
        readers_[0].line_number() != readers_[1].line_number())
      refuse_files();
    std::string line, message = link_lines_ ? "text and links" : "source and target";
    message += " have different numbers of lines:";
    size_t longest = 0;
    int64_t fewest = INT64_MAX;
    for (size_t s = 0; s < readers_.size(); ++s) {
      while (readers_[s].next(line)) continue;
      const int64_t lines = readers_[s].line_number();
      fewest = std::min(fewest, lines);
      if (lines > readers_[longest].line_number()) longest = s;
      const bool side = s < sides_.size();
      message += (s ? ", " : " ") + std::to_string(lines) + " in " +
                 (side ? sides_[s].files.front() : options_.links) +
                 (side && sides_[s].files.size() > 1 ? " and other files" : "");
    }
    throw DataError(message + "; " + readers_[longest].place(fewest + 1) +
                    " is the first line without a counterpart");
  }

  // Replaces lines by ids, and links by word indices, in the file's format.
  void encode(Block& block) const {
    std::vector<std::vector<int>> ids(sides_.size());
    for (size_t i = 0; i < block.lines.size(); i += readers_.size()) {
      std::string* const row = &block.lines[i];
      for (size_t s = 0; s < sides_.size(); ++s) {
        ids[s].clear();
        if (!is_blank(row[s])) sides_[s].vocabulary->encode(row[s], ids[s]);
        const int first = first_tokens_[s];
        if (first >= 0 && !ids[s].empty()) ids[s].insert(ids[s].begin(), first);
        row[s] = bytes_of(ids[s]);
      }
      if (!link_lines_) continue;
      const int64_t line = block.first_line + int64_t(i / readers_.size());
      std::string& links = row[sides_.size()];
      const std::vector<WordLink> read = link_lines_->read(links, line, ids[0], ids[1]);
      links.clear();
      for (const WordLink& link : read) {
        append(links, link.source);
        append(links, link.target);
      }
    }
  }

  std::string bytes_of(const std::vector<int>& ids) const {
    std::string bytes;
    for (const int id : ids) append_id(bytes, id);
    return bytes;
  }

  void append_id(std::string& bytes, int id) const {
    if (width_ == 2)
      append(bytes, uint16_t(id));
    else
      append(bytes, uint32_t(id));
  }

  void write(const Block& block) {
    const size_t row = readers_.size();
    for (size_t i = 0; i < block.lines.size(); i += row) {
      ++report_.lines;
      if (documents())
        add_to_document(block.lines[i], block.first_line + int64_t(i));
      else
        write_pair(&block.lines[i], block.first_line + int64_t(i / row));
    }
  }

  void add_to_document(const std::string& line, int64_t number) {
    ids_.clear();
    for (size_t at = 0; at < line.size(); at += size_t(width_))
      ids_.push_back(width_ == 2 ? int32_t(load<uint16_t>(line.data() + at))
                                 : int32_t(load<uint32_t>(line.data() + at)));
    cutter_.add_line(ids_, number);
  }

  void finish_documents() {
    cutter_.end();
    report_.documents = cutter_.documents();
    report_.empty.front() = cutter_.empty();
  }

  void write_sentence(std::span<const int32_t> ids, int64_t number, bool continues) {
    std::string bytes;
    for (const int32_t id : ids) append_id(bytes, id);
    add_entry(&bytes, uint64_t(number) | (continues ? continues_bit : 0));
  }

  int64_t tokens(const std::string& line) const { return int64_t(line.size()) / width_; }

  void write_pair(const std::string* line, int64_t number) {
    const size_t k = sides_.size();
    for (size_t s = 0; s < k; ++s)
      if (tokens(line[s]) == 0) return void(++report_.empty[s]);
    for (size_t s = 0; s < k; ++s)
      if (options_.max_length > 0 && tokens(line[s]) > options_.max_length)
        return void(++report_.too_long);
    add_entry(line, uint64_t(number));
  }

  void add_entry(const std::string* line, uint64_t number) {
    const size_t k = sides_.size();
    std::string entry;
    append(entry, uint64_t(offset_));
    append(entry, number);
    for (size_t s = 0; s < k; ++s) {
      append(entry, uint32_t(tokens(line[s])));
      tokens_[s] += tokens(line[s]);
      longest_[s] = std::max(longest_[s], tokens(line[s]));
      put(line[s]);
    }
    if (link_lines_) {
      const int64_t count = int64_t(line[k].size()) / link_bytes;
      append(entry, uint32_t(count));
      links_ += count;
      put(line[k]);
    }
    entry.resize(size_t(entry_bytes(int(k), link_lines_.has_value())));
    spool_->write(entry);
    ++report_.pairs;
  }

  void finish(int64_t index_offset) {
    Json sides = Json::array();
    for (size_t s = 0; s < sides_.size(); ++s) {
      sides.push_back({{"tokens", tokens_[s]},
                       {"longest", longest_[s]},
                       {"vocabulary_size", sides_[s].vocabulary->size()},
                       {"vocabulary", sides_[s].vocabulary->hash()}});
      for (std::string& text : readers_[s].warnings()) report_.warnings.push_back(std::move(text));
    }
    Json description = {{"version", version},
                        {"pairs", report_.pairs},
                        {"id_bytes", width_},
                        {"index", index_offset},
                        {"checksum", hasher_.hex()},
                        {"sides", sides},
                        {"max_length", options_.max_length},
                        {"lines", report_.lines},
                        {"dropped_empty", report_.empty},
                        {"dropped_too_long", report_.too_long},
                        {"warnings", report_.warnings}};
    if (link_lines_) description["links"] = links_;
    if (documents()) {
      description["documents"] = report_.documents;
      description["context"] = options_.context;
      description["words"] = report_.text.words;
      description["bytes"] = report_.text.bytes;
    }
    const std::string text = to_text(description);
    std::string trailer = xxh3_hex(text.data(), text.size());
    append(trailer, uint64_t(text.size()));
    file_->write(text + trailer + std::string(magic));
  }

  const std::string& path_;
  const std::vector<CacheSide>& sides_;
  const CacheOptions& options_;
  std::vector<TextReader> readers_;      // the sides', then the links'
  std::optional<LinkLines> link_lines_;  // if links are given
  DocumentCutter cutter_;
  std::vector<int32_t> ids_;
  std::vector<int64_t> tokens_, longest_;
  std::vector<int> first_tokens_;  // per side: tokens of the language that precede a text
  int64_t links_ = 0;
  CacheReport report_;
  Writer* file_ = nullptr;
  Spool* spool_ = nullptr;
  Hasher hasher_;
  int64_t offset_ = 0;
  int width_ = 4;
};

}  // namespace

CacheReport build_cache(const std::string& path, const std::vector<CacheSide>& sides,
                        const CacheOptions& options) {
  return CacheBuilder(path, sides, options).run();
}

}  // namespace tx
