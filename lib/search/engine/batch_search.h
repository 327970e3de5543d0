// Searches the outputs of a batch of sentences: one search per sentence, and one model step for the
// rows of all sentences. Finished sentences free their rows. One object per thread.
#pragma once
#include <functional>
#include <limits>

#include "lib/search/engine/hypothesis.h"
#include "lib/search/engine/legal_rows.h"
#include "lib/search/engine/scorer.h"
#include "lib/search/options.h"
#include "lib/search/source.h"

namespace tx {

class BatchSearch {
 public:
  // forbidden: tokens that are never output. `rules` apply to all outputs except forced targets. A
  // source, including the tokens that end it, must not be longer than any model's longest().
  BatchSearch(Backend& backend, std::span<const Transformer* const> models, DType dtype,
              const SearchOptions& options, std::vector<int> forbidden, Rules rules = {});

  // The outputs of each source, best first: at least one, at most options.nbest. Sources with a
  // total cost of up to `at_a_time` are searched together, in this order. A finished sentence
  // leaves the batch; the next ones enter when an eighth of the capacity is free.
  std::vector<std::vector<TokenHypothesis>> run(std::span<const Source* const> sources,
                                                int64_t at_a_time);
  // Receives the tokens of the first output after each step. repeats: as in TokenHypothesis.
  using Listener = std::function<void(std::span<const int> ids, size_t repeats)>;
  void listen(Listener listener) { listener_ = std::move(listener); }
  // Whether an output with these tokens ends; called before each further token.
  using Stops = std::function<bool(const Source&, std::span<const int> ids, size_t repeats)>;
  void stop_at(Stops stops) { stops_ = std::move(stops); }
  // The tokens allowed in outputs of a source, ascending, not none; log P is normalised over them.
  using Lists = std::function<std::vector<int32_t>(const Source&)>;
  void list_by(Lists lists) {
    list_of_ = std::move(lists);
    scorer_.use_lists();
  }
  // Allocates all memory for sources of up to `tokens` tokens, so that run() allocates none.
  void reserve(int64_t at_a_time, int64_t tokens) {
    scorer_.open(max_capacity(at_a_time, tokens, positions(tokens)));
  }
  // The peak memory for sources of up to `tokens` tokens, without weights.
  size_t bytes(int64_t at_a_time, int64_t tokens) {
    return scorer_.bytes(max_capacity(at_a_time, tokens, positions(tokens)));
  }

 private:
  struct Active {
    size_t source = 0;   // index in the call of run()
    int32_t number = 0;  // sentence number in the decoders
    int32_t first = 0;   // its first row in the step that add_rows() prepared last
    int32_t rows = 0;    // and their number, if they read inputs
    // Tokens that the decoder reads before the search chooses any: the start, and a forced output.
    std::vector<int32_t> inputs;
    size_t read = 0;   // of them, before this step
    int64_t left = 0;  // tokens that may still be added to an output
    std::unique_ptr<SentenceSearch> search;
    double own = 0;  // log P of the prompt's open word, of its tokens read so far
    // Its best replacement: the word's first best_at tokens, then one that goes beyond the word.
    double best = -std::numeric_limits<double>::infinity();  // its log P
    size_t best_at = 0;
    std::unique_ptr<Source> cut = {};  // once replaced: the prompt up to there
    bool reads_inputs() const { return read < inputs.size(); }
  };
  using Sources = std::span<const Source* const>;
  std::unique_ptr<SentenceSearch> search_for(const Source& source) const;
  // Maximum steps for a source of `tokens` tokens.
  int64_t longest(int64_t tokens) const {
    return std::min(options_.continues ? longest_ - tokens : longest_, options_.longest(tokens));
  }
  int64_t longest(const Source& source) const;  // maximum steps for this source
  int width() const {
    return options_.forced_target ? 1 : options_.sample ? options_.nbest : options_.beam;
  }
  IncrementalDecoder::Capacity max_capacity(int64_t at_a_time, int64_t tokens, int64_t steps) const;
  IncrementalDecoder::Capacity capacity_for(Sources sources, int64_t at_a_time) const;
  void admit(Sources sources, int64_t at_a_time);
  std::vector<int32_t> inputs_of(const Source& source) const;
  int64_t rows_for(int64_t inputs) const;  // maximum rows of a sentence in a step
  void add_rows(Sources sources);
  void add_inputs(Active& a, const Source& source, int64_t count);
  void step(Sources sources);
  void advance_inputs(Active& a, const Source& source, const Scores& scores);
  Source cut_prompt(const Source& source, size_t kept) const;
  void compare_open_words(Sources sources);
  void find_replacement(Active& a, const Source& cut, size_t input, std::span<const float> log_p);
  void replace_end(Active& a, const Source& source);
  static const Source& source_of(const Active& a, Sources sources) {
    return a.cut ? *a.cut : *sources[a.source];
  }
  size_t repeats(const Source& source) const { return options_.continues ? source.rest.size() : 0; }
  void end_stopped(Sources sources);
  int64_t positions(int64_t tokens) const {  // of the model, for a source of `tokens`
    return lead() + (options_.continues ? tokens : 0) + longest(tokens);
  }
  // Inputs before the one whose row scores the first token of an output.
  int64_t lead() const { return options_.first_token >= 0; }

  SearchOptions options_;
  Listener listener_;
  Stops stops_;
  Lists list_of_;
  std::vector<int> forbidden_;
  int64_t longest_;  // of all models, without lead()
  Rules rules_;
  bool filters_;  // whether legal_ is needed: a beam with rules
  bool packs_;    // whether a step may read several inputs of a sentence
  LegalRows legal_;
  Scorer scorer_;

  // State of a call of run().
  std::vector<Active> active_;
  int64_t active_cost_ = 0;
  size_t waiting_ = 0;  // the first source that has not entered
  int32_t entered_ = 0;
  std::vector<IncrementalDecoder::Row> rows_;
  int64_t max_rows_ = 0;     // of a step
  std::vector<int> tokens_;  // of the current output
  std::vector<int> choices_;
  std::vector<float> copied_log_p_;
  std::vector<int32_t> copied_ids_;
};

}  // namespace tx
