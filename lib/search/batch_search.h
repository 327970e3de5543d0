// Searches the outputs of a batch of sentences: one search a sentence, one model step for the rows
// of all. The rows grow fewer as sentences are done. One object a thread.
#pragma once
#include "lib/search/hypothesis.h"
#include "lib/search/options.h"
#include "lib/search/scorer.h"

namespace tx {

struct Source {
  std::vector<int> ids;  // pieces without <eos>, at least one
  int64_t line = 1;      // sampling draws by it
};

class BatchSearch {
 public:
  // `forbidden`: pieces never to be put out. A source plus <eos> must not be longer than any
  // model's longest().
  BatchSearch(Backend& backend, std::span<const Transformer* const> models, DType dtype,
              const SearchOptions& options, std::vector<int> forbidden);

  // For each source its outputs, best first: at least one, at most options.nbest.
  std::vector<std::vector<Hypothesis>> run(std::span<const Source* const> sources);

 private:
  std::unique_ptr<SentenceSearch> search_for(const Source& source, int64_t longest) const;
  int64_t longest(const Source& source) const;

  SearchOptions options_;
  std::vector<int> forbidden_;
  int64_t longest_;  // of all models
  Scorer scorer_;
};

}  // namespace tx
