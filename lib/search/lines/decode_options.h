// The options of tx-decode.
#pragma once
#include <string>
#include <vector>

#include "lib/search/lines/encoding.h"
#include "lib/search/lines/lines.h"

namespace tx {

struct DecodeOptions {
  TranslatorOptions translator;
  LineOptions lines;
  std::vector<std::string> files;  // text; none: standard input
  std::string target;              // translations to score
  std::string phrases;             // a file: line n holds what the output of line n must hold
  std::string status;              // where a record for each line goes
  std::string compare;             // a model whose translations are compared with those of -m
  std::string compare_precision = "auto";
  bool tokens = false, ids = false, strict = false, check_invariance = false, quiet = false,
       describe_only = false;
  bool stream = false;       // of a language model
  EncodingOptions encoding;  // of a model of kind encoder

  void describe(Options& options);
  void describe_machine(Options& options);  // the last group
  // The file whose line n belongs to line n of the text; "": none.
  const std::string& beside() const { return target.empty() ? phrases : target; }
  std::string description() const;     // of the models, for --describe
  TranslatorOptions compared() const;  // those of the translator with `compare`
  // Sets what follows from the options. UsageError if they contradict each other.
  void resolve(const Options& options);
  // Once the models are known. UsageError for an option that their kind does not have.
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
  bool one_hypothesis() const;
};

}  // namespace tx
