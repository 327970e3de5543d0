#include "lib/subword/encode.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "lib/base/figure.h"
#include "lib/subword/filter.h"
#include "lib/subword/piece_shares.h"
#include "lib/subword/word_count.h"

namespace tx {
namespace {

int64_t words_of(std::string_view line) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : line) {
    words += !inside && !separates_words(c);
    inside = !separates_words(c);
  }
  return words;
}

LineCounts encode_line(const Vocabulary& vocabulary, const EncodeOptions& options,
                       std::string& line, int64_t number) {
  LineCounts counts;
  std::vector<int> ids;
  if (options.count) counts.words = words_of(line);
  if (options.dropout.probability > 0) {
    MergeDraws draws(options.dropout, number);
    vocabulary.encode(line, draws, ids);
  } else {
    vocabulary.encode(line, ids);
  }
  counts.cut = options.max_tokens > 0 && ids.size() > size_t(options.max_tokens);
  if (counts.cut) ids.resize(size_t(options.max_tokens));
  counts.tokens = int64_t(ids.size());
  if (options.count) {
    TokenShares shares;
    shares.add(ids, vocabulary);
    counts.bytes = shares.bytes;
    counts.unknown = shares.unknown;
  }
  if (options.bos) ids.insert(ids.begin(), Vocabulary::bos);
  if (options.eos) ids.push_back(Vocabulary::eos);
  line = join_tokens(vocabulary, ids, options.ids);
  return counts;
}

void add(EncodeReport& report, const LineCounts& counts, int64_t number) {
  ++report.lines;
  report.words += counts.words;
  report.tokens += counts.tokens;
  report.bytes += counts.bytes;
  report.unknown += counts.unknown;
  if (counts.tokens > report.longest ||
      (counts.tokens == report.longest && counts.tokens > 0 && number < report.longest_line)) {
    report.longest = counts.tokens;
    report.longest_line = number;
  }
  if (!counts.cut) return;
  report.first_cut = report.cut_lines == 0 ? number : std::min(report.first_cut, number);
  ++report.cut_lines;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

LineEncoder line_encoder(const Vocabulary& vocabulary, const EncodeOptions& options) {
  if (options.dropout.probability > 0) check_has_merges(vocabulary, "--bpe-dropout");
  return [&vocabulary, options](std::string& line, int64_t number) {
    return encode_line(vocabulary, options, line, number);
  };
}

EncodeReport encode_lines(TextReader& in, const LineEncoder& encoder, int threads, Writer& out) {
  EncodeReport report;
  std::mutex lock;
  map_lines(in, threads, out, [&](std::string& line, int64_t number) {
    const LineCounts counts = encoder(line, number);
    const std::lock_guard guard(lock);
    add(report, counts, number);
  });
  return report;
}

std::string describe(const EncodeReport& report, const TextReader& in) {
  const auto share = [](int64_t part, int64_t whole) {
    return double(part) / double(std::max<int64_t>(1, whole));
  };
  std::string text = counted(report.lines, "line") + ", " + counted(report.words, "word") + ", " +
                     counted(report.tokens, "token") + ": " +
                     fixed(share(report.tokens, report.words), 3) + " per word, " +
                     fixed(100 * share(report.bytes, report.tokens), 3) + " % of them bytes, " +
                     fixed(100 * share(report.unknown, report.tokens), 3) + " % <unk>";
  if (report.longest > 0)
    text +=
        "; longest line " + in.place(report.longest_line) + ", " + counted(report.longest, "token");
  return text;
}

std::vector<std::string> warnings(const EncodeReport& report, const TextReader& in,
                                  int max_tokens) {
  if (report.cut_lines == 0) return {};
  std::string text = in.place(report.first_cut) + ": cut after " + counted(max_tokens, "token") +
                     " (--max-length)";
  if (report.cut_lines > 1)
    text += " (the first of " + std::to_string(report.cut_lines) + " such lines)";
  return {text};
}

}  // namespace tx
