// Lines of text into lines of tokens or ids: the options, and a report.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/subword/merge_dropout.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"

namespace tx {

struct EncodeOptions {
  bool ids = false;               // decimal ids instead of the tokens' text
  bool bos = false, eos = false;  // begin each line with <s>, end it with </s>
  bool count = false;             // words, bytes and <unk>, for describe(EncodeReport)
  int max_tokens = 0;             // of a line, <s> and </s> not counted; 0: all
  MergeDropout dropout;           // keyed by the number of the line over all files
};

struct LineCounts {
  int64_t words = 0, tokens = 0, bytes = 0;  // bytes: tokens that stand for one
  int64_t unknown = 0;                       // tokens that are <unk>
  bool cut = false;                          // max_pieces cut the line
};

// Replaces a line, whose number is given, by its tokens. Called from several threads.
using LineEncoder = std::function<LineCounts(std::string& line, int64_t number)>;

// The vocabulary must outlive it. Dropout with a vocabulary without merges: UsageError.
LineEncoder line_encoder(const Vocabulary& vocabulary, const EncodeOptions& options);

// Totals of all lines. They do not depend on the number of threads.
struct EncodeReport {
  int64_t lines = 0, words = 0, tokens = 0, bytes = 0, unknown = 0;
  int64_t longest = 0, longest_line = 0;  // tokens, and its number
  int64_t cut_lines = 0, first_cut = 0;   // by max_pieces
};

// One line out for each line in, in order. It writes what has arrived before it waits for more, so
// that a program may write a line to it and wait for the answer.
EncodeReport encode_lines(TextReader& in, const LineEncoder& encoder, int threads, Writer& out);

// "3 lines, 12 words, 18 tokens: 1.500 per word, 5.556 % of them bytes, 0.000 % <unk>; longest line
// FILE:2, 9 tokens".
std::string describe(const EncodeReport& report, const TextReader& in);
// The warning about lines that were cut.
std::vector<std::string> warnings(const EncodeReport& report, const TextReader& in, int max_tokens);

}  // namespace tx
