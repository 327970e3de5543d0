#include "lib/search/engine/shortlist.h"

#include <algorithm>

#include "lib/subword/mapped.h"

namespace tx {
namespace {

std::vector<bool> bytes_of(const Vocabulary& vocabulary) {
  std::vector<bool> out;
  for (int id = 0; id < vocabulary.size(); ++id) out.push_back(vocabulary.is_byte(id));
  return out;
}

}  // namespace

Shortlist::Shortlist(const SearchOptions& options, const Vocabulary& source,
                     const Vocabulary& target)
    : texts_(target),
      table_(read_lexical_table(options.shortlist, source, target)),
      forbidden_(forbidden_tokens(target)),
      ends_(ending_tokens(target)),
      source_byte_(bytes_of(source)),
      target_byte_(bytes_of(target)) {
  table_.keep_best(size_t(options.shortlist_first), size_t(options.shortlist_best));
}

// The tokens that can write the text: longer ones and byte tokens only where no others can.
void Shortlist::add_rest(std::string_view text, std::vector<bool>& held) const {
  std::vector<int> choices;
  for (; !text.empty(); text.remove_prefix(1)) {
    texts_.choices(text, choices);
    const auto fits = [&](int id) {
      return !target_byte_[size_t(id)] && texts_.bytes(id) <= text.size();
    };
    const bool enough = std::ranges::any_of(choices, fits);
    for (const int id : choices)
      if (!enough || fits(id)) held[size_t(id)] = true;
  }
}

std::vector<int32_t> Shortlist::list(const Source& source) const {
  std::vector<bool> held(target_byte_.size());
  const auto add = [&](const std::vector<LexicalTable::Entry>& entries) {
    for (const LexicalTable::Entry& e : entries) held[size_t(e.token)] = true;
  };
  bool spells = false;
  add(table_.frequent);
  for (const int id : source.ids) {
    add(table_.of_source[size_t(id)]);
    spells = spells || source_byte_[size_t(id)];
  }
  for (size_t id = 0; id < held.size(); ++id)
    if (target_byte_[id]) held[id] = spells;
  for (const int id : forbidden_) held[size_t(id)] = false;
  held[Vocabulary::eos] = true;
  for (const int id : ends_) held[size_t(id)] = true;
  for (const int id : source.prefix) held[size_t(id)] = true;
  add_rest(source.rest, held);
  for (const std::vector<int>& phrase : source.phrases)
    for (const int id : phrase) held[size_t(id)] = true;
  std::vector<int32_t> out;
  for (size_t id = 0; id < held.size(); ++id)
    if (held[id]) out.push_back(int32_t(id));
  return out;
}

}  // namespace tx
