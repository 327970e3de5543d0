// The files of a model of Marian or of Firefox: the weights with their settings, vocabularies, and
// possibly a shortlist.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"

namespace tx {

struct MarianNpzFiles {
  struct Side {
    std::string path;                 // of the vocabulary
    std::vector<std::string> tokens;  // in the order of their ids
    int64_t unk = 0, eos = 0;
    std::vector<int64_t> controls;  // ids of tokens without text
    bool bytes = false;             // some tokens are <0x00> to <0xFF>
    std::string subword_model;      // path of the SentencePiece model; "": none
  };
  std::string path;       // of the model
  std::string shortlist;  // path; "": none
  std::string where;      // names the settings in messages
  Json settings;          // the text in its array special:model.yml
  Json decoder;           // the first decoder.yml, or empty
  std::string decoder_path;
  std::array<Side, 2> sides;
  std::shared_ptr<const ForeignTensors> weights;
};

// Whether a directory without config.json has model.npz or a .bin of Marian, or settings that name
// one.
bool holds_marian(const std::string& directory);

// Reads the first of decoder.yml, model.npz.decoder.yml, config.yml and model.npz.yml that names a
// model (`models`, `model`) or vocabularies (`vocabs`), without directories. The defaults are
// model.npz or the only *.bin of Marian; srcvocab*.spm and trgvocab*.spm, or vocab*.spm or
// vocab.yml for both sides; the only lex*.bin. A vocabulary is a SentencePiece model
// (.spm), or a map of tokens to ids (.yml, .yaml, .json), with source.spm and target.spm if any.
MarianNpzFiles read_marian_npz(const std::string& directory);

}  // namespace tx
