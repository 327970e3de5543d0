// Any SentencePiece model as a tokeniser: text to the texts of its pieces, as spm_encode gives
// them, the model's own normalisation included. Unlike a Vocabulary (lib/subword/vocabulary.h) it
// takes models with other special ids, and does not promise to get the text back.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// A piece of a model in the order of their ids.
struct ListedPiece {
  std::string text;
  bool control = false;  // <s>, <unk> and the like, without text
  bool byte = false;     // <0x00> and the like
};

class PieceSplitter {
 public:
  // `bytes` of a .model file; throws DataError that begins with `where` (the file's name).
  PieceSplitter(const std::string& bytes, const std::string& where);
  ~PieceSplitter();
  // Replaces `pieces` by those of a line of valid UTF-8.
  void split(std::string_view line, std::vector<std::string>& pieces) const;
  std::vector<ListedPiece> tokens() const;
  int unk() const;                  // its id
  const std::string& hash() const;  // XXH3 of the bytes, 16 hexadecimal digits

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace tx
