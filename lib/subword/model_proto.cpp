#include "lib/subword/model_proto.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "lib/base/error.h"
#include "lib/subword/token_table.h"

namespace tx {
namespace {

// Fields of sentencepiece_model.proto and of its submessages.
constexpr uint64_t field_piece = 1, field_trainer = 2, field_normalizer = 3, field_self_test = 4,
                   field_denormalizer = 5;
constexpr uint64_t piece_text = 1, piece_score = 2, piece_type = 3;
constexpr uint64_t model_type = 3, whitespace_as_suffix = 24, byte_fallback = 35;
constexpr uint64_t special_piece = 45;  // <unk>; then <s>, </s>, <pad>
constexpr uint64_t charsmap = 2, dummy_prefix = 3, remove_whitespace = 4, escape_whitespace = 5;
constexpr uint64_t type_bpe = 2;
constexpr std::string_view special_pieces[] = {"<unk>", "<s>", "</s>", "<pad>"};

// Reads a base-128 number and removes it from the front; false if it is truncated.
bool take_varint(std::string_view& rest, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool take_bytes(std::string_view& rest, uint64_t count, std::string_view& bytes) {
  if (count > rest.size()) return false;
  bytes = rest.substr(0, count);
  rest.remove_prefix(count);
  return true;
}

struct ProtoField {
  uint64_t number = 0, value = 0;  // value: of a varint
  std::string_view content;        // of a field of another kind
};

// Removes one field from the front; false if it is malformed.
bool take_field(std::string_view& rest, ProtoField& field) {
  uint64_t key = 0;
  field = {};
  if (!take_varint(rest, key)) return false;
  field.number = key >> 3;
  switch (key & 7) {
    case 0:
      return take_varint(rest, field.value);
    case 1:
      return take_bytes(rest, 8, field.content);
    case 2: {
      uint64_t size = 0;
      return take_varint(rest, size) && take_bytes(rest, size, field.content);
    }
    case 5:
      return take_bytes(rest, 4, field.content);
    default:
      return false;
  }
}

// Calls f with each field; false if one is malformed or f returns false.
template <class F>
bool each_field(std::string_view message, F&& f) {
  ProtoField field;
  while (!message.empty())
    if (!take_field(message, field) || !f(field)) return false;
  return true;
}

uint32_t load(std::string_view bytes, size_t i) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + 4 * i, 4);
  return value;
}

// The index that is XORed with the labels of a node's children to find them.
size_t base_of(size_t node, uint32_t unit) {
  return node ^ (size_t(unit >> 10) << ((unit & 0x200) >> 6));
}
bool ends_a_key(uint32_t unit) { return unit & 0x100; }

// Whether no path is a cycle or has more values than SentencePiece supports; all nodes are inside.
bool sound_paths(std::string_view trie) {
  constexpr int max_values = 32, unknown = -1, above = -2;  // above: on the current path
  struct Step {
    size_t base;
    bool value;          // between the previous step and this one
    uint32_t label = 0;  // to try next
    int values = 0;      // maximum on a path below
  };
  std::vector<int> values(trie.size() / 4, unknown);  // by base
  std::vector<Step> path;
  const auto enter = [&](size_t base, bool value) {
    values[base] = above;
    path.push_back({base, value});
  };
  enter(base_of(0, load(trie, 0)), false);
  for (;;) {
    Step& step = path.back();
    if (step.label == 256) {
      const Step done = step;
      values[done.base] = done.values;
      path.pop_back();
      if (path.empty()) return done.values <= max_values;
      path.back().values = std::max(path.back().values, done.values + done.value);
      continue;
    }
    const size_t child = step.base ^ step.label;
    const uint32_t unit = load(trie, child);
    if ((unit & 0x800000FF) != step.label++) continue;
    const size_t base = base_of(child, unit);
    if (values[base] == above) return false;
    if (values[base] == unknown)
      enter(base, ends_a_key(unit));
    else
      step.values = std::max(step.values, values[base] + ends_a_key(unit));
  }
}

// The table of a normaliser: the trie's size, a double-array trie (Darts) of 32-bit units, strings
// with NUL. Every step must stay inside the trie, every value inside the strings.
bool sound_charsmap(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() < 4) return false;
  const uint32_t trie_bytes = load(map, 0);
  if (trie_bytes % 4 != 0 || trie_bytes < 1024 || trie_bytes >= map.size() - 4) return false;
  const std::string_view trie = map.substr(4, trie_bytes), strings = map.substr(4 + trie_bytes);
  if (strings.back() != '\0') return false;
  const size_t units = trie_bytes / 4;
  for (size_t i = 0; i < units; ++i) {
    const uint32_t unit = load(trie, i);
    if (unit >> 31) continue;  // a value: checked where a node refers to it
    const size_t base = base_of(i, unit);
    if ((base | 0xFF) >= units) return false;  // a node's children are at base ^ byte
    if (ends_a_key(unit) && (load(trie, base) & 0x7FFFFFFF) >= strings.size()) return false;
  }
  return load(trie, 0) >> 31 == 0 && sound_paths(trie);
}

