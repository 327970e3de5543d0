// The tokens of a subword model by id and by text, and their joining, faster than SentencePiece's.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tx {

// Hash tables from text to a number with lookup by std::string_view.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

using TextIds = std::unordered_map<std::string, int, TextHash, std::equal_to<>>;

// U+2581, SentencePiece's space.
constexpr std::string_view space_sign = "\xE2\x96\x81";

// A token without the sign at its beginning, unless that is all.
inline std::string without_sign(std::string_view token) {
  const bool more = token.size() > space_sign.size() && token.starts_with(space_sign);
  return std::string(token.substr(more ? space_sign.size() : 0));
}

// Whether it is the name of a byte token as SentencePiece writes it: <0x0A>.
inline bool names_byte(std::string_view text) {
  return text.size() == 6 && text.starts_with("<0x") && text.ends_with('>') &&
         text.find_first_not_of("0123456789ABCDEF", 3) == 5;
}

class TokenTable {
 public:
  // user: matches wherever its text occurs; control: <s> etc., without text.
  enum class Kind : uint8_t { normal, user, byte, control, unknown };

  // Adds a token with the next id. The text of a byte token is its name, such as <0xE2>.
  void add(std::string_view text, Kind kind, float score);

  int size() const { return int(entries_.size()); }
  std::string_view text(int id) const {  // until the next add()
    const Entry& e = entries_[size_t(id)];
    return {characters_.data() + e.begin, e.size};
  }
  Kind kind(int id) const { return entries_[size_t(id)].kind; }
  char byte(int id) const { return entries_[size_t(id)].byte; }  // of a byte token
  // What the token adds to a text; empty for control and unknown.
  std::string bytes(int id) const;
  float score(int id) const { return entries_[size_t(id)].score; }
  int id_of(std::string_view text) const;  // -1: no such token
  int byte_id(char byte) const { return byte_ids_[static_cast<unsigned char>(byte)]; }

  // U+2581 becomes a space, or nothing at the beginning of the line; invalid bytes become U+FFFD.
  // No value if there is a token of kind unknown, whose text the model defines.
  std::optional<std::string> join(std::span<const int> ids) const;

 private:
  // characters_ has the text, then its surface (spaces instead of U+2581) unless that is the same.
  struct Entry {
    size_t begin;  // in characters_
    uint32_t size, surface_size;
    float score;
    Kind kind;
    char byte;
    bool same;
  };

  std::string_view surface(const Entry& e) const {
    return {characters_.data() + e.begin + (e.same ? 0 : e.size), e.surface_size};
  }
  // Of the token with this text, or the free one for it.
  size_t slot_of(std::string_view text) const;
  void grow();

  std::vector<Entry> entries_;
  std::string characters_;
  std::vector<int> slots_;  // open addressing: ids, -1: free; the size is a power of two
  std::vector<int> byte_ids_ = std::vector<int>(256, -1);
};

}  // namespace tx
