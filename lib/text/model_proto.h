// What must be known of a SentencePiece .model file before its bytes are handed to the library.
#pragma once
#include <string>
#include <string_view>

namespace tx {

// Checks that the bytes are a whole ModelProto message (Protocol Buffers wire format) with pieces,
// trainer settings and normaliser settings: a file cut between two fields is still a valid message,
// and SentencePiece would fill in other settings without a word. Throws DataError that begins with
// `where`.
void check_model_proto(std::string_view bytes, const std::string& where);

}  // namespace tx
