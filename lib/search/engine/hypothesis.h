// The search over the outputs of one sentence, independent of the model: it lists the rows to score
// next, receives their scores, and repeats this until it is done.
//
//   for (Beam beam(options, forbidden, longest); !beam.done();) {
//     ... score the next token of every row of beam.rows() ...
//     beam.advance(scores);
//   }
//   beam.results();
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tx {

// A token for a mask, and its probability.
struct MaskChoice {
  int token;
  double probability;
};

// One output of a sentence.
struct TokenHypothesis {
  std::vector<int> ids;  // without <eos>
  double log_p = 0;      // natural logarithm of its probability, <eos> included when complete
  double score = 0;      // log_p / length_penalty(tokens, <eos> included when complete)
  // false: it has no <eos>, because it reached the maximum length or no token was allowed.
  bool complete = true;
  std::vector<float> token_log_p = {};  // of each token, and of <eos> when complete
  size_t repeats = 0;     // language models: its text begins with so many bytes of the prompt
  std::string text = {};  // of several parts of a line; "": that of `ids`
  // Models of kind encoder: the vector (D), or the choices for each mask, best first.
  std::vector<float> vector = {};
  std::vector<std::vector<MaskChoice>> masks = {};
};

// The scores of the next token of each row: `width` entries per row.
struct Scores {
  const float* log_p = nullptr;  // natural logarithms
  // Their tokens, best first; -1: ignore the entry. Null: entry i is token i.
  const int32_t* ids = nullptr;
  int64_t width = 0;
};

void check_number(float log_p);  // DataError if it is NaN: the model is damaged

// The outputs of a search as a tree of tokens; every open hypothesis is a leaf.
class TokenTree {
 public:
  static constexpr int32_t root = -1;
  int32_t add(int32_t parent, int32_t token, float log_p) {
    nodes_.push_back({parent, token, log_p});
    return int32_t(nodes_.size()) - 1;
  }
  // Replaces `ids` by the tokens from the root to `leaf`.
  void path(int32_t leaf, std::vector<int>& ids) const {
    ids.clear();
    for (; leaf != root; leaf = nodes_[size_t(leaf)].parent)
      ids.push_back(nodes_[size_t(leaf)].token);
    std::reverse(ids.begin(), ids.end());
  }
  std::vector<int> path(int32_t leaf) const {
    std::vector<int> ids;
    path(leaf, ids);
    return ids;
  }
  std::vector<float> log_ps(int32_t leaf) const {  // of the tokens of path()
    std::vector<float> values;
    for (; leaf != root; leaf = nodes_[size_t(leaf)].parent)
      values.push_back(nodes_[size_t(leaf)].log_p);
    std::reverse(values.begin(), values.end());
    return values;
  }

 private:
  struct Node {
    int32_t parent, token;
    float log_p;
  };
  std::vector<Node> nodes_;
};

class SentenceSearch {
 public:
  struct Row {
    int32_t parent = -1;             // row of the previous step that it continues; -1: first step
    int32_t token = 0;               // the token to read
    int32_t leaf = TokenTree::root;  // the end of the output so far in tree()
  };
  // Groups of a search share its tree.
  explicit SentenceSearch(std::shared_ptr<TokenTree> tree = std::make_shared<TokenTree>())
      : tree_(std::move(tree)) {}
  virtual ~SentenceSearch() = default;
  // The rows to score; in the first step one row, which reads <bos>. Empty when done.
  std::span<const Row> rows() const { return rows_; }
  bool done() const { return rows_.empty(); }
  const TokenTree& tree() const { return *tree_; }
  // `scores` has an entry for each of rows(), in their order.
  virtual void advance(const Scores& scores) = 0;
  // Once done, the outputs found, best first: at least one, at most options.nbest.
  virtual std::vector<TokenHypothesis> results() const = 0;

 protected:
  std::vector<Row> rows_;
  std::shared_ptr<TokenTree> tree_;
};

}  // namespace tx