// The properties of a model; the last value of a setting counts.
struct Findings {
  std::vector<ModelPiece> pieces;
  bool trainer = false, normalizer = false, self_test = false;
  bool unused_pieces = false, bpe = false, bytes = false, suffix = false, renamed = false;
  bool prefix = true, removes = true, escapes = true, maps = false, maps_back = false;

  bool piece(std::string_view message) {
    ModelPiece piece;
    const bool sound = each_field(message, [&](const ProtoField& field) {
      if (field.number == piece_text) piece.text = field.content;
      if (field.number == piece_type) piece.type = field.value;
      if (field.number == piece_score && field.content.size() == 4)
        std::memcpy(&piece.score, field.content.data(), 4);
      return true;
    });
    unused_pieces |= piece.type == ModelPiece::unused;
    if (sound) pieces.push_back(piece);
    return sound;
  }
  bool training(const ProtoField& field) {
    if (field.number == model_type) bpe = field.value == type_bpe;
    if (field.number == byte_fallback) bytes = field.value != 0;
    if (field.number == whitespace_as_suffix) suffix = field.value != 0;
    if (field.number >= special_piece && field.number < special_piece + std::size(special_pieces))
      renamed |= field.content != special_pieces[field.number - special_piece];
    return true;
  }
  bool normalising(const ProtoField& field) {
    if (field.number == dummy_prefix) prefix = field.value != 0;
    if (field.number == remove_whitespace) removes = field.value != 0;
    if (field.number == escape_whitespace) escapes = field.value != 0;
    return mapping(field, maps);
  }
  bool mapping(const ProtoField& field, bool& found) {
    if (field.number != charsmap) return true;
    found |= !field.content.empty();
    return sound_charsmap(field.content);
  }
  bool part(const ProtoField& field) {
    trainer |= field.number == field_trainer;
    normalizer |= field.number == field_normalizer;
    self_test |= field.number == field_self_test;
    const auto each = [&](const auto& f) { return each_field(field.content, f); };
    if (field.number == field_piece) return piece(field.content);
    if (field.number == field_trainer) return each([&](const auto& f) { return training(f); });
    if (field.number == field_normalizer)
      return each([&](const auto& f) { return normalising(f); });
    if (field.number != field_denormalizer) return true;
    return each([&](const auto& f) { return mapping(f, maps_back); });
  }

