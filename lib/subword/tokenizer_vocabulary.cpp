// The vocabulary of a tokenizer.json alone.
#include <algorithm>
#include <array>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/subword/mapped.h"

namespace tx {

namespace {

// The usual names of pad, unk, bos and eos; the first that is a token counts.
const std::array<std::vector<std::string>, Vocabulary::specials> usual_names = {
    {{"<pad>", "[PAD]", "<|pad|>"},
     {"<unk>", "[UNK]"},
     {"<s>", "[CLS]", "<bos>", "<|begin_of_text|>"},
     {"</s>", "[SEP]", "<eos>", "<|end_of_text|>", "<|endoftext|>"}}};

int id_named(const TokenizerSpec& spec, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto found = std::ranges::find(spec.tokens, name); found != spec.tokens.end())
      return int(found - spec.tokens.begin());
  return -1;
}

MappedTokens tokens_of(const TokenizerSpec& spec) {
  std::vector<int> order;
  for (int id = 0; id < Vocabulary::specials; ++id) {
    int theirs = id_named(spec, usual_names[size_t(id)]);
    if (id == Vocabulary::unk && spec.unk >= 0) theirs = spec.unk;
    if (std::ranges::count(order, theirs) > 0) theirs = -1;
    order.push_back(theirs);
  }
  const std::vector<int> special = order;
  for (int id = 0; id < int(spec.tokens.size()); ++id)
    if (!spec.tokens[size_t(id)].empty() && std::ranges::count(special, id) == 0)
      order.push_back(id);
  MappedTokens content;
  std::vector<int> ours(spec.tokens.size());
  for (const int theirs : order) {
    const size_t id = content.tokens.size();
    std::string text;
    if (theirs >= 0) {
      ours[size_t(theirs)] = int(id);
      text = spec.tokens[size_t(theirs)];
    } else {
      text = Vocabulary::special_names[id];
      while (std::ranges::count(spec.tokens, text) > 0) text += '_';
    }
    content.tokens.push_back(text);
    if (id < Vocabulary::specials) content.theirs.push_back(theirs);
  }
  for (const AddedToken& token : spec.added)
    if (const int id = ours[size_t(token.id)]; token.special && id >= Vocabulary::specials)
      content.controls.push_back(id);
  if (special[Vocabulary::unk] < 0) content.forbidden = {Vocabulary::unk};
  content.model = tokenizer_bytes(spec);
  return content;
}

}  // namespace

std::unique_ptr<Vocabulary> parse_tokenizer_json(std::string_view bytes, const std::string& where) {
  const Json json = parse_json(bytes, where);
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object())
    throw DataError(where + " is neither a subword model nor a tokenizer.json: it has no model");
  return parse_mapped(mapped_bytes(tokens_of(read_tokenizer_json(json, where))), where);
}

}  // namespace tx
