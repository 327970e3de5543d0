// Subword tokens and ids as text, as tx-bpe decode and tx-decode --pieces and --ids read them.
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/token_lines.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

const tx::Vocabulary& model() {
  static const auto one = tx::parse_vocabulary(subword_bytes(), "model");
  return *one;
}

void read(std::string_view bytes, bool ids) {
  const std::vector<int> found = tx::split_tokens(model(), bytes, ids);
  for (const int id : found) require(id >= 0 && id < model().size(), "an id of the vocabulary");
  const std::string text = model().decode(found);
  require(text.find('\n') == text.npos, "decoded text is one line");
  require(tx::count_invalid_utf8(text) == 0, "decoded text is UTF-8");
  const std::string joined = tx::join_tokens(model(), found, ids);
  require(tx::split_tokens(model(), joined, ids) == found, "pieces come back");
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> out = {"4 5  299", "0 1 2 3 259 260"};
  for (const char* text : {"the houses there",
                           "Stra\xC3\x9F"
                           "e \xE2\x96\x81 \xF0\x9F\x98\x80"}) {
    std::vector<int> ids;
    model().encode(text, ids);
    out.push_back(tx::join_tokens(model(), ids, false));
    out.push_back(tx::join_tokens(model(), ids, true));
  }
  return out;
}

// Text, too: valid UTF-8 is returned unchanged.
void run(std::string_view bytes) {
  std::string text(bytes.substr(0, bytes.find('\n')));
  try {
    read(text, true);
  } catch (const tx::DataError&) {
  }
  tx::repair_utf8(text);
  std::vector<int> ids;
  model().encode(text, ids);
  require(model().decode(ids) == text, "text comes back");
  try {
    read(text, false);
  } catch (const tx::DataError&) {
  }
}

}  // namespace tx_fuzz
