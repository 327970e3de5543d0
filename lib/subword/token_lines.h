// Lines of text into lines of tokens or ids, and back.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"

namespace tx {

// Changes a line in place; `number` counts lines over all files. A DataError gets the line's place.
using LineMap = std::function<void(std::string& line, int64_t number)>;

// Writes one line for each input line, in order, flushing before it waits. After an error: all
// lines before the first for which `map` throws, for any number of threads.
void map_lines(TextReader& in, int threads, Writer& out, const LineMap& map);

// Tokens, or with `ids` decimal ids, joined by spaces; and the inverse. DataError: no such token.
std::string join_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, bool ids);
std::vector<int> split_tokens(const Vocabulary& vocabulary, std::string_view line, bool ids);

// Decodes lines of tokens, or of ids. DataError as by split_tokens(), with the place of the line.
void decode_lines(TextReader& in, const Vocabulary& vocabulary, bool ids, int threads, Writer& out);

// All tokens in the order of their ids: id, tab, token; for a subword model also tab and score.
void write_listing(const Vocabulary& vocabulary, Writer& out);

struct EncodeOptions {
  bool ids = false;               // decimal ids instead of the tokens' text
  bool bos = false, eos = false;  // begin each line with <s>, end it with </s>
  bool count = false;             // words, bytes and <unk>, for describe(EncodeReport)
  int max_tokens = 0;             // truncates a line, without <s> and </s>; 0: no limit
  MergeDropout dropout;           // keyed by the number of the line over all files
};

struct LineCounts {
  int64_t words = 0, tokens = 0;
  int64_t bytes = 0, unknown = 0;  // byte tokens and <unk>
  bool cut = false;                // truncated to max_tokens
};

// Replaces a line by its tokens. Called from several threads.
using LineTokenizer = std::function<LineCounts(std::string& line, int64_t number)>;

// The vocabulary must outlive the result. UsageError for dropout with a vocabulary without merges.
LineTokenizer line_tokenizer(const Vocabulary& vocabulary, const EncodeOptions& options);

// Totals of all lines, independent of the number of threads.
struct EncodeReport {
  int64_t lines = 0, words = 0, tokens = 0, bytes = 0, unknown = 0;
  int64_t longest = 0, longest_line = 0;  // in tokens, and the number of the line
  int64_t cut_lines = 0, first_cut = 0;   // by max_tokens
};

// Tokenizes by map_lines(), so a program may write a line and wait for the result.
EncodeReport encode_lines(TextReader& in, const LineTokenizer& tokenizer, int threads, Writer& out);

// "3 lines, 12 words, 18 tokens: 1.500 per word, 5.556 % of them bytes, 0.000 % <unk>; ..."
std::string describe(const EncodeReport& report, const TextReader& in);
// The warning about truncated lines.
std::vector<std::string> warnings(const EncodeReport& report, const TextReader& in, int max_tokens);

}  // namespace tx
