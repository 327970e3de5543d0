// Files of tx-shortlist(5): tables that are accepted, written and read again are the same.
#include "lib/base/error.h"
#include "lib/subword/lexical_table.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

const tx::Vocabulary& model() {
  static const auto one = tx::parse_vocabulary(subword_bytes(), "model");
  return *one;
}

std::string written(const tx::LexicalTable& table) {
  static MemoryFile out;
  out.fill("");
  tx::Writer writer(out.path());
  tx::write_lexical_table(table, model(), model(), writer);
  writer.close();
  return std::string(out.content());
}

}  // namespace

std::vector<std::string> seeds() {
  return {"\t<0x41>\t0.5\n<0x42>\t<0x41>\t1\n",
          "<0x41>\t<0x42>\t1e-7\n<0x41>\t<0x41>\t0.25\n\t</s>\t1"};
}

void run(std::string_view bytes) {
  static MemoryFile in;
  tx::LexicalTable table = tx::read_lexical_table(in.fill(bytes), model(), model());
  table.keep_best(5, 3);
  require(table.frequent.size() <= 5, "at most 5 frequent tokens");
  for (const auto& entries : table.of_source) {
    require(entries.size() <= 3, "at most 3 entries");
    for (size_t i = 1; i < entries.size(); ++i)
      require(entries[i - 1].probability >= entries[i].probability, "the most probable first");
  }
  std::string text = written(table), before;
  for (int i = 0; i < 2 && !text.empty(); ++i) {  // only the first time rounds
    before = text;
    table = tx::read_lexical_table(in.fill(text), model(), model());
    table.keep_best(5, 3);
    text = written(table);
  }
  require(text == before, "what is written comes back");
}

}  // namespace tx_fuzz
