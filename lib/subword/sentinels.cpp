#include "lib/subword/sentinels.h"

#include "lib/base/error.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/words.h"

namespace tx {

std::string sentinel_text(int number) { return sentinel_begin + std::to_string(number) + ">"; }

std::vector<int> sentinels_of(const Vocabulary& vocabulary) {
  std::vector<int> ids;
  for (int id; (id = vocabulary.id_of(sentinel_text(int(ids.size())))) >= 0;) ids.push_back(id);
  return ids;
}

Vocabularies::Pointer with_sentinels(const Vocabularies::Pointer& vocabulary) {
  if (!sentinels_of(*vocabulary).empty()) return vocabulary;
  std::vector<std::string> texts;
  for (int i = 0; i < added_sentinels; ++i) texts.push_back(sentinel_text(i));
  std::string bytes = vocabulary->bytes();
  if (bytes.starts_with(words_magic))
    for (const std::string& text : texts) bytes += text + "\n";
  else if (vocabulary->kind() == "sentencepiece")
    bytes += user_piece_fields(texts);
  else
    throw UsageError("this vocabulary has no tokens " + texts[0] + ", " + texts[1] +
                     " and on, and none can be added to it");
  return parse_vocabulary(std::move(bytes), "the vocabulary with " + texts.front());
}

}  // namespace tx
