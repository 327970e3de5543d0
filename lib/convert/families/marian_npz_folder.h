// What a folder of Marian's own holds: model.npz with its settings, and two vocabularies.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lib/convert/families/family.h"
#include "lib/convert/families/pieces.h"

namespace tx {

struct MarianNpzFolder {
  struct Side {
    std::string path;                 // of the vocabulary, for messages
    std::vector<std::string> tokens;  // in the order of their ids
    int64_t unk = 0, eos = 0;
    std::vector<int64_t> controls;  // ids of tokens without text
    bool bytes = false;             // some tokens are <0x00> to <0xFF>
    std::string subword_model;      // path of the SentencePiece model that cuts text; "": none
  };
  std::string path;   // of the model
  std::string where;  // its settings, for messages
  Json settings;      // the text in its array special:model.yml
  std::array<Side, 2> sides;
  std::shared_ptr<const ForeignTensors> weights;
};

// Whether a folder without config.json is one of Marian: it holds model.npz, or a model that one of
// its settings files names.
bool holds_marian_npz(const std::string& folder);

// The settings files are decoder.yml, model.npz.decoder.yml, config.yml and model.npz.yml; the
// first that is there and names a model (`models`, `model`) or vocabularies (`vocabs`) says which;
// files are looked for beside it, whatever folder it names. Otherwise the model is model.npz, the
// vocabulary of both sides vocab.spm or vocab.yml. A vocabulary is a SentencePiece model (.spm) or
// `token: id` lines or JSON (.yml, .yaml, .json), whose tokens source.spm and target.spm make of
// text where they stand in the folder. DataError names the file and what is wrong with it.
MarianNpzFolder read_marian_npz_folder(const std::string& folder);

}  // namespace tx
