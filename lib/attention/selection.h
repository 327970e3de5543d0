// What to look at: quantities, kinds, layers, heads, and means of them.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/quantity.h"
#include "lib/model/config.h"

namespace tx {

enum class AttentionKind {
  encoder,  // source positions attend to source positions
  decoder,  // target positions attend to themselves and those before
  cross     // target positions attend to source positions
};
const char* name_of(AttentionKind kind);  // as AttentionProbe calls it

// Numbers count from 0; all lists are ascending and none is empty.
struct Selection {
  struct Kind {
    AttentionKind kind;
    std::vector<int> layers;
  };
  std::vector<Kind> kinds;  // in the order encoder, decoder, cross
  std::vector<int> heads;
  bool mean_of_heads = false;                        // one map per layer: the mean of the heads
  bool mean_of_layers = false;                       // one map per kind; goes with mean_of_heads
  std::vector<Quantity> what = {Quantity::weights};  // in the order of its names
  bool log_p = false;                                // of the labels, and their ranks
  // A row of decoder and cross stands for the token that it reads, not for the one that it
  // predicts.
  bool shift = false;
  bool words = false;  // between words in place of tokens: weights and log P alone
  int top = 0;         // of each row only its so many largest entries are written; 0: all

  const Kind* find(const std::string& name) const;  // null when this kind is not selected
};

// The options as typed; an empty list stands for what is usual.
struct SelectionOptions {
  std::string what, kinds, layers, heads, average = "none";
  bool shift = false, words = false;
  int top = 0;

  void describe(Options& options);
  void describe_aligned(Options& options);  // those of resolve_aligned()
  // Everything that was asked for, by default all; UsageError for what the model does not have.
  Selection resolve(const ModelConfig& config) const;
  // The same for drawings. What is not asked for is not drawn: no kind is cross, or what the model
  // has where it lacks that, no layer the last, no head the mean over all.
  // `all_heads`: no head is all of them.
  Selection resolve_drawn(const ModelConfig& config, bool all_heads = false) const;
  // The same for pages, which show the steps too unless --what or --average says otherwise.
  Selection resolve_page(const ModelConfig& config) const;
  // The one map that alignments are read from: of cross the last layer unless others are selected,
  // the mean over all that is selected.
  Selection resolve_aligned(const ModelConfig& config) const;
  // All heads of cross that are selected, to choose one of them.
  Selection resolve_candidates(const ModelConfig& config) const;
};

// "0,2-3" as {0, 2, 3}. `things` completes "the model has 4 ...". UsageError names the option.
std::vector<int> parse_numbers(const std::string& text, int count, const std::string& option,
                               const std::string& things);

}  // namespace tx
