// Runs a model of kind encoder on lines: vectors, or the tokens at masks. Batch-invariant.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/search/engine/translator.h"
#include "lib/text/corpus.h"

namespace tx {

struct EncodingOptions {
  std::string embed;    // "mean" or "first"; "": fill masks
  std::string vectors;  // safetensors file for the vectors; "": write them as text
};

// The result for one line; empty for a blank line.
struct EncodedLine {
  std::vector<float> vector;  // D
  struct Filled {
    int token;
    double probability;
  };
  std::vector<std::vector<Filled>> masks;  // candidates for each mask, best first
};

// The ids of a line, with mask_token for each <mask>; none for a blank line.
std::vector<int> parse_masked(const std::string& text, const Vocabulary& vocabulary);

// unknown_text() of a line with masks.
std::string unknown_masked(std::string text, std::span<const int> ids,
                           const Vocabulary& vocabulary);

// One model, used by one thread at a time.
class LineEncoder {
 public:
  // Of `machine`: max_source, batch_tokens, threads, search.nbest (choices for each mask).
  LineEncoder(const ModelSet& models, const EncodingOptions& options,
              const TranslatorOptions& machine);
  ~LineEncoder() { backend_->release(buffer_); }

  const Vocabulary& vocabulary() const { return models_.source(); }
  int64_t longest() const { return longest_; }  // maximum tokens of a line
  int64_t batch_tokens() const { return batch_tokens_; }
  int64_t width() const { return transformer_.config().d_model; }
  std::vector<int> parse(const std::string& text) const {
    return parse_masked(text, models_.source());
  }
  // lines: the token ids of each line; none for a blank line.
  std::vector<EncodedLine> run(const std::vector<std::vector<int>>& lines);
  std::string format(const std::vector<int>& ids, const EncodedLine& line) const;

 private:
  void reserve(int64_t rows, size_t sentences);
  std::vector<float> download(Matrix from);
  void read_vectors(Matrix hidden, std::span<const int32_t> offsets,
                    std::vector<EncodedLine*>& out);
  std::vector<EncodedLine::Filled> best_tokens(Matrix logits);

  const ModelSet& models_;
  EncodingOptions options_;
  int nbest_;
  const Transformer& transformer_;
  Backend backend_;
  DeviceSide side_;
  std::unique_ptr<Arena> arena_;
  size_t arena_bytes_ = 0, buffer_bytes_ = 0;
  void* buffer_ = nullptr;  // f32 buffer for downloads
  int64_t longest_, batch_tokens_;
};

// Writes a line for each line of the text or, if not empty, the safetensors file `vectors`.
void encode_lines(TextReader& in, LineEncoder& encoder, const std::string& vectors, Writer& out,
                  const Log& log);

}  // namespace tx
