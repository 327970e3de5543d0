#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

namespace {

int64_t size_of(const TensorSource& t) {
  int64_t bytes = element_size(t.dtype);
  TX_ASSERT(bytes > 0);
  for (const int64_t d : t.shape) bytes *= d;
  return bytes;
}

int64_t alignment_of(const TensorSource& t) {
  return t.alignment ? t.alignment : element_size(t.dtype);
}

// Passes the bytes of every tensor to the sink and returns their hash.
std::string produce_all(const std::vector<TensorSource>& tensors, const ByteSink& sink) {
  Hasher hasher;
  for (const TensorSource& t : tensors) {
    size_t produced = 0;
    t.produce([&](const void* data, size_t bytes) {
      hasher.add(data, bytes);
      sink(data, bytes);
      produced += bytes;
    });
    TX_ASSERT(int64_t(produced) == size_of(t));
  }
  return hasher.hex();
}

// The length and the header, padded so that data begins at a multiple of 64 bytes.
std::string header_bytes(const std::vector<TensorSource>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  Json header;
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  int64_t offset = 0;
  for (const TensorSource& t : tensors) {
    TX_ASSERT(!header.contains(t.name));
    const int64_t end = offset + size_of(t);
    header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = to_text(header);
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(text.size()) >> (8 * i));
  return length + text;
}

}  // namespace

TensorSource byte_tensor(const std::string& name, std::string_view bytes) {
  return {name, "U8", {int64_t(bytes.size())}, [bytes](const ByteSink& sink) {
            sink(bytes.data(), bytes.size());
          }};
}

std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorSource& a, const TensorSource& b) {
                     return alignment_of(a) > alignment_of(b);
                   });
  std::string hash;
  write_atomically(path, [&](Writer& out) {
    // The header, before the data, has the hash: a second pass is cheaper than keeping the tensors.
    hash = produce_all(tensors, [](const void*, size_t) {});
    metadata["xxh3"] = hash;
    out.write(header_bytes(tensors, metadata));
    const std::string written = produce_all(tensors, [&](const void* data, size_t bytes) {
      out.write({static_cast<const char*>(data), bytes});
    });
    if (written != hash)
      throw DataError(path + ": an input file changed while it was read; run the command again");
  });
  return hash;
}

namespace {

// Where temporary files for this output may be.
std::string place_beside(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return std::filesystem::temp_directory_path();  // not beside a device
  return directory_of(path);
}

int create(const std::string& name, const std::string& path) {
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) throw IoError("write", path, errno);
  (void)::flock(fd, LOCK_EX | LOCK_NB);  // see is_temporary_name()
  return fd;
}

}  // namespace

// A temporary file in the directory of `path`, removed by the destructor. Messages name `path`.
struct SpoolPart {
  TemporaryFile file;
  Writer out;
  explicit SpoolPart(const std::string& path)
      : file(temporary_name(place_beside(path))), out(create(file.name(), path), path) {}
  ~SpoolPart() {
    std::error_code ignored;
    std::filesystem::remove(file.name(), ignored);
  }
  // Passes the file to the sink. Read, not mapped: maps would count as memory of this process.
  void read(const std::string& path, const ByteSink& sink) const {
    std::ifstream in(file.name(), std::ios::binary);
    std::vector<char> bytes(1 << 20);
    while (in) {
      in.read(bytes.data(), std::streamsize(bytes.size()));
      sink(bytes.data(), size_t(in.gcount()));
    }
    if (!in.eof()) throw IoError("read", path, errno);
  }
};

RowSpool::RowSpool(const std::string& path)
    : path_(path), rows_(std::make_unique<SpoolPart>(path)) {}

RowSpool::~RowSpool() = default;

void RowSpool::add(std::string_view bytes) { rows_->out.write(bytes); }

void RowSpool::close(const std::string& name, const std::string& dtype, std::vector<int64_t> shape,
                     std::map<std::string, std::string> metadata) {
  const int64_t bytes = rows_->out.bytes_written();
  rows_->out.close();
  int64_t row = element_size(dtype);
  for (const int64_t d : shape) row *= d;
  shape.insert(shape.begin(), bytes / row);
  const auto read = [&](const ByteSink& sink) { rows_->read(path_, sink); };
  write_safetensors(path_, {{name, dtype, shape, read}}, std::move(metadata));
}

SafetensorsSpool::SafetensorsSpool(const std::string& path,
                                   std::map<std::string, std::string> metadata)
    : path_(path),
      metadata_(std::move(metadata)),
      header_(std::make_unique<SpoolPart>(path)),
      data_(std::make_unique<SpoolPart>(path)) {
  header_->out.write("{");
}

SafetensorsSpool::~SafetensorsSpool() = default;

void SafetensorsSpool::check_header(int64_t bytes, const std::string& where) const {
  if (bytes > max_header)
    throw DataError(path_ + ": " + where + "the header exceeds " + std::to_string(max_header) +
                    " bytes, the limit of the safetensors format; write fewer lines to a file");
}

void SafetensorsSpool::add(const std::string& name, const std::string& dtype,
                           const std::vector<int64_t>& shape, std::string_view bytes) {
  int64_t size = element_size(dtype);
  for (const int64_t d : shape) size *= d;
  TX_ASSERT(size == int64_t(bytes.size()));
  const Json entry = {
      {"dtype", dtype}, {"shape", shape}, {"data_offsets", {offset_, offset_ + size}}};
  header_->out.write(to_text(Json(name)) + ":" + to_text(entry) + ",");
  check_header(header_->out.bytes_written(), "at " + to_text(Json(name)) + " ");
  data_->out.write(bytes);
  hasher_.add(bytes.data(), bytes.size());
  offset_ += size;
}

void SafetensorsSpool::close() {
  metadata_["xxh3"] = hasher_.hex();
  header_->out.write("\"__metadata__\":" + to_text(Json(metadata_)) + "}");
  const int64_t header_bytes = header_->out.bytes_written();
  const int64_t padded = (header_bytes + 8 + 63) / 64 * 64 - 8;  // data begins at a multiple of 64
  check_header(padded, "");
  header_->out.close();
  data_->out.close();
  write_atomically(path_, [&](Writer& out) {
    for (int i = 0; i < 8; ++i) {
      const char byte = char(uint64_t(padded) >> (8 * i));
      out.write({&byte, 1});
    }
    const auto write = [&](const void* data, size_t size) {
      out.write({static_cast<const char*>(data), size});
    };
    header_->read(path_, write);
    out.write(std::string(size_t(padded - header_bytes), ' '));
    data_->read(path_, write);
  });
}

}  // namespace tx
