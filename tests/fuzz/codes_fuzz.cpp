// subword-nmt's codes and vocabularies, which tx-bpe encode --codes reads. Three parts, separated
// by form feeds: codes, vocabulary, text to segment.
#include "lib/base/utf8.h"
#include "lib/subword/subword_nmt/codes.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  return {"#version: 0.2\nl o\nlo w\nlow e\nlowe r</w>\nl o</w>\n\flow@@ 5\nlo@@ 2\n\flower low lo",
          "a b\nab </w>\nab ab\n\fabab 3\na@@\n\fabab  ab \xC3\xA9 ",
          "#version: 0.1\r\ns s\n\xC3\x9F e\n\xC3\x9F"
          "e </w>\n\fss@@\t7\n\fStra\xC3\x9F"
          "e \xE2\x80\xA8 a@@ b\r"};
}

void run(std::string_view bytes) {
  static MemoryFile codes_file, vocabulary_file;
  const auto part = [&] {
    const size_t end = std::min(bytes.find('\f'), bytes.size());
    const std::string_view before = bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), end + 1));
    return before;
  };
  codes_file.fill(part());
  tx::CodesOptions options;
  const std::string_view vocabulary = part();
  if (!vocabulary.empty()) options.vocabulary = vocabulary_file.fill(vocabulary);
  options.threshold = 1;
  std::string text(bytes.substr(0, bytes.find('\n')));
  tx::repair_utf8(text);

  const tx::Codes codes(codes_file.path(), options);
  for (const double dropout : {0.0, 0.5}) {
    tx::MergeDraws draws({.probability = dropout}, 1);
    tx::LineCounts counts;
    const std::string cut = codes.apply(text, dropout > 0 ? &draws : nullptr, counts);
    require(tx::count_invalid_utf8(cut) == 0, "pieces are UTF-8");
    require(cut.find('\n') == cut.npos, "pieces are one line");
    tx::join_separated(cut, options.separator);
  }
}

}  // namespace tx_fuzz
