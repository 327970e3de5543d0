// The models that a search reads: one, or several as an ensemble. Read only, shared by all workers.
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
  std::shared_ptr<const ModelReader> file;  // where its weights are used as they lie there
  std::shared_ptr<Parameters> parameters;   // those of a training are not owned
  std::unique_ptr<Transformer> transformer;
  Vocabularies vocabularies;
};

class ModelSet {
 public:
  std::string device() const;  // "cpu" or "cuda": where the weights are

  // Loads model files or run directories. `precision` is that of the weights: "fp32", "bf16",
  // "int8", or "auto": int8 where a file holds such weights, else bf16 where the backend multiplies
  // it fast. `longest`: no sentence has more rows than this.
  // `masked_heads`: a list for HeadMask. `longest_continued`: the same for models of kind decoder;
  // 0: no other number. `languages`: of models that have them; UsageError as with_languages().
  static std::unique_ptr<ModelSet> load(Backend backend, const std::vector<std::string>& paths,
                                        const std::string& precision, int64_t longest,
                                        const std::string& masked_heads = "",
                                        int64_t longest_continued = 0,
                                        const LanguageChoice& languages = {});
  // From models in memory, made on `backend`; DataError when they do not belong together.
  ModelSet(std::unique_ptr<Backend> backend, std::vector<LoadedModel> models);
  ~ModelSet();

  const Vocabulary& source() const { return models_.front().vocabularies.source(); }
  const Vocabulary& target() const { return models_.front().vocabularies.target(); }
  const Vocabularies& vocabularies() const { return models_.front().vocabularies; }
  const std::string& name() const { return models_.front().name; }
  ModelKind kind() const { return models_.front().parameters->config().kind; }
  DType dtype() const { return models_.front().parameters->dtype(); }  // of activations
  std::string precision() const;  // of the weights: "fp32", "bf16" or "int8"
  // Rows of the longest sentence that every model takes, <eos> or <bos> counted, a language not.
  int64_t longest() const;
  std::vector<const Transformer*> transformers() const;
  int64_t parameters() const;  // of all models
  size_t bytes() const;        // of their weights, packed forms apart
  // Tokens that are never output: <pad>, <bos>, and <unk> unless it is a word of its own (a subword
  // model that falls back to bytes never learns it).
  std::vector<int> forbidden() const;

 private:
  void check_vocabularies() const;
  std::unique_ptr<Backend> backend_;  // outlives the models
  bool int8_ = false;
  std::vector<LoadedModel> models_;
};

}  // namespace tx
