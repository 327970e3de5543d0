// The vocabulary of a model of another toolkit: a list of tokens and a SentencePiece model.
#include "lib/subword/mapped.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  tx::MappedTokens content;
  content.tokens = {"<pad>",
                    "<unk>",
                    "<s>",
                    "</s>",
                    "\xE2\x96\x81"
                    "a",
                    "<0x0A>",
                    ">>x<<"};
  content.controls = {6};
  content.bytes = content.tags = true;
  content.prefix = {6};
  content.forbidden = {1};
  content.first = 4;
  content.languages = {4, 6};
  content.closing = {3, 6};
  content.model = subword_bytes();
  return {tx::mapped_bytes(content)};
}

void run(std::string_view bytes) {
  const auto vocabulary = tx::parse_vocabulary(std::string(bytes), "F");
  std::vector<int> ids;
  for (const char* line : {"", "a b", ">>x<< a", ">>x"}) {
    vocabulary->encode(line, ids);
    vocabulary->decode(ids);
  }
  for (int id = 0; id < vocabulary->size(); ++id)
    require(vocabulary->id_of(vocabulary->token(id)) >= 0, "a token has an id");
}

}  // namespace tx_fuzz
