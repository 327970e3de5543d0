#include "lib/checkpoint/safetensors_spool.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

int create(const std::string& name, const std::string& path) {
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) throw IoError("write", path, errno);
  return fd;
}

// Appends the temporary file `name`. It is read, not mapped: pages of a map would count as memory.
void copy_to(Writer& out, const std::string& name, const std::string& path) {
  std::ifstream in(name, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  while (in) {
    in.read(bytes.data(), std::streamsize(bytes.size()));
    out.write({bytes.data(), size_t(in.gcount())});
  }
  if (!in.eof()) throw IoError("read", path, errno);
}

}  // namespace

// A temporary file in the folder of `path`, which messages name. It is removed with the object.
struct SafetensorsSpool::Part {
  TemporaryFile file;
  Writer out;
  explicit Part(const std::string& path)
      : file(folder_of(path)), out(create(file.name(), path), path) {}
  ~Part() {
    std::error_code ignored;
    std::filesystem::remove(file.name(), ignored);
  }
};

SafetensorsSpool::SafetensorsSpool(const std::string& path,
                                   std::map<std::string, std::string> metadata)
    : path_(path),
      metadata_(std::move(metadata)),
      header_(std::make_unique<Part>(path)),
      data_(std::make_unique<Part>(path)) {
  header_->out.write("{");
}

SafetensorsSpool::~SafetensorsSpool() = default;

void SafetensorsSpool::add(const std::string& name, const std::string& dtype,
                           const std::vector<int64_t>& shape, std::string_view bytes) {
  int64_t size = element_size(dtype);
  for (const int64_t d : shape) size *= d;
  TX_ASSERT(size == int64_t(bytes.size()));
  const Json entry = {
      {"dtype", dtype}, {"shape", shape}, {"data_offsets", {offset_, offset_ + size}}};
  header_->out.write(to_text(Json(name)) + ":" + to_text(entry) + ",");
  if (header_->out.bytes_written() > longest_header)
    throw DataError(path_ + ": its header would pass " + std::to_string(longest_header) +
                    " bytes at " + to_text(Json(name)) +
                    ", more than readers of safetensors take; write fewer lines to a file");
  data_->out.write(bytes);
  hasher_.add(bytes.data(), bytes.size());
  offset_ += size;
}

void SafetensorsSpool::close() {
  metadata_["xxh3"] = hasher_.hex();
  header_->out.write("\"__metadata__\":" + to_text(Json(metadata_)) + "}");
  const int64_t header_bytes = header_->out.bytes_written();
  const int64_t padded = (header_bytes + 8 + 63) / 64 * 64 - 8;  // data begins at a multiple of 64
  header_->out.close();
  data_->out.close();
  write_atomically(path_, [&](Writer& out) {
    for (int i = 0; i < 8; ++i) {
      const char byte = char(uint64_t(padded) >> (8 * i));
      out.write({&byte, 1});
    }
    copy_to(out, header_->file.name(), path_);
    out.write(std::string(size_t(padded - header_bytes), ' '));
    copy_to(out, data_->file.name(), path_);
  });
}

}  // namespace tx
