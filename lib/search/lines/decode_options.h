// The options of tx-decode.
#pragma once
#include <string>
#include <vector>

#include "lib/search/lines/lines.h"

namespace tx {

struct DecodeOptions {
  TranslatorOptions translator;
  LineOptions lines;
  std::vector<std::string> files;  // text; none: standard input
  std::string target;              // file of translations to score
  std::string phrases;             // file: line n has the phrases required in output n
  std::string markup;              // html, printf, icu or a file; "": plain text
  std::string glossary;            // file of terms and their translations; "": none
  std::string status;              // file or descriptor for a record per line
  std::string compare;             // model whose translations are compared with those of -m
  Named<Precision> compare_precision = Precision::automatic;
  bool tokens = false, ids = false, strict = false, check_invariance = false, quiet = false,
       describe_only = false;
  bool stream = false;  // of a language model
  std::string embed;    // of a model of kind encoder: "mean" or "first"; "": fill masks
  std::string vectors;  // safetensors file for the vectors; "": write them as text

  void describe(Options& options);
  void describe_machine(Options& options);  // the last group
  // The second text, parallel to the first: targets or phrases; "": none.
  const std::string& second_text() const { return target.empty() ? phrases : target; }
  std::string description() const;     // of the models, for --describe
  TranslatorOptions compared() const;  // the same options for the model of --compare
  // The defaults of the model, while the command line is parsed.
  void set_defaults(Options& options);
  // Sets dependent options. UsageError if options contradict each other.
  void resolve(const Options& options);
  // Call once the kind of the models is known. UsageError for an option that it does not support.
  void check_models(const Options& options, ModelKind kind);
  // Whether each token is written at once: with --stream, or on a terminal where possible.
  bool live(const Translator& translator) const;

 private:
  void describe_input(Options& options);
  void describe_output(Options& options);
  void describe_forced_output(Options& options);
  void describe_checks(Options& options);
  void describe_continuation(Options& options);
  void describe_encoding(Options& options);
  bool one_hypothesis() const {
    return translator.search.nbest == 1 &&
           (translator.search.sample || translator.search.beam == 1);
  }
};

}  // namespace tx
