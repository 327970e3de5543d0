#include "lib/subword/words.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/philox.h"
#include "lib/base/utf8.h"
#include "lib/base/workers.h"

namespace tx {

namespace {

constexpr size_t words_block_bytes = size_t(1) << 20;

template <class F>
void each_word(std::string_view line, F&& f) {
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t begin = i;
    while (i < line.size() && !separates_words(line[i])) ++i;
    if (i > begin) f(line.substr(begin, i - begin));
  }
}

// Replaces the block's lines by its distinct words with counts: one update per word and block.
void count_words_of(Block& block) {
  WordCounts counts;
  std::string word;
  for (const std::string& line : block.lines)
    each_word(line, [&](std::string_view next) { ++counts[word.assign(next)]; });
  block.lines.clear();
  for (const auto& [text, count] : counts)
    block.lines.push_back(text + '\n' + std::to_string(count));
}

constexpr uint32_t sample_site = 0x73616D70;  // differs from other uses of the seed

bool is_special(std::string_view word) {
  return std::ranges::count(Vocabulary::special_names, word) > 0;
}

class Words final : public Vocabulary {
 public:
  Words(std::string bytes, const std::string& where) : Vocabulary(std::move(bytes)) {
    std::string_view rest = this->bytes();
    rest.remove_prefix(words_magic.size());
    if (count_invalid_utf8(rest) > 0) throw DataError(where + ": the word list is not valid UTF-8");
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      const std::string line_name = where + ":" + std::to_string(words_.size() + 2);
      if (end == rest.npos) throw DataError(line_name + ": the last line is incomplete");
      add(rest.substr(0, end), line_name);
      rest.remove_prefix(end + 1);
    }
    if (size() < specials) throw DataError(where + ": the word list is truncated");
  }

  std::string kind() const override { return "words"; }
  int size() const override { return int(words_.size()); }

  void encode(std::string_view line, std::vector<int>& ids) const override {
    ids.clear();
    each_word(line, [&](std::string_view word) {
      const int id = id_of(word);
      ids.push_back(id < specials ? unk : id);  // text cannot forge <s>, </s> or <pad>
    });
  }

  std::string first_unknown(std::string_view line) const override {
    std::string unknown;
    each_word(line, [&](std::string_view word) {
      const bool known = id_of(word) >= specials || word == special_names[unk];
      if (!known && unknown.empty()) unknown = word;
    });
    return unknown;
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    for (const int id : ids) {
      check_id(id);
      if (id == pad || id == bos || id == eos) continue;
      if (!text.empty()) text += ' ';
      text += words_[id];
    }
    return text;
  }

  std::string token(int id) const override {
    check_id(id);
    return std::string(words_[id]);
  }

  std::string token_bytes(int id) const override {
    check_id(id);
    if (id == pad || id == bos || id == eos) return "";
    return " " + std::string(words_[id]);
  }

  int id_of(std::string_view token) const override {
    const auto found = ids_.find(token);
    return found == ids_.end() ? -1 : found->second;
  }

 private:
  void add(std::string_view word, const std::string& line_name) {
    const size_t id = words_.size();
    if (id < specials && word != special_names[id])
      throw DataError(line_name + ": expected " + std::string(special_names[id]));
    if (word.empty() || std::any_of(word.begin(), word.end(), separates_words))
      throw DataError(line_name +
                      ": a word is empty or contains white space or control characters");
    if (!ids_.emplace(word, int(id)).second)
      throw DataError(line_name + ": the word " + std::string(word) + " occurs twice");
    words_.push_back(word);
  }

  std::vector<std::string_view> words_;  // into bytes()
  std::unordered_map<std::string_view, int> ids_;
};

}  // namespace

WordCounts count_words(const LineSource& lines, int threads) {
  WordCounts counts;
  std::string line, word;
  const auto read = [&](Block& block) {
    block.lines.clear();
    for (size_t bytes = 0; bytes < words_block_bytes && lines(line); bytes += line.size() + 1)
      block.lines.push_back(line);
    return !block.lines.empty();
  };
  const auto merge = [&](const Block& block) {
    for (const std::string& entry : block.lines) {
      const size_t end = entry.find('\n');
      counts[word.assign(entry, 0, end)] += std::stoll(entry.substr(end + 1));
    }
  };
  ordered_workers(threads, read, count_words_of, merge);
  return counts;
}

std::vector<std::string> sample_lines(const LineSource& lines, int64_t size, uint64_t seed) {
  PhiloxStream random(seed, sample_site);
  std::vector<std::string> sample;
  std::string line;
  for (uint64_t count = 1; lines(line); ++count) {
    if (count <= uint64_t(size)) {
      sample.push_back(line);
      continue;
    }
    const uint64_t high = random.next(), low = random.next();
    const uint64_t place = (high << 32 | low) % count;  // the bias is below 2^-20 for 2^44 lines
    if (place < uint64_t(size)) sample[place].swap(line);
  }
  return sample;
}

LineSource source_of(const std::vector<std::string>& lines) {
  return [&lines, i = size_t(0)](std::string& line) mutable {
    if (i == lines.size()) return false;
    line = lines[i++];
    return true;
  };
}

std::string train_words(const WordCounts& counts, int size) {
  std::vector<std::pair<std::string_view, int64_t>> order;
  for (const auto& [word, count] : counts)
    if (!is_special(word)) order.emplace_back(word, count);
  if (order.empty()) throw DataError("the text has no words");
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (size > 0 && order.size() + Vocabulary::specials > size_t(size))
    order.resize(std::max(size - Vocabulary::specials, 0));
  std::string text(words_magic);
  for (const std::string_view name : Vocabulary::special_names) text.append(name) += '\n';
  for (const auto& [word, count] : order) text.append(word) += '\n';
  return text;
}

std::unique_ptr<Vocabulary> parse_words(std::string bytes, const std::string& where) {
  return std::make_unique<Words>(std::move(bytes), where);
}

}  // namespace tx
