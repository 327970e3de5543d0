// The C++ interface of tx: translate, continue, score or embed text with models written by
// tx-train, tx-avg or tx-convert. Needs C++20; compile and link with
// `pkg-config --cflags --libs tx`.
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
// Only this header is stable between versions. Errors are exceptions derived from
// std::runtime_error; what() names the file and says what to do. An object that was moved from can
// be destroyed or assigned to; all else is such an error.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tx {

std::string version();  // "0.1.0"

// The options of tx-decode(1) with the same names, defaults and restrictions.
struct TranslateOptions {
  std::optional<int> beam;  // 1 is greedy search
  std::optional<double> alpha;
  std::optional<int> max_extra;          // tokens
  std::optional<int> max_length;         // tokens; longer lines are cut
  std::optional<int> nbest;              // hypotheses per line; at most beam, unless sampling
  std::optional<int> threads;            // 0: one per available CPU
  std::optional<std::string> precision;  // auto, int8, bf16, fp32
  std::optional<std::string> device;     // auto (a GPU if there is one), cpu, cuda
  std::optional<int> min_length;         // tokens
  std::optional<int> no_repeat;          // block repeated n-grams of this many tokens
  std::optional<std::string> forbid;     // file of words and phrases to block
  std::optional<std::string> shortlist;  // file of a lexical shortlist, see tx-shortlist(5)
  std::optional<int> max_new;            // maximum tokens of a continuation
  std::vector<std::string> stop;         // strings before which a continuation ends; none is empty
  std::optional<bool> sample;            // sample outputs instead of beam search
  std::optional<double> temperature;     // this and the next four: only when sampling
  std::optional<int> top_k;
  std::optional<double> top_p, min_p;
  std::optional<uint64_t> seed;  // samples also depend on a line's index in the call
  // Multilingual models: languages other than the defaults of the model file.
  std::optional<std::string> source_language, target_language;
};

// A translation or continuation with its probability under the model.
struct Hypothesis {
  std::string text;
  double score = 0;  // log_p divided by the length penalty; ranks hypotheses
  double log_p = 0;  // natural logarithm of the probability, including the end of the sentence
};

// How the last layer's vectors become one vector of the line: their mean over the tokens, or the
// vector at <s>, which precedes them.
enum class Pooling { mean, first };

// One model in memory, or an ensemble. Thread-safe. An encoder-decoder translates and scores, a
// decoder continues and scores, an encoder embeds; calling anything else is an error that names
// the kind of the model.
class Model {
 public:
  // path: a model file; a run directory, which stands for its best model, or its last model if
  // there is no best; or the name of an installed model, such as demo, see tx(7).
  explicit Model(const std::string& path, const TranslateOptions& options = {});
  explicit Model(const std::vector<std::string>& paths, const TranslateOptions& options = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // Translates one line of UTF-8. Invalid bytes become U+FFFD, a line break becomes a space. A
  // blank line gives an empty string.
  std::string translate(const std::string& line) const;
  // Translates many lines at once, which is faster; result i belongs to lines[i]. Translations are
  // batch-invariant.
  std::vector<std::string> translate(const std::vector<std::string>& lines) const;
  // The best translations of a line, best first: at least one, at most nbest (default 1). Only
  // samples may be equal.
  std::vector<Hypothesis> hypotheses(const std::string& line) const;
  std::vector<std::vector<Hypothesis>> hypotheses(const std::vector<std::string>& lines) const;
  // Continues a partial translation: the best translations that begin with `beginning`, as with
  // tx-decode --prefix: it may end inside a word, and a space at its end completes the word.
  std::vector<Hypothesis> complete(const std::string& line, const std::string& beginning) const;
  // The score of a given translation, without a search. For a decoder: of `target` as the
  // continuation of `source`, or as a whole text if `source` is blank.
  Hypothesis score(const std::string& source, const std::string& target) const;

  // The continuation of a prompt, with a leading space if it begins a word: prompt + continuation
  // is the whole text. Line feeds stay, in a prompt if the vocabulary has byte tokens. Of a prompt
  // longer than the model allows, the last tokens are used. A blank prompt has an empty
  // continuation.
  std::string continuation(const std::string& prompt) const;
  std::vector<std::string> continuations(const std::vector<std::string>& prompts) const;
  // The best continuations, best first, like hypotheses().
  std::vector<Hypothesis> continued(const std::string& prompt) const;
  std::vector<std::vector<Hypothesis>> continued(const std::vector<std::string>& prompts) const;

  // The vector of a line: d_model numbers, zeros for a blank line. Batch-invariant.
  std::vector<float> embed(const std::string& line, Pooling pooling = Pooling::mean) const;
  std::vector<std::vector<float>> embed(const std::vector<std::string>& lines,
                                        Pooling pooling = Pooling::mean) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A vocabulary file of tx-bpe(1): converts text to tokens and back. Thread-safe.
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
