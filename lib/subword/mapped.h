// The vocabulary of a model of another toolkit, which numbers its tokens itself: a SentencePiece
// model cuts text into tokens, a list gives them ids. Tokens that the list lacks are <unk>.
//
// The file is the line "tx-pieces 1", a line of JSON and the bytes of the SentencePiece model:
//   tokens     texts in the order of ids; the first four stand for pad, unk, bos, eos, as they are
//              called there
//   controls   ids without text, which decode() leaves out
//   bytes      whether tokens called <0x00> to <0xFF> are bytes
//   tags       whether a line may begin with a tag such as >>fra<<, looked up as a token whole
//   prefix     ids that encode() puts before each line
//   forbidden  ids that are never output, besides pad and bos
//   first      the id that every output begins with, or -1
//   languages  ids of the tokens that name languages, such as deu_Latn or __de__
//   closing    ids that end each line of a source in place of eos
//   language_last  whether a source is X </s> LANGUAGE, in place of LANGUAGE X </s>
//   theirs     the ids that pad, unk, what the decoder begins with, and eos have there; the others
//              follow in their order
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

struct MappedTokens {
  std::vector<std::string> tokens;
  std::vector<int> controls, prefix, forbidden;
  std::vector<int> languages, closing;
  bool bytes = false, tags = false, language_last = false;
  int first = -1;
  std::vector<int64_t> theirs;
  std::string model;  // the bytes of the SentencePiece model
};

// A vocabulary that also says how outputs are made of it.
class MappedVocabulary : public Vocabulary {
 public:
  virtual std::vector<int> forbidden() const = 0;  // never output; pad and bos are among them
  virtual const MappedTokens& content() const = 0;
  virtual int first() const = 0;  // the token that every output begins with; -1: there is none

 protected:
  using Vocabulary::Vocabulary;
};

// Tokens of a vocabulary of any kind that are never output: pad, bos, and unk where it stands for
// no word (a subword model that falls back to bytes never learns it).
std::vector<int> forbidden_tokens(const Vocabulary& vocabulary);

// Whether each id is the same token in both, so that one embedding can serve them, although they
// may cut text differently.
bool list_same_tokens(const Vocabulary& a, const Vocabulary& b);

inline constexpr std::string_view mapped_magic = "tx-pieces 1\n";

std::string mapped_bytes(const MappedTokens& content);  // what parse_mapped() reads
MappedTokens read_mapped(std::string_view bytes, const std::string& where);
std::unique_ptr<Vocabulary> parse_mapped(std::string bytes, const std::string& where);

}  // namespace tx
