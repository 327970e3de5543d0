#include "lib/data/cache.h"

#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/data/cache_format.h"

namespace tx {

using namespace cache_format;

namespace {

template <class T>
T member(const Json& json, const char* key) {
  try {
    return json.at(key).get<T>();
  } catch (const Json::exception&) {
    throw DataError(key);
  }
}

}  // namespace

std::string describe_dropped(const CacheReport& report, int max_length) {
  if (report.documents > 0) {
    const int64_t empty = report.empty.front();
    return empty == 0
               ? ""
               : "left out " + counted(empty, "empty line") + " of " + with_commas(report.lines);
  }
  if (report.lines == report.pairs) return "";
  std::string text;
  const auto say = [&](int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + with_commas(count) + what;
  };
  const bool two = report.empty.size() == 2;
  for (size_t s = 0; s < report.empty.size(); ++s)
    say(report.empty[s], !two     ? " empty"
                         : s == 0 ? " with an empty source"
                                  : " with an empty target");
  say(report.too_long, " longer than " + counted(max_length, "token"));
  return "dropped " + counted(report.lines - report.pairs, "pair") + " of " +
         with_commas(report.lines) + ": " + text;
}

IdCache::IdCache(const std::string& path, bool check) : file_(path) {
  read_description();
  if (check) verify();
}

void IdCache::damaged(const std::string& what) const {
  throw DataError(path() + ": the id cache is truncated or damaged (" + what +
                  "); delete it to rebuild it from the text");
}

void IdCache::read_description() {
  const int64_t head = int64_t(magic.size());
  const std::string_view all(file_.data(), size_t(file_.size()));
  if (!all.starts_with(magic)) throw DataError(path() + " is not an id cache of this version");
  if (file_.size() < head + trailer_bytes || !all.ends_with(magic)) damaged("end");
  const char* trailer = file_.data() + file_.size() - trailer_bytes;
  const auto length = load<uint64_t>(trailer + 16);
  if (length > uint64_t(file_.size() - head - trailer_bytes)) damaged("length");
  end_ = file_.size() - trailer_bytes - int64_t(length);
  const char* text = file_.data() + end_;
  if (xxh3_hex(text, length) != std::string_view(trailer, 16)) damaged("checksum of the end");
  try {
    const Json json = parse_json({text, length}, path());
    whole_number(json, "version", version, version);
    if (json.contains("links")) links_ = whole_number(json, "links", 0, end_);
    width_ = int(whole_number(json, "id_bytes", 2, 4));
    index_ = whole_number(json, "index", head, end_);
    pairs_ = whole_number(json, "pairs", 1, end_);
    whole_number(json, "max_length", 0, INT32_MAX);
    checksum_ = member<std::string>(json, "checksum");
    for (const Json& side : member<Json>(json, "sides")) {
      member<std::string>(side, "vocabulary");
      side_.push_back({whole_number(side, "tokens", 1, end_),
                       int(whole_number(side, "longest", 1, INT32_MAX)),
                       int(whole_number(side, "vocabulary_size", 1, INT32_MAX))});
    }
    const bool documents = json.contains("documents");
    report_.lines = whole_number(json, "lines", documents ? 1 : pairs_, INT64_MAX);
    report_.pairs = pairs_;
    report_.empty = member<std::vector<int64_t>>(json, "dropped_empty");
    report_.too_long = whole_number(json, "dropped_too_long", 0, report_.lines);
    report_.warnings = member<std::vector<std::string>>(json, "warnings");
    if (documents) {
      report_.documents = whole_number(json, "documents", 1, report_.lines);
      report_.text = {whole_number(json, "words", 0, INT64_MAX),
                      whole_number(json, "bytes", 0, INT64_MAX)};
    }
  } catch (const DataError& error) {
    damaged(error.what());
  }
  if (side_.empty() || sides() > max_sides || width_ == 3) damaged("sides");
  if (report_.documents > 0 && sides() != 1) damaged("documents");
  check_report();
  if (has_links() && sides() != 2) damaged("sides");
  const int64_t entry = entry_bytes(sides(), has_links());
  if (index_ % 8 != 0 || (end_ - index_) / entry != pairs_ || (end_ - index_) % entry != 0)
    damaged("size of the index");
}

// Lines are kept or dropped; those of documents are not pairs.
void IdCache::check_report() const {
  int64_t left = report_.lines - report_.too_long - (report_.documents > 0 ? 0 : pairs_);
  if (report_.empty.size() != side_.size()) damaged("dropped_empty");
  for (const int64_t count : report_.empty) {
    if (count < 0 || count > left) damaged("dropped_empty");
    left -= count;
  }
  if (left != 0 && report_.documents == 0) damaged("lines");
}

void IdCache::verify() const {
  if (xxh3_hex(file_.data(), size_t(end_)) != checksum_) damaged("checksum");
  std::vector<Side> found(side_.size());
  int64_t links = 0;
  for (int64_t pair = 0; pair < pairs_; ++pair) {
    verify_pair(pair, found);
    links += link_count(pair);
  }
  if (has_links() && links != links_) damaged("totals");
  for (size_t s = 0; s < side_.size(); ++s) {
    if (found[s].tokens != side_[s].tokens) damaged("totals");
    if (found[s].longest != side_[s].longest) damaged("longest");  // the memory plan relies on it
  }
}

void IdCache::verify_pair(int64_t pair, std::vector<Side>& found) const {
  const auto start = load<uint64_t>(entry(pair));
  uint64_t bytes = 0;
  for (int s = 0; s < sides(); ++s) {
    const auto count = load<uint32_t>(entry(pair) + 16 + 4 * s);
    if (count == 0 || count > uint32_t(side_[s].longest)) damaged("lengths");
    bytes += uint64_t(count) * uint64_t(width_);
    found[s].tokens += count;
    found[s].longest = std::max(found[s].longest, int(count));
  }
  bytes += uint64_t(link_count(pair) * link_bytes);
  if (continues(pair) && (pair == 0 || sides() > 1)) damaged("documents");
  if (start < magic.size() || start > uint64_t(index_) || bytes > uint64_t(index_) - start)
    damaged("index");
  for (int s = 0; s < sides(); ++s) ids(pair, s);
  for (const WordLink& link : links(pair))  // a word has at least one token
    if (link.source >= uint32_t(length(pair, 0)) || link.target >= uint32_t(length(pair, 1)))
      damaged("links");
}

const char* IdCache::entry(int64_t pair) const {
  return file_.data() + index_ + pair * entry_bytes(sides(), has_links());
}

const char* IdCache::content(int64_t pair, int64_t begin, int64_t bytes) const {
  const auto start = load<uint64_t>(entry(pair));
  if (start > uint64_t(index_) || uint64_t(begin + bytes) > uint64_t(index_) - start)
    check_unchanged(), damaged("index");
  return file_.data() + start + begin;
}

int64_t IdCache::id_bytes(int64_t pair, int sides) const {
  int64_t bytes = 0;
  for (int s = 0; s < sides; ++s) bytes += int64_t(length(pair, s)) * width_;
  return bytes;
}

int64_t IdCache::link_count(int64_t pair) const {
  return has_links() ? load<uint32_t>(entry(pair) + 16 + 4 * sides()) : 0;
}

std::vector<WordLink> IdCache::links(int64_t pair) const {
  const int64_t count = link_count(pair);
  const char* at = content(pair, id_bytes(pair, sides()), count * link_bytes);
  std::vector<WordLink> out;
  for (int64_t i = 0; i < count; ++i, at += link_bytes)
    out.push_back({load<uint32_t>(at), load<uint32_t>(at + 4)});
  return out;
}

int IdCache::length(int64_t pair, int side) const {
  return int(load<uint32_t>(entry(pair) + 16 + 4 * side));
}

int64_t IdCache::line(int64_t pair) const {
  return int64_t(load<uint64_t>(entry(pair) + 8) & ~continues_bit);
}

bool IdCache::continues(int64_t pair) const {
  return (load<uint64_t>(entry(pair) + 8) & continues_bit) != 0;
}

int32_t IdCache::id_at(const char* at) const {
  return width_ == 2 ? int32_t(load<uint16_t>(at)) : int32_t(load<uint32_t>(at));
}

int32_t IdCache::id(int64_t pair, int side, int place) const {
  return id_at(content(pair, id_bytes(pair, side) + int64_t(place) * width_, width_));
}

void IdCache::copy(int64_t pair, int side, std::span<int32_t> out) const {
  const char* at = content(pair, id_bytes(pair, side), int64_t(out.size()) * width_);
  for (int32_t& id : out) {
    id = id_at(at);
    if (uint32_t(id) >= uint32_t(side_[side].size)) check_unchanged(), damaged("ids");
    at += width_;
  }
}

std::vector<int> IdCache::ids(int64_t pair, int side) const {
  std::vector<int> out(size_t(length(pair, side)));
  copy(pair, side, out);
  return out;
}

void IdCache::check_unchanged() const {
  file_.check_unchanged([&] { return xxh3_hex(file_.data(), size_t(end_)) == checksum_; });
}

}  // namespace tx
