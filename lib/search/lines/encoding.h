// What a model of kind encoder says of lines of text: a vector of each, or the tokens that stand
// behind masks. A line's answer is the same bits in any company.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/search/engine/model_set.h"
#include "lib/text/corpus.h"

namespace tx {

struct EncodingOptions {
  std::string embed;    // "mean", "first"; "": masks are filled
  std::string vectors;  // a safetensors file for the vectors; "": lines of text
  int nbest = 1;        // tokens for each mask
  int64_t max_length = 1024, batch_tokens = 1024;  // tokens
  bool strict = false;
};

// What it gives for one line; empty for a blank one.
struct EncodedLine {
  std::vector<float> vector;  // D
  struct Filled {
    int token;
    double probability;
  };
  std::vector<std::vector<Filled>> masks;  // the best first
};

// One model, on one thread of the caller's.
class LineEncoder {
 public:
  // The models are one of kind encoder. `threads` of its products.
  LineEncoder(const ModelSet& models, const EncodingOptions& options, int threads);
  ~LineEncoder();
  LineEncoder(const LineEncoder&) = delete;
  LineEncoder& operator=(const LineEncoder&) = delete;

  int64_t longest() const { return longest_; }  // tokens of a line
  int64_t width() const { return transformer_.config().d_model; }
  // The line's tokens, mask_piece for each <mask>.
  std::vector<int> parse(const std::string& text) const;
  // Tokens of each line, none for a blank one.
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
  const Transformer& transformer_;
  Backend backend_;
  DeviceSide side_;
  std::unique_ptr<Arena> arena_;
  size_t arena_bytes_ = 0, room_bytes_ = 0;
  void* room_ = nullptr;  // f32, for what is downloaded
  int64_t longest_;
};

// Reads the text and writes a line for each, or with options.vectors that file.
void encode_lines(TextReader& in, LineEncoder& encoder, const EncodingOptions& options, Writer& out,
                  const Log& log);

}  // namespace tx
