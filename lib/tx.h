// The library of tx for C++ programs: translate, continue and score text, or get vectors of it,
// with models that tx-train or tx-avg wrote. Needs C++20; compile and link with `pkg-config
// --cflags --libs tx`.
//
//   #include <tx/tx.h>
//
//   tx::Model model("model.safetensors");
//   std::string german = model.translate("two old houses");
//   for (const tx::Hypothesis& h : model.hypotheses("two old houses")) ...
//   tx::Hypothesis given = model.score("two old houses", "zwei alte Häuser");
//
//   std::string more = tx::Model("decoder.safetensors").continuation("Once upon a time");
//   std::vector<float> vector = tx::Model("encoder.safetensors").embed("two old houses");
//
// This header is all that is promised from one version to the next. Failures are exceptions derived
// from std::runtime_error whose what() says which file and what to do.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tx {

std::string version();  // "0.1.0"

// The options of the same names of tx-decode(1), which explains them. What is not set has the
// default that it has there, and what is refused there is refused here.
struct TranslateOptions {
  std::optional<int> beam;  // 1 is greedy search
  std::optional<double> alpha;
  std::optional<int> max_extra;          // tokens
  std::optional<int> max_length;         // tokens of a line; what it has beyond is not translated
  std::optional<int> nbest;              // what Model::hypotheses() gives for a line, at most beam
  std::optional<int> threads;            // 0: all processors
  std::optional<std::string> precision;  // auto, int8, bf16, fp32
  std::optional<std::string> device;     // auto (the GPU where there is one), cpu, cuda
  std::optional<int> min_length;         // tokens
  std::optional<int> no_repeat;          // tokens in a row that come once
  std::optional<std::string> forbid;     // a file of words and phrases that may not come
  std::optional<std::string> shortlist;  // a file of what target tokens go with a source token
  std::optional<int> max_new;            // tokens of a continuation
  std::vector<std::string> stop;         // strings before which a continuation ends
  std::optional<bool> sample;            // draw outputs instead of searching
  std::optional<double> temperature;     // these with sample alone
  std::optional<int> top_k;
  std::optional<double> top_p, min_p;
  std::optional<uint64_t> seed;  // draws also depend on a line's place among those of a call
  // For models of many languages, where another is wished than the file states.
  std::optional<std::string> source_language, target_language;
};

// A translation or continuation and how likely the model thinks it.
struct Hypothesis {
  std::string text;
  double score = 0;  // log_p over the length penalty of alpha: what ranks hypotheses
  double log_p = 0;  // natural logarithm of its probability, its end included
};

// How a vector of a line is made from the last layer's rows: the mean of its tokens' rows, or the
// row of <s>, which stands in front.
enum class Pooling { mean, first };

// One model in memory, or several whose predictions are averaged (an ensemble). Several threads may
// use the same one. What it can be asked follows from its kind: translations of an encoder-decoder,
// continuations of a decoder, scores of both, vectors of an encoder; anything else is an error that
// names the kind.
class Model {
 public:
  // path: a model file, or a run directory, of which the best model is taken, else the last.
  explicit Model(const std::string& path, const TranslateOptions& options = {});
  explicit Model(const std::vector<std::string>& paths, const TranslateOptions& options = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // One line of UTF-8 into one line; ill-formed bytes count as U+FFFD, a line break as a space.
  // A blank line gives an empty one.
  std::string translate(const std::string& line) const;
  // The same for many at once, which is faster; result i belongs to lines[i]. A line's translation
  // does not depend on the lines beside it.
  std::vector<std::string> translate(const std::vector<std::string>& lines) const;
  // The best translations of a line, best first: at least one, at most options.nbest (1 where it
  // is not set).
  std::vector<Hypothesis> hypotheses(const std::string& line) const;
  std::vector<std::vector<Hypothesis>> hypotheses(const std::vector<std::string>& lines) const;
  // The best translations that begin with `beginning`, as tx-decode --prefix has it: for a person
  // who translates and has written so much.
  std::vector<Hypothesis> complete(const std::string& line, const std::string& beginning) const;
  // What the model thinks of a given translation, or of a text that goes on with a word behind
  // another, or behind none. Nothing is searched.
  Hypothesis score(const std::string& source, const std::string& target) const;

  // What follows a text, from its end on: the two can be joined as they are. Of a text too long for
  // the model the end counts; a blank one has an empty continuation.
  std::string continuation(const std::string& prompt) const;
  std::vector<std::string> continuations(const std::vector<std::string>& prompts) const;
  // The best ones, as hypotheses() gives translations.
  std::vector<Hypothesis> continued(const std::string& prompt) const;
  std::vector<std::vector<Hypothesis>> continued(const std::vector<std::string>& prompts) const;

  // A vector of a line, of as many numbers as the model is wide, zeros for a blank line. It does
  // not depend on the lines beside it.
  std::vector<float> embed(const std::string& line, Pooling pooling = Pooling::mean) const;
  std::vector<std::vector<float>> embed(const std::vector<std::string>& lines,
                                        Pooling pooling = Pooling::mean) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A vocabulary file of tx-bpe(1): text into tokens and back. Several threads may use the same one.
class Subwords {
 public:
  explicit Subwords(const std::string& path);
  ~Subwords();
  Subwords(Subwords&&) noexcept;
  Subwords& operator=(Subwords&&) noexcept;

  int size() const;
  std::vector<int> ids(const std::string& line) const;
  std::vector<std::string> tokens(const std::string& line) const;
  std::string text(const std::vector<int>& ids) const;
  std::string text(const std::vector<std::string>& tokens) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tx
