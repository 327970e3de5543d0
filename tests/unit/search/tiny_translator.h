// A translator over random weights and a vocabulary of words w4, w5, ...
#pragma once
#include <string>

#include "lib/search/lines/stream.h"
#include "lib/subword/subword.h"
#include "tests/unit/search/random_model.h"

namespace tx_test {

inline std::shared_ptr<const tx::Vocabulary> word_vocabulary(int size) {
  std::string bytes = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  for (int i = 4; i < size; ++i) bytes += "w" + std::to_string(i) + "\n";
  return tx::parse_vocabulary(bytes, "words");
}

inline tx::LoadedModel loaded_model(tx::Backend& backend, const tx::ModelConfig& config,
                                    tx::DType dtype, uint32_t seed, int64_t longest) {
  tx::LoadedModel m;
  m.name = "model" + std::to_string(seed);
  m.parameters.reset(new tx::Parameters(tx::Parameters::only_weights(backend, config, dtype)));
  m.parameters->initialise(seed);
  m.parameters->prepare_inference();
  m.transformer = std::make_unique<tx::Transformer>(backend, *m.parameters, longest);
  std::vector<tx::Vocabularies::Pointer> vocabularies;
  for (const tx::SideConfig& side : config.sides)
    vocabularies.push_back(word_vocabulary(int(side.vocabulary)));
  m.vocabularies = vocabularies;
  return m;
}

inline std::unique_ptr<tx::ModelSet> model_set(const tx::ModelConfig& config, tx::DType dtype,
                                               std::vector<uint32_t> seeds = {3},
                                               int64_t longest = 300) {
  auto backend = std::make_unique<tx::Backend>(tx::make_backend(tx::Device::cpu, 1));
  std::vector<tx::LoadedModel> models;
  for (uint32_t seed : seeds) {
    models.push_back(loaded_model(*backend, config, dtype, seed, longest));
  }
  return std::make_unique<tx::ModelSet>(std::move(backend), std::move(models));
}

inline tx::TranslatorOptions options_of(int threads = 1, int64_t batch_tokens = 1024) {
  tx::TranslatorOptions o;
  o.threads = threads;
  o.batch_tokens = batch_tokens;
  o.max_source = 200;
  o.search.max_extra = 8;
  return o;
}

inline tx::Translator tiny_translator(const tx::TranslatorOptions& o,
                                      tx::DType dtype = tx::DType::f32) {
  return tx::Translator(o, model_set(small_config(), dtype));
}

// Everything about translations that must not change, bit for bit.
inline std::string exact(const tx::Translation& t) {
  std::string out;
  for (const tx::TokenHypothesis& h : t) {
    char text[100];
    std::snprintf(text, sizeof text, "%a %a %d:", h.score, h.log_p, int(h.complete));
    out += text;
    for (int id : h.ids) out += " " + std::to_string(id);
    out += "\n";
  }
  return out;
}

inline std::vector<tx::Source> random_sources(int count, int longest = 30) {
  std::vector<tx::Source> out;
  for (int i = 0; i < count; ++i) {
    auto ids = random_sentence(500 + uint32_t(i), 2 + (i * 7919) % longest);
    ids.pop_back();
    out.push_back({ids, i + 1, {}});
  }
  return out;
}

// A vocabulary with byte tokens, of few words.
inline std::shared_ptr<const tx::Vocabulary> subwords() {
  const tx::WordCounts counts = {{"the", 30}, {"cat", 20}, {"sat", 10}};
  tx::SubwordTraining options;
  options.vocab_size = 290;
  return std::shared_ptr(tx::parse_subword(tx::train_subword(counts, options), "test"));
}

}  // namespace tx_test
