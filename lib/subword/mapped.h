// The vocabulary of a model of another toolkit, which has its own ids: a SentencePiece model or the
// description of a tokenizer (lib/subword/tokenizer/spec.h) splits text into tokens, and a list
// assigns ids. Tokens that are not in the list are <unk>. Tokens that a description finds in the
// text, such as <|im_end|>, keep their ids, since prompts contain them, but not in a vocabulary
// with languages.
//
// The file is the line "tx-pieces 1", a line of JSON and the bytes of the model or description:
//   pieces     tokens in the order of their ids; the first four are pad, unk, bos and eos under
//              their original names; an encoder's pad is its token of masks
//   controls   ids without text, which decode() skips
//   bytes      whether tokens named <0x00> to <0xFF> are bytes
//   tags       whether a line may begin with a tag such as >>fra<<, which is a single token
//   prefix     ids that encode() puts before each line
//   forbidden  ids that are never output, besides pad and bos
//   ends       ids that end an output, besides eos
//   first      the id that the decoder reads before every output, or -1
//   languages  ids of tokens that name languages, such as deu_Latn or __de__
//   closing    ids that end each source line instead of eos; in an encoder, each text
//   language_last  whether a source is X </s> LANGUAGE instead of LANGUAGE X </s>
//   theirs     the original ids of pad, unk, the decoder's start token and eos; all other tokens
//              keep their original order
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/subword/tokenizer/spec.h"
#include "lib/subword/vocabulary.h"

namespace tx {

struct MappedTokens {
  std::vector<std::string> tokens;
  std::vector<int> controls, prefix, forbidden, ends;
  std::vector<int> languages, closing;
  bool bytes = false, tags = false, language_last = false;
  int first = -1;
  std::vector<int64_t> theirs;
  std::string model;  // the bytes of the SentencePiece model or of the description
};

// Whether a SentencePiece model splits the text, and the model's bytes.
bool has_subword_model(const Vocabulary& vocabulary);
const std::string& subword_model(const Vocabulary& vocabulary);

// Tokens that are never output: pad, bos, and unk in a subword model (which never learns it).
std::vector<int> forbidden_tokens(const Vocabulary& vocabulary);

std::vector<int> ending_tokens(const Vocabulary& vocabulary);  // besides eos

// Whether each id is the same token in both, so that they can share an embedding.
bool list_same_tokens(const Vocabulary& a, const Vocabulary& b);

inline constexpr std::string_view mapped_magic = "tx-pieces 1\n";

// Tokens that are found in the text before it is split.
void append_tokens(MappedTokens& content, const std::vector<std::string>& tokens);

std::string mapped_bytes(const MappedTokens& content);  // the bytes of the file
MappedTokens read_mapped(std::string_view bytes, const std::string& where);
std::unique_ptr<Vocabulary> parse_mapped(std::string bytes, const std::string& where);

// Whether the bytes behind the JSON are the description of a tokenizer.
bool has_tokenizer(const MappedTokens& content);

// The vocabulary of a tokenizer.json alone: pad, unk, bos and eos are found by their usual names; a
// new token, which no text contains, takes the place of a missing one. The others keep their order.
std::unique_ptr<Vocabulary> parse_tokenizer_json(std::string_view bytes, const std::string& where);

}  // namespace tx
