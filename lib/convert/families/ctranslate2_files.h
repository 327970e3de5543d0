// The files of a CTranslate2 model: a directory, or a package of Argos Translate, a zip archive
// that holds one.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/zip.h"

namespace tx {

class CTranslate2Files {
 public:
  struct Side {
    std::string file;                 // of the vocabulary
    std::vector<std::string> tokens;  // theirs, then those of rows of zeros that tx needs
    int64_t theirs = 0;
    SpecialIds special;
    bool own_start = true;  // the start token is no other special token
  };

  explicit CTranslate2Files(const std::string& path);  // reads all but the vocabularies
  bool is_package() const { return archive_.has_value(); }
  std::string where(const std::string& name) const { return path_ + "/" + name; }
  const Json& settings() const { return settings_; }  // of config.json; empty without it
  const std::shared_ptr<const CTranslate2Model>& model() const { return model_; }
  WeightMap& used() { return *used_; }  // the variables
  [[noreturn]] void refuse(const std::string& why) const;

  // {"encoder", "decoder"}, or {"decoder"} of a language model.
  const std::vector<std::string>& stacks() const { return stacks_; }
  bool only_decoder() const { return stacks_.size() == 1; }
  // A number, by its name in a stack or, before revision 5, at the top.
  double scalar(const std::string& stack, const std::string& name, double otherwise);

  // Tokens and special ids of each side. A language model, or one whose decoder starts with zeros,
  // has no token to start with: a row of zeros that is never output.
  void read_vocabularies();
  bool shared() const { return shared_; }  // one vocabulary for both sides
  const std::vector<Side>& sides() const { return sides_; }
  const TokenOrder& order(size_t side) const { return orders_[side]; }
  // With the SentencePiece models of the directory, else word lists.
  Vocabularies vocabularies() const;
  // vmap.txt: for a source token, or for all if it is empty, target tokens without probabilities:
  // the n-th gets 1 / n. The tokens of a phrase become those of its first token.
  std::optional<LexicalTable> shortlist() const;
  // Name, languages and licence of a package, for tx-decode --describe.
  Json package() const;

 private:
  bool has(const std::string& name) const;
  std::string inside(const std::string& name) const;
  std::string text(const std::string& name) const;
  Json object(const std::string& name) const;
  std::string_view model_bytes(std::shared_ptr<const void>& owner) const;
  void read_special(Side& side, bool source);
  Vocabularies::Pointer vocabulary(size_t side) const;

  std::string path_, folder_;
  std::shared_ptr<ArchiveMemory> memory_;
  std::optional<ZipArchive> archive_;
  Json settings_;
  std::shared_ptr<const CTranslate2Model> model_;
  std::optional<WeightMap> used_;
  std::vector<std::string> stacks_ = {"encoder", "decoder"};
  std::vector<Side> sides_;
  std::vector<TokenOrder> orders_;
  bool shared_ = false;
};

}  // namespace tx
