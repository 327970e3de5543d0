// Checks of a SentencePiece .model file before SentencePiece reads it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

struct ModelPiece {
  enum Type : uint64_t { normal = 1, unknown, control, user_defined, unused, byte };
  std::string_view text;
  float score = 0;
  uint64_t type = normal;
};

struct SentencePieceSettings {
  // Byte-pair encoding with byte fallback of words that begin with U+2581; no unused pieces.
  bool bpe = false;
  bool plain_text = false;  // no normalisation, spaces are kept
  // Decoding only replaces U+2581 by a space, except at the beginning of a line.
  bool plain_join = false;
  // SentencePiece accepts the model if its pieces differ, and adds nothing to the above: <pad>,
  // <unk>, <s>, </s>, one unknown piece, a piece for each byte, no empty piece, no self-test.
  bool plain = false;
  std::vector<ModelPiece> pieces;  // by id; their texts are views of the model's bytes
};

// Checks that the bytes are a complete ModelProto message with pieces, trainer and normaliser
// settings: SentencePiece would silently use defaults for a truncated file. The tables of
// normalisers must not refer outside themselves. Throws DataError that begins with `where`.
SentencePieceSettings check_model_proto(std::string_view bytes, const std::string& where);

// The bytes to append to a ModelProto message to add these user-defined pieces.
std::string user_piece_fields(const std::vector<std::string>& texts);

// A ModelProto message of byte-pair encoding as Llama's: no normalisation, spaces are kept; with
// `prefix` one is put before the text. The higher a piece's score, the earlier its merge.
std::string bpe_model(const std::vector<ModelPiece>& pieces, bool byte_fallback, bool prefix);

// SentencePiece writes beyond its table if more user-defined pieces begin at a position.
inline constexpr size_t max_nested_pieces = 64;
// The first text that begins with that many of the others, or empty.
std::string_view nested_too_deep(std::vector<std::string_view> texts);

}  // namespace tx
