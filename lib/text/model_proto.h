// What must be known of a SentencePiece .model file before its bytes are handed to the library.
#pragma once
#include <string>
#include <string_view>

namespace tx {

// What the settings inside say.
struct ModelSettings {
  // Byte-pair encoding with byte fallback whose text is only parted by spaces and prefixed by one:
  // no normalisation, no user-defined or unused pieces.
  bool plain_bpe = false;
};

// Checks that the bytes are a whole ModelProto message (Protocol Buffers wire format) with pieces,
// trainer settings and normaliser settings: a file cut between two fields is still a valid message,
// and SentencePiece would fill in other settings without a word. The tables of normalisers must
// lead nowhere outside themselves. Throws DataError that begins with `where`.
ModelSettings check_model_proto(std::string_view bytes, const std::string& where);

}  // namespace tx
