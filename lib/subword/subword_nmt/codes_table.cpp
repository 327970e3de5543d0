#include "lib/subword/subword_nmt/codes_table.h"

#include <unordered_set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"

namespace tx {
namespace {

constexpr std::string_view version_word = "#version:";

uint64_t key_of(int left, int right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of("\r ");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of("\r ") - begin + 1);
}

CodesTable::Halves parse(std::string_view line, const std::string& place) {
  line = strip(line);
  const size_t at = line.find(' ');
  if (at == line.npos || line.find(' ', at + 1) != line.npos)
    throw DataError(place + ": expected two tokens separated by one space, not '" +
                    std::string(line) + "'; is this a file of subword-nmt learn-bpe?");
  return {std::string(line.substr(0, at)), std::string(line.substr(at + 1))};
}

}  // namespace

CodesTable::CodesTable(const std::string& path, int merges) {
  LineReader reader(path);
  std::vector<Halves> pairs;
  int64_t header = 0;
  for (std::string line; reader.next(line);) {
    const std::string place = reader.name() + ":" + std::to_string(reader.line_number());
    if (count_invalid_utf8(line) > 0) throw DataError(place + ": not valid UTF-8");
    if (reader.line_number() == 1 && line.starts_with(version_word)) {
      read_version(line, place);
      header = 1;
    } else if (merges < 0 || reader.line_number() - header <= merges) {
      pairs.push_back(parse(line, place));
    }
  }
  if (pairs.empty() && merges != 0)
    throw DataError(path + " has no merges; expected codes of subword-nmt learn-bpe");
  add(pairs);
}

void CodesTable::read_version(std::string_view line, const std::string& place) {
  const std::string_view text = strip(line.substr(version_word.size()));
  ends_apart_ = text == "0.1";
  if (!ends_apart_ && text != "0.2")
    throw DataError(place + ": codes of version '" + std::string(text) +
                    "' are not known; 0.1 and 0.2 are");
}

// Of equal pairs the first gives the rank. A token that two pairs make is split, where it must be,
// into the pair whose last place in the file comes first (subword-nmt's dictionaries end up so).
void CodesTable::add(const std::vector<Halves>& pairs) {
  std::unordered_set<uint64_t> seen;
  for (size_t i = pairs.size(); i-- > 0;) {
    const auto& [left, right] = pairs[i];
    const int left_id = number(left), right_id = number(right);
    const uint64_t key = key_of(left_id, right_id);
    merges_[key] = {int(i), number(left + right)};
    if (seen.insert(key).second) halves_[left + right] = pairs[i];
  }
}

int CodesTable::number(const std::string& symbol) {
  return symbols_.try_emplace(symbol, int(symbols_.size())).first->second;
}

int CodesTable::find(const std::string& symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? -1 : found->second;
}

const CodesTable::Merge* CodesTable::find(int left, int right) const {
  if (left < 0 || right < 0) return nullptr;
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

const CodesTable::Halves* CodesTable::halves(const std::string& symbol) const {
  const auto found = halves_.find(symbol);
  return found == halves_.end() ? nullptr : &found->second;
}

size_t first_character_bytes(std::string_view text) {
  size_t end = 0;
  next_code_point(text, end);
  return end;
}

}  // namespace tx
