#include "lib/convert/formats/zip.h"

#include <algorithm>
#include <set>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

constexpr std::string_view entry_mark = "PK\x01\x02", local_mark = "PK\x03\x04",
                           end_mark = "PK\x05\x06", end64_mark = "PK\x06\x06",
                           locator64_mark = "PK\x06\x07";
constexpr size_t entry_bytes = 46, local_bytes = 30, end_bytes = 22, locator64_bytes = 20,
                 end64_bytes = 56;
constexpr uint32_t in_zip64 = 0xFFFFFFFF;  // the value is in the zip64 extra field
constexpr uint64_t max_entries = 1000000;

}  // namespace

void ZipArchive::damaged(const std::string& why) const {
  throw DataError(where_ + " is damaged or not a supported zip archive: " + why);
}

// Finds the end record; only a comment may follow it.
ZipArchive::Directory ZipArchive::find_directory() const {
  if (bytes_.size() < end_bytes) damaged("it has only " + std::to_string(bytes_.size()) + " bytes");
  const size_t lowest = bytes_.size() - std::min(bytes_.size(), end_bytes + 0xFFFF);
  size_t at = bytes_.rfind(end_mark, bytes_.size() - end_bytes);
  if (at == bytes_.npos || at < lowest)
    damaged("its central directory is missing: the file is truncated");
  const std::string_view end = bytes_.substr(at);
  if (little_endian(end.substr(4), 2) != 0 && little_endian(end.substr(4), 2) != 0xFFFF)
    damaged("it is split over several files");
  Directory d{little_endian(end.substr(16), 4), little_endian(end.substr(12), 4),
              little_endian(end.substr(10), 2)};
  if (d.begin != in_zip64 && d.bytes != in_zip64 && d.entries != 0xFFFF) return d;
  if (at < locator64_bytes) damaged("its zip64 record is missing");
  const std::string_view locator = bytes_.substr(at - locator64_bytes, locator64_bytes);
  if (!locator.starts_with(locator64_mark)) damaged("its zip64 record is missing");
  const uint64_t begin = little_endian(locator.substr(8), 8);
  if (begin > at || at - begin < end64_bytes || !bytes_.substr(begin).starts_with(end64_mark))
    damaged("its zip64 record is not where it should be");
  const std::string_view end64 = bytes_.substr(begin);
  return {little_endian(end64.substr(48), 8), little_endian(end64.substr(40), 8),
          little_endian(end64.substr(32), 8)};
}

ZipArchive::ZipArchive(std::string_view bytes, std::string where)
    : bytes_(bytes), where_(std::move(where)) {
  const Directory d = find_directory();
  if (d.begin > bytes_.size() || d.bytes > bytes_.size() - d.begin)
    damaged("its central directory lies outside the file");
  if (d.entries > max_entries || d.entries > d.bytes / entry_bytes)
    damaged("its central directory is too short for " + std::to_string(d.entries) + " entries");
  directory_ = d.begin;
  std::string_view rest = bytes_.substr(d.begin, d.bytes);
  std::set<std::string> names;
  for (uint64_t i = 0; i < d.entries; ++i) {
    entries_.push_back(read_entry(rest));
    check(entries_.back());
    if (!names.insert(entries_.back().name).second)
      damaged("duplicate entry " + shown(entries_.back().name));
  }
  check_overlap();
  uint64_t packed = 0, size = 0;  // no overflow: the growth of each of at most 10^6 is limited
  for (const Entry& e : entries_) packed += e.packed, size += e.size;
  check_growth("it", packed, size);
}

// Reads one entry of the central directory and removes it from `rest`.
ZipArchive::Entry ZipArchive::read_entry(std::string_view& rest) const {
  if (rest.size() < entry_bytes || !rest.starts_with(entry_mark))
    damaged("its central directory is truncated");
  const auto number = [&](size_t at, size_t width) {
    return little_endian(rest.substr(at), width);
  };
  const size_t name = number(28, 2), extra = number(30, 2), comment = number(32, 2);
  if (rest.size() - entry_bytes < name + extra + comment)
    damaged("its central directory is truncated");
  Entry e;
  e.name = rest.substr(entry_bytes, name);
  e.crc = uint32_t(number(16, 4));
  e.packed = number(20, 4);
  e.size = number(24, 4);
  e.header = number(42, 4);
  const uint64_t flags = number(8, 2), method = number(10, 2);
  if (flags & 1) damaged(shown(e.name) + " is encrypted");
  if (method != 0 && method != 8)
    damaged(shown(e.name) + " has compression method " + std::to_string(method) +
            "; only stored and deflated entries are supported");
  e.deflated = method == 8;
  // Extra fields: u16 id, u16 bytes, content; zip64's has the values that did not fit, in order.
  std::string_view fields = rest.substr(entry_bytes + name, extra);
  while (fields.size() >= 4) {
    const uint64_t id = little_endian(fields, 2), length = little_endian(fields.substr(2), 2);
    fields.remove_prefix(4);
    if (length > fields.size()) break;  // padding
    std::string_view content = fields.substr(0, length);
    fields.remove_prefix(length);
    for (uint64_t* value : {&e.size, &e.packed, &e.header}) {
      if (id != 1 || *value != in_zip64) continue;
      if (content.size() < 8) damaged(shown(e.name) + " has no size");
      *value = little_endian(content, 8);
      content.remove_prefix(8);
    }
  }
  rest.remove_prefix(entry_bytes + name + extra + comment);
  return e;
}

void ZipArchive::check(const Entry& e) const {
  if (e.header > directory_ || e.packed > directory_ - e.header)
    damaged(shown(e.name) + " lies outside the file");
  if (!e.deflated && e.size != e.packed) damaged(shown(e.name) + " has contradictory sizes");
  check_growth(shown(e.name), e.packed, e.size);
}

void ZipArchive::check_growth(const std::string& what, uint64_t packed, uint64_t size) const {
  if (size > small_size && size / max_growth > packed)
    damaged(what + " would expand from " + std::to_string(packed) + " to " + std::to_string(size) +
            " bytes");
}

// Overlapping entries make a small archive expand to a huge size.
void ZipArchive::check_overlap() const {
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const Entry& e : entries_) places.emplace_back(e.header, data_of(e) + e.packed);
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i].first < places[i - 1].second) damaged("its entries overlap");
}

// Offset of an entry's data, after its local header with a name and fields of its own.
uint64_t ZipArchive::data_of(const Entry& e) const {
  const std::string_view local = bytes_.substr(e.header, local_bytes);
  if (local.size() < local_bytes || !local.starts_with(local_mark))
    damaged(shown(e.name) + " has no local header");
  const uint64_t begin = e.header + local_bytes + little_endian(local.substr(26), 2) +
                         little_endian(local.substr(28), 2);
  if (begin > directory_ || e.packed > directory_ - begin)
    damaged(shown(e.name) + " lies outside the file");
  return begin;
}

const ZipArchive::Entry* ZipArchive::find(std::string_view name) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& e) { return e.name == name; });
  return at == entries_.end() ? nullptr : &*at;
}

std::string_view ZipArchive::content(const Entry& e, std::string& unpacked) const {
  std::string_view content = bytes_.substr(data_of(e), e.packed);
  if (e.deflated) {
    if (!inflate_raw(content, e.size, unpacked)) damaged(shown(e.name) + " cannot be decompressed");
    content = unpacked;
  }
  if (e.crc != 0 && crc32_of(content) != e.crc) damaged(shown(e.name) + " has a wrong checksum");
  return content;
}

}  // namespace tx
