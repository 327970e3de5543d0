// The model or ensemble of a search. Read-only, shared by all workers.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/model/transformer.h"
#include "lib/subword/languages.h"

namespace tx {

class ModelReader;

struct LoadedModel {
  std::string name;                         // the file, for messages
  std::shared_ptr<const ModelReader> file;  // set if the mapped weights of the file are used
  std::shared_ptr<Parameters> parameters;   // not owned if they belong to a training
  std::unique_ptr<Transformer> transformer;
  Vocabularies vocabularies;
};

class ModelSet {
 public:
  // DataError if the file of int8 weights that are used in place has been overwritten.
  void check_unchanged() const;
  // Of the weights.
  Device device() const { return (*backend_)->has_own_memory() ? Device::cuda : Device::cpu; }

  // Loads model files or run directories. precision: of the weights; automatic: int8 if a file has
  // int8 weights, else auto_precision() of the device. longest: maximum rows of a sentence;
  // longest_continued: the same for models of kind decoder, 0: `longest`. masked_heads: for
  // HeadMask. languages: UsageError as with_languages().
  static std::unique_ptr<ModelSet> load(Backend backend, const std::vector<std::string>& paths,
                                        Precision precision, int64_t longest,
                                        const std::string& masked_heads = "",
                                        int64_t longest_continued = 0,
                                        const LanguageChoice& languages = {});
  // From models in memory on `backend`; DataError if their kinds or vocabularies differ.
  ModelSet(std::unique_ptr<Backend> backend, std::vector<LoadedModel> models);
  ~ModelSet();

  const Vocabulary& source() const { return models_.front().vocabularies.source(); }
  const Vocabulary& target() const { return models_.front().vocabularies.target(); }
  const Vocabularies& vocabularies() const { return models_.front().vocabularies; }
  const std::string& name() const { return models_.front().name; }
  ModelKind kind() const { return models_.front().parameters->config().kind; }
  DType dtype() const { return models_.front().parameters->dtype(); }  // of activations
  // Of the weights: "fp32", "bf16" or "int8".
  std::string precision() const { return int8_ ? "int8" : name_of_value(dtype()); }
  // Maximum rows of a sentence over all models, including <eos> or <bos>, without language tokens.
  int64_t longest() const;
  std::vector<const Transformer*> transformers() const;
  int64_t parameters() const;  // of all models
  size_t bytes() const;        // of their weights, without packed copies
  // Tokens never output: <pad>, <bos>, and <unk> unless models learn it (not with byte fallback).
  std::vector<int> forbidden() const;

 private:
  void check_vocabularies() const;
  std::unique_ptr<Backend> backend_;  // outlives the models
  bool int8_ = false;
  std::vector<LoadedModel> models_;
};

}  // namespace tx
