// Vocabularies: text to ids and back. Three kinds share one interface and the ids 0 to 3: subword
// models (lib/subword/subword.h), plain words (lib/subword/words.h), and those of converted models
// (lib/subword/mapped.h). Further special tokens: masks and sentinels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/philox.h"

namespace tx {

// BPE-dropout (Provilkov et al., 2020): each time the best merge is chosen, every candidate is
// dropped with a probability. The choice is a pure function of the seed, the epoch and the number
// of the line: it does not depend on threads, on the order of lines or on other lines.
struct MergeDropout {
  double probability = 0;  // 0: no dropout; 1: no merges, only characters
  uint64_t seed = 1;
  uint32_t epoch = 0;  // different epochs segment a line differently
};

// The random choices for one line.
class MergeDraws {
 public:
  // `part` (below 256) separates lines of the same number, such as the sides of parallel text.
  MergeDraws(const MergeDropout& dropout, int64_t line, uint32_t part = 0)
      : dropout_(dropout),
        line_(uint64_t(line)),
        part_(part),
        limit_(uint64_t(dropout.probability * 0x1p32)) {}

  bool drop() {
    if (used_ == 4) draw();
    return now_.word[used_++] < limit_;
  }

 private:
  // Differs from the sites of model dropout, initialisation, sampling and the order of pairs.
  static constexpr uint32_t site = 0x62706564;

  void draw() {
    now_ = Philox::block(uint32_t(dropout_.seed), uint32_t(dropout_.seed >> 32) ^ site, count_++,
                         uint32_t(line_), uint32_t(line_ >> 32) << 8 | part_, dropout_.epoch);
    used_ = 0;
  }

  MergeDropout dropout_;
  uint64_t line_;
  uint32_t part_;
  uint64_t limit_;
  uint32_t count_ = 0;
  int used_ = 4;
  Philox::Block now_{};
};

struct MappedTokens;

class Vocabulary {
 public:
  static constexpr int pad = 0, unk = 1, bos = 2, eos = 3;
  static constexpr int specials = 4;
  static constexpr std::string_view special_names[] = {"<pad>", "<unk>", "<s>", "</s>"};

  virtual ~Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  virtual std::string kind() const = 0;  // "sentencepiece", "words" or "mapped"
  virtual int size() const = 0;
  // Ids of one line of valid UTF-8, without <bos> and <eos>. Replaces `ids`. Thread-safe.
  virtual void encode(std::string_view line, std::vector<int>& ids) const = 0;
  // The first word or character of a line for which encode() has only <unk>, or a language tag that
  // the model does not have; "" if there is none. A word <unk> of a list of words is itself.
  virtual std::string first_unknown(std::string_view line) const = 0;
  // Whether encode() supports BPE-dropout: byte-pair encoding with byte fallback.
  virtual bool has_merges() const { return false; }
  // encode() with BPE-dropout; `draws` belong to this line. A Bug if has_merges() is false.
  virtual void encode(std::string_view line, MergeDraws& draws, std::vector<int>& ids) const;
  // Restricts encode() to the listed tokens, single characters, bytes and user symbols. Not
  // thread-safe. UsageError for a list of words or a converted model.
  virtual void restrict_to(const std::vector<std::string>& tokens);
  // The score of a token: merges with higher scores are done first. No value in a list of words.
  virtual std::optional<float> score(int id) const;
  // Whether the token is a byte, for characters without a token.
  virtual bool is_byte(int id) const;
  // One line of valid UTF-8: the byte token <0x0A> becomes a space, invalid byte sequences U+FFFD;
  // pad, bos and eos are skipped. Ids outside [0, size) are a DataError. Thread-safe.
  virtual std::string decode(std::span<const int> ids) const = 0;
  // The text of a token; in vocabularies made by tx it has no space and no control character, so
  // tokens can be joined by spaces and split again. Outside [0, size): DataError.
  virtual std::string token(int id) const = 0;
  // The bytes that a token adds to a text: a space for U+2581 and before a word of a list, one byte
  // for a byte token, none for special tokens. Joined, those of an output are its decode(), but for
  // one space at the beginning. Outside [0, size): DataError.
  virtual std::string token_bytes(int id) const = 0;
  // The id of a token, -1 if there is no such token.
  virtual int id_of(std::string_view token) const = 0;
  // The tokens of a converted model (lib/subword/mapped.h); null for other vocabularies.
  virtual const MappedTokens* mapped() const { return nullptr; }

