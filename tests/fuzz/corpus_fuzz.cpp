// Corpus text, plain or gzip: its lines and words.
#include <zlib.h>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/words.h"
#include "lib/text/corpus.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

std::string gzip(std::string text) {
  std::string out(200, '\0');
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(text.data());
  z.avail_in = unsigned(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = unsigned(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

std::vector<std::string> seeds() {
  return {"",
          "a\n",
          "the house\r\n\nStra\xC3\x9F"
          "e",
          std::string("a\0b\n", 4),
          "\xFF\xC3\n\xED\xA0\x80 \xE2\x80\xA8x\n",
          gzip("the house\nan end\n"),
          gzip("a\n") + gzip("b\n")};
}

void run(std::string_view bytes) {
  static MemoryFile file;
  static const auto words = word_list();
  tx::TextReader reader({file.fill(bytes)});
  std::vector<int> ids;
  int64_t lines = 0;
  for (std::string line; reader.next(line); ++lines) {
    require(line.find('\n') == line.npos, "a line has no line break");
    require(tx::count_invalid_utf8(line) == 0, "a line is UTF-8");
    words->encode(line, ids);
  }
  require(reader.line_number() == lines, "lines are counted");
  reader.warnings();
  tx::TextReader strict({file.path()}, true);
  try {
    tx::count_words([&](std::string& line) { return strict.next(line); }, 1);
  } catch (const tx::DataError&) {
  }
}

}  // namespace tx_fuzz
