// The id cache: unchanged, and with valid checksums, which random changes would never produce.
#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/data/cache.h"
#include "lib/data/cache_format.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

using namespace tx::cache_format;

// The description ends the input; sets the checksums in it and after it.
std::string with_checksums(std::string_view bytes) {
  const size_t at = std::min(bytes.rfind("\n{"), bytes.size());
  const std::string body(bytes.substr(0, at));
  std::string text(bytes.substr(std::min(bytes.size(), at + 1)));
  const std::string key = "\"checksum\":\"";
  const size_t sum = text.find(key);
  if (sum != text.npos && sum + key.size() + 16 <= text.size()) {
    text.replace(sum + key.size(), 16, tx::xxh3_hex(body.data(), body.size()));
  }
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(text.size()) >> (8 * i));
  return body + text + tx::xxh3_hex(text.data(), text.size()) + length + std::string(magic);
}

void read_all(const std::string& path) {
  const tx::IdCache cache(path);
  std::vector<int> longest(size_t(cache.sides()));
  for (int64_t pair = 0; pair < cache.pairs(); ++pair) {
    for (int side = 0; side < cache.sides(); ++side) {
      for (const int id : cache.ids(pair, side)) {
        require(id >= 0 && id < cache.vocabulary_size(side), "an id of the vocabulary");
      }
      longest[size_t(side)] = std::max(longest[size_t(side)], cache.length(pair, side));
    }
    cache.line(pair);
    for (const tx::WordLink& link : cache.links(pair))
      require(int(link.source) < cache.length(pair, 0) && int(link.target) < cache.length(pair, 1),
              "a link between words");
  }
  for (int side = 0; side < cache.sides(); ++side) {
    require(longest[size_t(side)] == cache.longest(side), "the longest line is there");
  }
  tx::describe_dropped(cache.report(), 250);
}

}  // namespace

// The file without its trailer, and a line break before its description.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const auto words = word_list();
  for (const std::string& bytes :
       {tx::read_file(make_cache(words)), tx::read_file(make_cache(words, true)),
        tx::read_file(make_document_cache(words))}) {
    const auto length = load<uint64_t>(bytes.data() + bytes.size() - trailer_bytes + 16);
    const size_t end = bytes.size() - size_t(trailer_bytes) - length;
    all.push_back(bytes.substr(0, end) + "\n" + bytes.substr(end, length));
  }
  return all;
}

void run(std::string_view bytes) {
  static MemoryFile file;
  try {
    read_all(file.fill(bytes));
  } catch (const tx::DataError&) {
  }
  read_all(file.fill(with_checksums(bytes)));
}

}  // namespace tx_fuzz