  std::vector<std::string> tokens(std::span<const int> ids) const;
  // The file's content, which model files store and parse_vocabulary() reads.
  const std::string& bytes() const { return bytes_; }
  std::string hash() const;     // XXH3 of bytes(), 16 hexadecimal digits
  void check_id(int id) const;  // DataError: outside [0, size)

 protected:
  explicit Vocabulary(std::string bytes) : bytes_(std::move(bytes)) {}

 private:
  std::string bytes_;
};

// The vocabularies of a model or of a corpus, one per side.
class Vocabularies {
 public:
  using Pointer = std::shared_ptr<const Vocabulary>;
  Vocabularies() = default;
  // In the order of the sides, not null. Sides may share one object.
  Vocabularies(std::vector<Pointer> sides) : sides_(std::move(sides)) {}
  // One vocabulary for `sides` sides.
  Vocabularies(const Pointer& all, size_t sides) : sides_(sides, all) {}

  size_t size() const { return sides_.size(); }
  const Vocabulary& operator[](size_t side) const { return *sides_.at(side); }
  const Pointer& pointer(size_t side) const { return sides_.at(side); }
  const Vocabulary& source() const { return *sides_.front(); }  // of the first side
  const Vocabulary& target() const { return *sides_.back(); }   // of the side that is predicted
  // Whether all sides have the same vocabulary, byte for byte.
  bool shared() const {
    return std::all_of(sides_.begin(), sides_.end(),
                       [&](const Pointer& v) { return v->bytes() == source().bytes(); });
  }
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> sizes;
    for (const Pointer& v : sides_) sizes.push_back(v->size());
    return sizes;
  }

 private:
  std::vector<Pointer> sides_;
};

// Reads a vocabulary of any kind, detected by content. Damaged bytes, or a subword model with
// other special ids, are a DataError that begins with `where` (the file's name).
std::unique_ptr<Vocabulary> load_vocabulary(const std::string& path);
std::unique_ptr<Vocabulary> parse_vocabulary(std::string bytes, const std::string& where);

// UsageError if has_merges() is false; `option` is the one that needs merges.
void check_has_merges(const Vocabulary& vocabulary, const std::string& option);

// A warning if the vocabulary has fewer than the `wanted` entries.
std::vector<std::string> describe_shortfall(const Vocabulary& vocabulary, int wanted);

// The token for a masked position of a masked language model: <pad>, which does not occur in text.
inline constexpr int mask_token = Vocabulary::pad;
inline constexpr char mask_text[] = "<mask>";  // in input lines whose masks are to be filled

// With tokens appended, which encode() then finds before it splits the text, the longest match
// first; in a list of words they are words. DataError: SentencePiece does not support them.
Vocabularies::Pointer with_tokens(const Vocabularies::Pointer& vocabulary,
                                  const std::vector<std::string>& tokens);

// Sentinels stand for masked spans: <extra_id_0>, <extra_id_1> ..., as in T5 (Raffel et al., 2020).
// They are user symbols of a subword model, or words.
inline constexpr char sentinel_begin[] = "<extra_id_";
inline constexpr int added_sentinels = 100;
std::string sentinel_text(int number);
// Their ids from <extra_id_0> up to the first that is missing.
std::vector<int> sentinels_of(const Vocabulary& vocabulary);
// With added_sentinels sentinels appended, unless it has some. UsageError: impossible.
Vocabularies::Pointer with_sentinels(const Vocabularies::Pointer& vocabulary);

}  // namespace tx
