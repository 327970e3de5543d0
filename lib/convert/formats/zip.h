// Zip archives as torch.save and numpy.savez write them: stored or deflated, with zip64. Every
// offset and size is checked before use; names never become paths.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/io.h"

namespace tx {

// Owns the memory of an archive's content.
struct ArchiveMemory {
  explicit ArchiveMemory(const std::string& path) : file(path) {}
  std::string_view bytes() const { return {file.data(), size_t(file.size())}; }
  MappedFile file;
  std::map<std::string, std::string> unpacked;  // by entry
};

class ZipArchive {
 public:
  struct Entry {
    std::string name;
    uint64_t header = 0;            // offset of its local header
    uint64_t packed = 0, size = 0;  // bytes in the archive, and decompressed
    uint32_t crc = 0;  // 0: not stored, as torch.serialization.set_crc32_options(False) writes it
    bool deflated = false;
  };

  // Entries that expand more than `max_growth` times, each or all together, may have at most
  // `small_size` bytes. Weights hardly compress, so larger ones are zeros or zip bombs.
  static constexpr uint64_t max_growth = 32, small_size = uint64_t(1) << 24;

  // Reads the central directory of `bytes`, which must outlive the object. DataError: damaged,
  // encrypted, split, another compression, duplicates, overlaps, or too large.
  ZipArchive(std::string_view bytes, std::string where);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;  // null if absent
  // A view into the archive, or into `unpacked` if the entry is compressed. DataError: damaged.
  std::string_view content(const Entry& entry, std::string& unpacked) const;

  static bool begins(std::string_view bytes) { return bytes.starts_with("PK\x03\x04"); }

 private:
  struct Directory {
    uint64_t begin = 0, bytes = 0, entries = 0;
  };
  [[noreturn]] void damaged(const std::string& why) const;
  Directory find_directory() const;
  Entry read_entry(std::string_view& rest) const;
  void check(const Entry& entry) const;
  void check_growth(const std::string& what, uint64_t packed, uint64_t size) const;
  uint64_t data_of(const Entry& entry) const;
  void check_overlap() const;
  std::string_view bytes_;
  std::string where_;
  uint64_t directory_ = 0;  // entries end before it
  std::vector<Entry> entries_;
};

}  // namespace tx
