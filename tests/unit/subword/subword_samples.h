// Text to train a subword model on, and lines to try it with.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/philox.h"
#include "lib/base/utf8.h"
#include "lib/subword/subword.h"

namespace tx {

inline std::vector<std::string> sample_text() {
  std::vector<std::string> lines;
  const char* const nouns[] = {"dog", "house", "Straße", "river", "Übung", "child", "machine"};
  const char* const verbs[] = {"running", "sleeping", "walking", "geht", "spielen", "jumped"};
  PhiloxStream random(7, 1);
  for (int i = 0; i < 3000; ++i) {
    lines.push_back(std::string("the ") + nouns[random.next() % 7] + " is " +
                    verbs[random.next() % 6] + " near " + std::to_string(random.next() % 500) +
                    " " + nouns[random.next() % 7] + "s.");
  }
  return lines;
}

// The bytes of a model trained on these lines.
inline std::string train(const std::vector<std::string>& lines, int size = 400, int threads = 2,
                         std::vector<std::string> user_symbols = {}) {
  SubwordTraining options;
  options.vocab_size = size;
  options.user_symbols = std::move(user_symbols);
  return train_subword(count_words(source_of(lines), threads), options);
}

inline std::vector<int> encoded(const Vocabulary& vocabulary, std::string_view line) {
  std::vector<int> ids = {99};
  vocabulary.encode(line, ids);
  return ids;
}

inline std::string joined_bytes(const Vocabulary& vocabulary, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) text += vocabulary.token_bytes(id);
  return text;
}

// Spaces, control characters, SentencePiece's own signs, words of the text, and characters of all
// planes.
inline std::string random_line(PhiloxStream& random) {
  static constexpr std::string_view often[] = {
      " ", "  ",     "\t", "\r",  "▁",     "the",  "dog",   "\xF4\x8F\xBF\xBD",
      "😀", "\u2028", "é",  "<s>", "<unk>", "</s>", "<0x41>"};
  std::string line;
  const int length = int(random.next() % 24);
  for (int i = 0; i < length; ++i) {
    if (random.next() % 2 == 0) {
      line += often[random.next() % std::size(often)];
      continue;
    }
    const uint32_t planes[] = {0x80, 0x800, 0x10000, 0x110000};
    const char32_t c = random.next() % planes[random.next() % 4];
    append_code_point(line, c == '\n' || (c >= 0xD800 && c < 0xE000) ? U'x' : c);
  }
  return line;
}

}  // namespace tx