  bool has_special(size_t id, std::string_view text, uint64_t type) const {
    return id < pieces.size() && pieces[id].text == text && pieces[id].type == type;
  }
  bool has_usual_pieces() const {
    int unknown = 0, byte = 0;
    for (const ModelPiece& p : pieces) {
      if (p.text.empty() || p.type < ModelPiece::normal || p.type > ModelPiece::byte) return false;
      unknown += p.type == ModelPiece::unknown;
      if (p.type == ModelPiece::byte) ++byte;
      if (p.type == ModelPiece::byte && !names_byte(p.text)) return false;
    }
    return unknown == 1 && byte == 256 && !renamed && !self_test &&
           has_special(0, "<pad>", ModelPiece::control) &&
           has_special(1, "<unk>", ModelPiece::unknown) &&
           has_special(2, "<s>", ModelPiece::control) &&
           has_special(3, "</s>", ModelPiece::control);
  }
};

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += char((value & 0x7F) | 0x80);
  out += char(value);
}

void put_bytes(std::string& out, uint64_t number, std::string_view content) {
  put_varint(out, number << 3 | 2);
  put_varint(out, content.size());
  out += content;
}

void put_number(std::string& out, uint64_t number, uint64_t value) {
  put_varint(out, number << 3);
  put_varint(out, value);
}

}  // namespace

std::string bpe_model(const std::vector<ModelPiece>& pieces, bool byte_fallback, bool prefix) {
  std::string out, trainer, normalizer;
  for (const ModelPiece& p : pieces) {
    std::string piece;
    put_bytes(piece, piece_text, p.text);
    put_varint(piece, piece_score << 3 | 5);
    piece.append(reinterpret_cast<const char*>(&p.score), sizeof p.score);
    put_number(piece, piece_type, p.type);
    put_bytes(out, field_piece, piece);
  }
  put_number(trainer, 3, 2);               // model_type: BPE
  put_number(trainer, 35, byte_fallback);  // byte_fallback
  put_bytes(normalizer, 1, "identity");    // name
  put_number(normalizer, 3, prefix);       // add_dummy_prefix
  put_number(normalizer, 4, 0);            // remove_extra_whitespaces
  put_bytes(out, field_trainer, trainer);
  put_bytes(out, field_normalizer, normalizer);
  return out;
}

std::string user_piece_fields(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    std::string piece;
    put_bytes(piece, piece_text, text);
    put_number(piece, piece_type, ModelPiece::user_defined);
    put_bytes(out, field_piece, piece);
  }
  return out;
}

std::string_view nested_too_deep(std::vector<std::string_view> texts) {
  std::sort(texts.begin(), texts.end());
  std::vector<std::string_view> begins;  // prefixes of the text, each a prefix of the next
  for (const std::string_view text : texts) {
    while (!begins.empty() && !text.starts_with(begins.back())) begins.pop_back();
    if (!begins.empty() && begins.back() == text) continue;
    if (begins.size() == max_nested_pieces) return text;
    if (!text.empty()) begins.push_back(text);
  }
  return {};
}

SentencePieceSettings check_model_proto(std::string_view bytes, const std::string& where) {
  Findings found;
  const bool sound = each_field(bytes, [&](const ProtoField& field) { return found.part(field); });
  if (found.pieces.empty()) throw DataError(where + " is neither a subword model nor a word list");
  if (!sound || !found.trainer || !found.normalizer)
    throw DataError(where + ": the subword model is truncated or damaged");
  std::vector<std::string_view> user_texts;
  for (const ModelPiece& p : found.pieces)
    if (p.type == ModelPiece::user_defined) user_texts.push_back(p.text);
  if (const auto text = nested_too_deep(std::move(user_texts)); !text.empty())
    throw DataError(where + ": the user-defined token " + std::string(text) + " begins with " +
                    std::to_string(max_nested_pieces) + " others; SentencePiece supports fewer");
  SentencePieceSettings settings;
  const bool prefix = found.prefix && !found.suffix;
  settings.bpe = found.bpe && found.bytes && !found.unused_pieces && prefix && found.escapes;
  settings.plain_text = !found.removes && !found.maps;
  settings.plain_join = !found.removes && !found.maps_back && prefix;
  settings.plain =
      settings.bpe && settings.plain_text && settings.plain_join && found.has_usual_pieces();
  settings.pieces = std::move(found.pieces);
  return settings;
}

}  // namespace tx
