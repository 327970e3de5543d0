#include "lib/convert/families/word_pieces.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "lib/base/utf8.h"
#include "lib/subword/words.h"

namespace tx {

std::string word_list(const std::vector<std::string>& tokens) {
  static const char* specials[] = {"<pad>", "<unk>", "<s>", "</s>"};
  std::set<std::string> known(std::begin(specials), std::end(specials));
  std::string bytes(words_magic);
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string word = tokens[id];
    if (id < std::size(specials)) {
      word = specials[id];
    } else {
      if (word.empty() || std::any_of(word.begin(), word.end(), separates_words) ||
          count_invalid_utf8(word) > 0)
        word = "<row-" + std::to_string(id) + ">";
      while (!known.insert(word).second) word += '_';
    }
    bytes += word + "\n";
  }
  return bytes;
}

}  // namespace tx
