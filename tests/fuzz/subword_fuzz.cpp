// A vocabulary: a SentencePiece model or a word list; what is accepted encodes and decodes.
#include "lib/base/utf8.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() { return {word_list()->bytes(), subword_bytes()}; }

void run(std::string_view bytes) {
  const auto vocabulary = tx::parse_vocabulary(std::string(bytes), "vocabulary");
  std::vector<int> ids;
  for (const char* text : {"", " ",
                           "the mouse in the Stra\xC3\x9F"
                           "e",
                           "w4  w5 <s> </s>", "\xE2\x96\x81 \xF0\x9F\x98\x80\t\r", "<0x0A>"}) {
    vocabulary->encode(text, ids);
    for (const int id : ids) require(id >= 0 && id < vocabulary->size(), "an id of the vocabulary");
    require(tx::count_invalid_utf8(vocabulary->decode(ids)) == 0, "decoded text is UTF-8");
  }
  ids.clear();
  for (int id = 0; id < vocabulary->size() && id < 1000; ++id) {
    ids.push_back(id);
    require(vocabulary->id_of(vocabulary->token(id)) < vocabulary->size(), "the id of a token");
  }
  const std::string text = vocabulary->decode(ids);
  require(text.find('\n') == text.npos, "decoded text is one line");
  require(tx::count_invalid_utf8(text) == 0, "decoded text is UTF-8");
}

}  // namespace tx_fuzz
