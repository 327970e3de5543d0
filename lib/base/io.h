// Files and streams. Everything throws IoError with the path. "-" means standard input or output.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// Reads lines split on '\n' only (CR, NUL, U+2028 are data). Gzip input is recognised by its magic
// bytes and inflated, also from a pipe. Never seeks, so FIFOs and process substitutions work. A
// byte order mark before the first line is skipped; text that is compressed in another way, or in
// UTF-16, is a DataError with the command that helps.
class LineReader {
 public:
  // Throws IoError; a directory is refused. A FIFO need not have a writer yet.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  // The next line without its '\n'; false at the end. A last line without '\n' counts.
  bool next(std::string& line);  // DataError: a line of more than 256 MiB
  // True when next() can answer without waiting for the writer: a whole line is buffered, or the
  // end has been seen. Waits at most wait_ms for more bytes (0: looks, does not wait).
  bool ready(int wait_ms = 0);
  bool ended() const;                  // known after ready(): no line is left
  bool began_with_mark() const;        // known after ready() or next() has given a line
  int64_t line_number() const;         // of the line last returned, from 1
  bool ended_without_newline() const;  // known after next() returned false
  const std::string& name() const;     // the path, or "standard input"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A buffered writer that checks every write and its close. For standard output use path "-".
class Writer {
 public:
  explicit Writer(const std::string& path);
  explicit Writer(int fd, std::string name);  // takes over fd
  ~Writer();                                  // closes without a check: call close()
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  void write(std::string_view bytes);
  void flush();
  void sync();   // fsync
  void close();  // flushes and checks
  int64_t bytes_written() const { return total_ + int64_t(buffer_.size()); }

 private:
  int fd_;
  std::string name_, buffer_;
  int64_t total_ = 0;
};

// Writes a file so that a crash at any moment leaves the old one or the whole new one: temporary
// name in the same folder (O_EXCL, unpredictable), fsync, rename, fsync of the folder. Of a
// symbolic link the target is written, and the link stays.
void write_atomically(const std::string& path, const std::function<void(Writer&)>& content);
void write_atomically(const std::string& path, std::string_view bytes);

// The whole file; refuses directories and files above `limit` bytes.
std::string read_file(const std::string& path, int64_t limit = int64_t(1) << 34);

// The same of a regular file alone: a pipe or a device is a DataError and is not opened, because
// opening a pipe without a writer never ends.
std::string read_regular_file(const std::string& path, int64_t limit);

// A read-only memory map of a regular file. An empty file maps to an empty view.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const char* data() const { return data_; }
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // The pages that lie wholly in these bytes no longer count as this process's memory; they are
  // there again when they are read again.
  void forget(int64_t begin, int64_t bytes) const;

 private:
  std::string path_;
  const char* data_ = nullptr;
  int64_t size_ = 0;
};

bool file_exists(const std::string& path);
bool is_directory(const std::string& path);
int64_t free_bytes(const std::string& path);  // of the file system that holds path or its folder
std::string xxh3_hex(const void* data, size_t bytes);  // 16 hexadecimal digits

// XXH3 over a stream of chunks, equal to xxh3_hex of their concatenation.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(const void* data, size_t bytes);
  std::string hex() const;

 private:
  void* state_;
};

}  // namespace tx
