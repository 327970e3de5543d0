// The unigram language model (Kudo, 2018): the tokens whose log probabilities have the highest sum.
#include <algorithm>
#include <limits>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/word_model.h"

namespace tx {

namespace {

// Tokens as a trie over bytes. The children of a node are adjacent, by ascending byte.
class TokenTrie {
 public:
  explicit TokenTrie(const TokenizerSpec& spec) {
    std::vector<std::pair<std::string_view, int>> all;
    each_model_token(spec, [&](int id, const std::string& text) { all.emplace_back(text, id); });
    std::ranges::sort(all);
    struct Range {
      size_t node, begin, end, depth;
    };
    nodes_.emplace_back();
    std::vector<Range> open = {{0, 0, all.size(), 0}};
    for (size_t i = 0; i < open.size(); ++i) {
      auto [node, begin, end, depth] = open[i];
      while (begin < end && all[begin].first.size() == depth) nodes_[node].id = all[begin++].second;
      nodes_[node].first = uint32_t(nodes_.size());
      while (begin < end) {
        const char byte = all[begin].first[depth];
        size_t after = begin;
        while (after < end && all[after].first[depth] == byte) ++after;
        open.push_back({nodes_.size(), begin, after, depth + 1});
        nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
        begin = after;
      }
      nodes_[node].count = uint16_t(nodes_.size() - nodes_[node].first);
    }
    root_.fill(0);
    for (size_t i = 0; i < nodes_[0].count; ++i)
      root_[nodes_[nodes_[0].first + i].byte] = nodes_[0].first + uint32_t(i);
  }

  // Calls f(size, id) for each token that the text begins with, the shortest first.
  template <class F>
  void each_prefix(std::string_view text, F&& f) const {
    uint32_t node = root_[static_cast<unsigned char>(text[0])];
    for (size_t size = 1; node != 0; ++size) {
      if (nodes_[node].id >= 0) f(size, nodes_[node].id);
      if (size == text.size()) return;
      node = child(nodes_[node], static_cast<unsigned char>(text[size]));
    }
  }

 private:
  struct Node {
    uint32_t first = 0;  // child
    int id = -1;
    uint16_t count = 0;  // of children
    unsigned char byte = 0;
  };
  uint32_t child(const Node& node, unsigned char byte) const {
    const auto begin = nodes_.begin() + node.first, end = begin + node.count;
    const auto at = std::lower_bound(begin, end, byte,
                                     [](const Node& n, unsigned char b) { return n.byte < b; });
    return at == end || at->byte != byte ? 0 : uint32_t(at - nodes_.begin());
  }

  std::vector<Node> nodes_;
  std::array<uint32_t, 256> root_{};
};

class UnigramModel final : public WordModel {
 public:
  UnigramModel(const TokenizerSpec& spec, const std::string& where)
      : where_(where), tokens_(spec), trie_(spec), scores_(spec.scores), unk_(spec.unk) {
    scores_.resize(spec.tokens.size());
    double least = std::numeric_limits<double>::infinity();
    for (const double score : spec.scores) least = std::min(least, score);
    constexpr double penalty = 10;
    unk_score_ = least - penalty;
    fallback_.fill(-1);
    if (spec.byte_fallback) fallback_ = byte_tokens(tokens_);
  }

  void add(std::string_view word, std::vector<int>& ids) const override {
    std::vector<Best> best(word.size() + 1);
    best[0].begin = 0;
    for (size_t at = 0; at < word.size();) {
      size_t after = at;
      next_code_point(word, after);
      const double score = best[at].score;
      bool single = false;
      const auto reach = [&](size_t end, double sum, int id) {
        if (best[end].begin >= 0 && !(sum > best[end].score)) return;
        best[end] = {sum, id, int64_t(at)};
      };
      trie_.each_prefix(word.substr(at), [&](size_t size, int id) {
        reach(at + size, scores_[size_t(id)] + score, id);
        single |= at + size == after;
      });
      if (!single) {
        if (unk_ < 0) throw DataError(where_ + ": a character has no token, and there is no <unk>");
        reach(after, unk_score_ + score, unk_);
      }
      at = after;
    }
    append(word, best, ids);
  }

 private:
  struct Best {  // of the paths that end at a byte
    double score = 0;
    int id = -1;
    int64_t begin = -1;  // of the last token
  };

  // Adjacent unknown characters are one text, which may be a token, or become bytes.
  void append(std::string_view word, const std::vector<Best>& best, std::vector<int>& ids) const {
    std::vector<std::pair<size_t, int>> path;  // where a token begins, and its id
    for (size_t end = word.size(); end > 0; end = size_t(best[end].begin))
      path.emplace_back(size_t(best[end].begin), best[end].id);
    std::ranges::reverse(path);
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i].second != unk_) {
        ids.push_back(path[i].second);
        continue;
      }
      const size_t begin = path[i].first;
      while (i + 1 < path.size() && path[i + 1].second == unk_) ++i;
      const size_t end = i + 1 < path.size() ? path[i + 1].first : word.size();
      append_unknown(word.substr(begin, end - begin), ids);
    }
  }

  void append_unknown(std::string_view text, std::vector<int>& ids) const {
    if (const int id = tokens_.find(text); id >= 0) return ids.push_back(id);
    const auto byte_id = [&](char c) { return fallback_[static_cast<unsigned char>(c)]; };
    if (!std::ranges::all_of(text, [&](char c) { return byte_id(c) >= 0; }))
      return ids.push_back(unk_);
    for (const char c : text) ids.push_back(byte_id(c));
  }

  std::string where_;
  ModelTokens tokens_;
  TokenTrie trie_;
  std::vector<double> scores_;
  int unk_;
  double unk_score_ = 0;
  std::array<int, 256> fallback_{};
};

}  // namespace

std::unique_ptr<WordModel> make_unigram(const TokenizerSpec& spec, const std::string& where) {
  return std::make_unique<UnigramModel>(spec, where);
}

}  // namespace tx
