// Word alignments: each target word (token) is linked to the source word of the largest weight.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/dump.h"
#include "lib/base/log.h"

namespace tx {

// The links of a cross-attention map in Pharaoh's format, "0-0 1-2": source-target, sorted, without
// </s>; ties: the first. With selection.shift a word's row is the one that reads it; the last word
// of a truncated target has none.
std::string links_of(const AttentionRecord& record, const Selection& selection,
                     const AttentionMap& map);

// Writes one line of links per record, from its only map.
class AlignmentOutput : public AttentionOutput {
 public:
  AlignmentOutput(const Selection& selection, Writer& out) : selection_(selection), out_(out) {}
  Write prepare(const AttentionRecord& record) override;
  void flush() override { out_.flush(); }

 private:
  const Selection& selection_;
  Writer& out_;
};

// Chooses among the selected cross-attention heads, and their mean in each layer, the one with the
// lowest alignment error rate on a file of lines "SOURCE TAB TARGET TAB LINKS" (links as tx-bleu
// --metric aer reads them), and logs it. DataError: a malformed line, or no lines.
Selection chosen_head(const Selection& candidates, const std::string& path,
                      const Translator& translator, const Log& log);

// Aligns single translations; thread-safe.
class Aligner {
 public:
  // The selection has one map. Keeps a reference to the translator, whose first model aligns.
  Aligner(Selection selection, const Translator& translator);
  std::string links(const Source& source, const TokenHypothesis& output);
  // The source token of the largest weight of each output token.
  std::vector<int64_t> sources(const Source& source, const TokenHypothesis& output);

 private:
  AttentionRecord record(const Source& source, const TokenHypothesis& output);
  Selection selection_;
  const ModelSet& models_;
  Pool<Recorder> recorders_;
};

// tx-decode --alignments: a column of word alignments.
class OutputAlignments {
 public:
  void describe(Options& options);
  void check(const TranslatorOptions& translator);  // UsageError: an ensemble
  // Aligner::links() of an output.
  using Align = std::function<std::string(const Source&, const TokenHypothesis&)>;
  // Null without --alignments. UsageError: no such model.
  Align column(const Translator& translator) const;
  // Aligner::sources(), by the mean of all heads of all layers: for markup and glossaries.
  static std::function<std::vector<int64_t>(const Source&, const TokenHypothesis&)> of_tokens(
      const Translator& translator);

 private:
  std::string unit_;  // "words" or "pieces"; "": none
  SelectionOptions selection_;
};

}  // namespace tx
