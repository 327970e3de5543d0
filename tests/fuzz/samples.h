// Small models, vocabularies and files for the seeds.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/backend.h"
#include "lib/model/parameters.h"
#include "lib/subword/vocabulary.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

std::shared_ptr<const tx::Vocabulary> word_list();  // w4, w5, ... w10
std::string subword_bytes();                        // a SentencePiece model of some 300 tokens
// Writes an id cache and returns its path.
std::string make_cache(const std::shared_ptr<const tx::Vocabulary>& words, bool links = false);
std::string make_document_cache(const std::shared_ptr<const tx::Vocabulary>& words);

// The bytes of the safetensors file that `write` makes, without its checksum, so that changed files
// are parsed at all.
std::string written(const std::function<void(const std::string& path)>& write);

// One layer each, d_model 4: as small as a model can be.
struct Sample {
  explicit Sample(const std::string& tie);
  tx::Backend backend;
  tx::Parameters parameters;
  std::shared_ptr<const tx::Vocabulary> words = word_list();
};

}  // namespace tx_fuzz
