// The pre-tokenizer: splits a normalised text into words, which the model splits into tokens.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"
#include "lib/subword/tokenizer/expression.h"

namespace tx {

class Splitter {
 public:
  using Words = std::function<void(std::string_view)>;
  using Buffers = std::vector<std::string>;  // memory of a caller

  // DataError from `where`: an unknown step, or one with malformed values.
  Splitter(const std::vector<Json>& steps, const std::string& where);
  // Whether words are bytes, which tokens name by GPT-2's characters
  // (lib/subword/tokenizer/bytes.h).
  bool by_bytes() const { return by_bytes_; }
  // Calls `words` with each word. at_start: the text begins at the beginning of the line.
  void split(std::string_view text, bool at_start, Buffers& buffers, const Words& words) const;

 private:
  enum class Kind { expression, characters, metaspace, bytes };
  enum class Behavior { isolated, removed, with_previous, with_next, contiguous };
  enum class Prefix { always, first, never };
  struct Step {
    Kind kind = Kind::expression;
    Behavior behavior = Behavior::isolated;
    std::shared_ptr<const Expression> expression;
    bool invert = false;
    bool (*matches)(char32_t) = nullptr;  // characters
    std::string sign;                     // Metaspace
    Prefix prefix = Prefix::never;        // Metaspace, ByteLevel
    bool splits = false;                  // Metaspace
  };
  struct Run {
    Buffers& buffers;
    const Words& words;
  };

  void add(const Json& json, const std::string& where);
  void add_characters(bool (*matches)(char32_t), Behavior behavior);
  void apply(size_t step, std::string_view text, bool at_start, Run& run) const;
  void apply_metaspace(size_t step, std::string_view text, bool at_start, Run& run) const;

  std::vector<Step> steps_;
  bool by_bytes_ = false;
};

}  // namespace tx
