// What must be known about a SentencePiece .model file before the library gets its bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// What its settings say.
struct ModelSettings {
  // Byte-pair encoding with byte fallback of words that U+2581 begins; no unused pieces.
  bool bpe = false;
  bool plain_text = false;  // no character is normalised, no space removed
  // Pieces are joined by taking U+2581 for a space, except the first of a line, and nothing else.
  bool plain_join = false;
  std::vector<int> user_pieces;  // ids of the user-defined ones, rising
};

// Checks that the bytes are a whole ModelProto message (Protocol Buffers wire format) with pieces,
// trainer settings and normaliser settings: a file cut between two fields is still a valid message,
// and SentencePiece would silently fill in other settings. The tables of normalisers must not lead
// outside themselves. Throws DataError that begins with `where`.
ModelSettings check_model_proto(std::string_view bytes, const std::string& where);

// What a ModelProto message gets these user-defined pieces by, put behind its bytes.
std::string user_piece_fields(const std::vector<std::string>& texts);

// SentencePiece can find this many user-defined pieces that begin at the same place; with more it
// writes beyond the end of its table.
inline constexpr size_t max_nested_pieces = 64;
// The first text that begins with that many of the others; empty: there is none.
std::string_view nested_too_deep(std::vector<std::string_view> texts);

}  // namespace tx
