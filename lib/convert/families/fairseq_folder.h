// What a folder of fairseq, or of FSMT of Hugging Face, says about its model; both in one form.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lib/convert/families/family.h"
#include "lib/convert/families/pieces.h"

namespace tx {

struct FairseqFolder {
  struct Side {
    std::string path;                 // of the list of tokens, for messages
    std::vector<std::string> tokens;  // in the order of their ids
    std::string subword_model;        // path of the SentencePiece model that cuts text; "": none
  };
  std::string what, provenance;
  std::string where;   // the file that holds the configuration
  Json config;         // of tx, without what is the same in all of them
  std::string prefix;  // of the names of weights
  SpecialIds special;
  std::array<Side, 2> sides;
  std::shared_ptr<const ForeignTensors> weights;
};

// The checkpoint that a folder holds: checkpoint_best.pt, checkpoint_last.pt, checkpoint.pt,
// model.pt, the first of them; "" when none.
std::string fairseq_checkpoint(const std::string& folder);

// That checkpoint with dict.SOURCE.txt and dict.TARGET.txt. A SentencePiece model is
// sentencepiece.bpe.model or spm.model, or source.spm and target.spm. DataError names the file and
// the setting that tx does not have.
FairseqFolder read_fairseq_folder(const std::string& folder);
// config.json, vocab-src.json, vocab-tgt.json; their tokens get the form of subword-nmt: "ab</w>"
// becomes "ab", "ab" becomes "ab@@".
FairseqFolder read_fsmt_folder(const std::string& folder, const Json& config);

}  // namespace tx
