// Translates a stream of lines in order. When the input pauses, the lines read so far are
// translated, written and flushed. Memory use does not grow with the input.
#pragma once
#include <functional>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/search/lines/line_progress.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// Sums over the best outputs of all lines.
struct ScoredText {
  double log_p = 0;
  int64_t labels = 0;  // tokens and ends
  // Lines left out because only their source is blank: log P is minus infinity.
  int64_t impossible = 0;
  int64_t dropped = 0;  // other lines that are left out: Line::dropped
};

// "log P -1234.5 over 600 tokens, ends counted: perplexity 7.826", and the lines left out.
std::string describe_scored(const ScoredText& scored);

// The vectors of a model of kind encoder in a safetensors file: an array, vectors, with a row for
// each line. The file is written as they are computed.
class VectorFile {
 public:
  VectorFile(const std::string& path, const ModelSet& models)
      : rows_(path), width_(models.transformers().front()->config().d_model) {}
  void add(std::vector<float> vector) {
    vector.resize(size_t(width_));  // zeros for a blank line
    rows_.add({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)});
  }
  void close() { rows_.close("vectors", "F32", {width_}, {{"format", "tx-vectors"}}); }

 private:
  RowSpool rows_;
  int64_t width_;
};

struct StreamOutput {
  Writer& lines;
  Writer* status = nullptr;          // for a record per line, tx-status(5); null: none are written
  LineProgress* progress = nullptr;  // counts finished lines
  // If set: changes the outputs of a line before they are written. Called on several threads.
  std::function<void(Translation&)> rank = {};
  // If set: returns a further column for each output. Called on several threads.
  std::function<std::string(const Source&, const TokenHypothesis&)> column = {};
  // For LineOptions::markup and glossary: the source token that each output token is aligned to.
  std::function<std::vector<int64_t>(const Source&, const TokenHypothesis&)> align = {};
  ScoredText* scored = nullptr;   // if set: receives the sums, added in the order of the lines
  VectorFile* vectors = nullptr;  // if set: receives the outputs, instead of `lines`
};

// Warns of lines that are cut. The second text of `in`, if any, has the translations to score
// (SearchOptions::forced_target) or the required phrases. An input error (--strict, a word that is
// not a token, texts of different length) is rethrown after the lines before it are written.
void translate_stream(LinePairs& in, const Translator& translator, const LineOptions& options,
                      const StreamOutput& out, const Log& log);

// Writes the same bytes as translate_stream(), but continues prompts one after another and writes
// each token as soon as it is generated. Needs greedy search or sampling of one output.
void continue_live(LinePairs& in, const Translator& translator, const LineOptions& options,
                   Writer& out, const Log& log);

// Opens the FILE of --status, or the file descriptor, which the caller opened. Null for "".
std::unique_ptr<Writer> open_status(const std::string& place);

}  // namespace tx
