// What to look at: quantities, kinds, layers, heads, and means of them.
#pragma once
#include <string>
#include <vector>

#include "lib/base/named.h"
#include "lib/model/config.h"

namespace tx {

// What can be read from an attention layer, in the order of computation (equations in
// tx-attention(5)):
//
//   q, k, v -> scores q k^T -> scaled / sqrt(d_k) -> masked -> weights softmax -> context times v
//   -> output of the sub-layer, all heads together
enum class Quantity { weights, scores, scaled, masked, q, k, v, context, output };

template <>
inline constexpr const char* name_table<Quantity>[] = {
    "weights", "scores", "scaled", "masked", "q", "k", "v", "context", "output"};

// Whether it is a matrix of rows and columns. The others are vectors: q and context per row, k and
// v per column, output per row for all heads together.
constexpr bool is_map(Quantity q) {
  return q == Quantity::weights || q == Quantity::scores || q == Quantity::scaled ||
         q == Quantity::masked;
}

enum class AttentionKind {
  encoder,  // source positions attend to source positions
  decoder,  // target positions attend to themselves and those before
  cross     // target positions attend to source positions
};

template <>
inline constexpr const char* name_table<AttentionKind>[] = {"encoder", "decoder", "cross"};
inline const char* name_of(AttentionKind kind) { return name_of_value(kind); }

// Layers and heads count from 0; lists are ascending and not empty.
struct Selection {
  struct Kind {
    AttentionKind kind;
    std::vector<int> layers;
  };
  std::vector<Kind> kinds;  // in the order encoder, decoder, cross
  std::vector<int> heads;
  bool mean_of_heads = false;                        // one map per layer
  bool mean_of_layers = false;                       // one map per kind; implies mean_of_heads
  std::vector<Quantity> what = {Quantity::weights};  // in the order of its names
  bool log_p = false;                                // log P and rank of the labels
  // Label rows of decoder and cross by the token that they read instead of the one they predict.
  bool shift = false;
  bool words = false;  // between words instead of tokens; weights and log P only
  int top = 0;         // number of largest entries per row to write; 0: all

  const Kind* find(const std::string& name) const;  // null if not selected
};

// The options as given; an empty list means the default.
struct SelectionOptions {
  std::string what, kinds, layers, heads, average = "none";
  bool shift = false, words = false;
  int top = 0;

  void describe(Options& options);
  void describe_aligned(Options& options);  // the options of resolve_aligned()
  // The selection, by default everything. UsageError: the model does not have it.
  Selection resolve(const ModelConfig& config) const;
  // The same for drawings, with smaller defaults: cross attention, or every kind if the model has
  // none, of the last layer, as the mean over all heads (`all_heads`: all heads).
  Selection resolve_drawn(const ModelConfig& config, bool all_heads = false) const;
  // The same for pages, which include q, k and v unless --what or --average is given.
  Selection resolve_page(const ModelConfig& config) const;
  // The one map of alignments: the mean over the selected heads, by default of the last layer.
  Selection resolve_aligned(const ModelConfig& config) const;
  // The selected cross-attention heads, to choose one of them.
  Selection resolve_candidates(const ModelConfig& config) const;
};

// "0,2-3" as {0, 2, 3}. `things` completes "the model has 4 ...". UsageError names the option.
std::vector<int> parse_numbers(const std::string& text, int count, const std::string& option,
                               const std::string& things);

}  // namespace tx
