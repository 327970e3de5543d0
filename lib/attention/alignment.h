// Alignments of target and source from attention: each target word (token) goes with the source
// word that its row has the largest weight for.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/attention/records.h"
#include "lib/base/log.h"

namespace tx {

// The links of a map of cross as Pharaoh writes them, "0-0 1-2": numbers of source and target words
// or tokens, whichever the record holds, from 0, in the order of the source. </s> has no links; of
// equal weights the first counts. With selection.shift the row counts that reads a word; a target
// that was cut has no such row for its last. "" for a blank line.
std::string links_of(const AttentionRecord& record, const Selection& selection,
                     const AttentionMap& map);

// One line of links for each record, from its only map.
class AlignmentOutput : public AttentionOutput {
 public:
  AlignmentOutput(const Selection& selection, Writer& out) : selection_(selection), out_(out) {}
  Write prepare(const AttentionRecord& record) override;
  void flush() override { out_.flush(); }

 private:
  const Selection& selection_;
  Writer& out_;
};

// Of the heads of cross that are selected, and their mean in each layer, the one of the lowest
// alignment error rate on a file of lines "SOURCE TAB TARGET TAB LINKS", links as tx-bleu --metric
// aer reads them; tells the log which. DataError for a line of another form, or a file without
// lines.
Selection chosen_head(const Selection& candidates, const std::string& path,
                      const Translator& translator, const Log& log);

// Aligns single translations; may be called from several threads.
class Aligner {
 public:
  // The selection gives one map. All must live longer.
  Aligner(Selection selection, const Translator& translator);
  // Of a source without <eos>, and the ids that the model predicts for it.
  std::string links(int64_t line, const std::vector<int>& source, const std::vector<int>& target);

 private:
  Selection selection_;
  const Translator& translator_;
  std::mutex lock_;
  std::vector<std::unique_ptr<Recorder>> idle_;
};

// What a user chooses about alignments of translations: a column of tx-decode.
class OutputAlignments {
 public:
  void describe(Options& options);
  void check(const TranslatorOptions& translator);  // UsageError for an ensemble
  // Aligner::links() of an output and its source; null where none are asked for. UsageError for
  // what the model does not have.
  std::function<std::string(const Source&, const TokenHypothesis&)> column(
      const Translator& translator) const;

 private:
  std::string unit_;  // "words" or "pieces"; "": none
  SelectionOptions selection_;
};

}  // namespace tx
