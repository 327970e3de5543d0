// Files and streams. Everything throws IoError with the path. "-" means standard input or output.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tx {

// Reads lines, which end in '\n' only. Gzip input is recognised and decompressed, also from a pipe.
// Never seeks. A byte order mark before the first line is skipped; archives, other compression,
// UTF-16 or UTF-32, SGML, XML and models are a DataError that names a command to convert them.
class LineReader {
 public:
  // Throws IoError, also for a directory. A FIFO need not have a writer yet.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  // The next line without its '\n'; false at the end. A last line without '\n' is a line.
  bool next(std::string& line);  // DataError: a line of more than 256 MiB
  // True if next() returns without waiting for the writer. Waits at most wait_ms for more bytes.
  bool ready(int wait_ms = 0);
  bool ended() const;               // after ready(): no line is left
  bool began_with_mark() const;     // after ready() or next() returned true
  int64_t line_number() const;      // of the line last returned, from 1
  const std::string& name() const;  // the path, or "standard input"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A buffered writer that checks every write and its close. For standard output use path "-".
class Writer {
 public:
  explicit Writer(const std::string& path);
  explicit Writer(int fd, std::string name);  // owns fd
  ~Writer();                                  // ignores errors: call close()
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

// Writes a file so that a crash leaves the old or the new one: fsync, rename. Follows links.
void write_atomically(const std::string& path, const std::function<void(Writer&)>& content);
void write_atomically(const std::string& path, std::string_view bytes);
void print(std::string_view text);  // on standard output, and closes it

// Without the last part of a path: "." for "file", "/" for "/file".
std::string directory_of(const std::string& path);

// "DIRECTORY/.tx-RANDOM.tmp", unpredictable. What a killed process leaves may be deleted.
std::string temporary_name(const std::string& directory);

// While this object exists, remove_temporaries() deletes the file or empty directory of this name.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string name);
  ~TemporaryFile();  // does not delete the file
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int slot_;  // -1: unknown to remove_temporaries()
};

// For signal handlers that end the process.
void remove_temporaries();

// The whole file. IoError for a directory, DataError for more than `limit` bytes.
std::string read_file(const std::string& path, int64_t limit = int64_t(1) << 34);

// The same; a pipe or device is a DataError and is not opened, which could block.
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
  // DataError if the file has been overwritten since it was mapped: its size or a time differs, and
  // `same`, which compares the mapped bytes with what was read before, returns false. A file that
  // was renamed or deleted is unchanged. Costs one fstat.
  void check_unchanged(const std::function<bool()>& same) const;
  // Releases the pages that lie wholly in these bytes; reading them loads them again.
  void forget(int64_t begin, int64_t bytes) const;

 private:
  std::string path_;
  const char* data_ = nullptr;
  int64_t size_ = 0;
  int fd_ = -1;
  // Of the last change of the bytes and of the inode, in ns.
  mutable std::array<int64_t, 2> times_ = {};
};

bool file_exists(const std::string& path);
bool is_directory(const std::string& path);
int64_t free_bytes(const std::string& path);  // on the file system of path or its directory
bool has_free_inodes(const std::string& path);

// The path of `file` in the directory of libtx.so, or of the program that libtx is linked into.
std::string library_path(const std::string& file);

// The directory share/tx of the installation, or of the build directory, that libtx.so belongs to.
std::string data_directory();

}  // namespace tx
