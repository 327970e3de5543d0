#include "lib/subword/subword.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/bpe.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/token_table.h"

namespace tx {
namespace {

// A private-use character (plane 16) that no token contains, so that it encodes to four byte
// tokens: it replaces U+2581 in the input of SentencePiece.
std::string find_stand_in(const TokenTable& table, const std::string& where) {
  constexpr char32_t first = 0x100000, last = 0x10FFFD;
  std::vector<bool> used(last - first + 1);
  for (int id = 0; id < table.size(); ++id)
    for (size_t i = 0; i < table.text(id).size();) {
      const char32_t c = next_code_point(table.text(id), i);
      if (c >= first && c <= last) used[c - first] = true;
    }
  char32_t c = last;
  while (c > first && used[c - first]) --c;
  if (used[c - first]) throw DataError(where + " uses all private-use characters of plane 16");
  std::string text;
  append_code_point(text, c);
  return text;
}

void load_model(sentencepiece::SentencePieceProcessor& model, std::string_view bytes,
                const std::string& where) {
  std::string reason;
  try {
    const auto status = model.LoadFromSerializedProto(bytes);
    if (status.ok()) return;
    reason = status.message();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // thrown by SentencePiece's tries
    reason = "SentencePiece cannot index its tokens; none of a unigram model may begin with U+0000";
  }
  throw DataError(where + " is not a valid subword model: " + reason);
}

class Subword final : public Vocabulary {
 public:
  Subword(std::string bytes, const std::string& where)
      : Vocabulary(std::move(bytes)), where_(where) {
    settings_ = check_model_proto(this->bytes(), where);
    const bool pieces_differ = fill_table();
    if (settings_.bpe && has_bytes()) encoder_ = BpeEncoder::make(table_);
    if (!pieces_differ || !settings_.plain || !encoder_) use_sentencepiece();
    settings_.pieces.clear();
  }

  std::string kind() const override { return "sentencepiece"; }
  int size() const override { return table_.size(); }

  void encode(std::string_view line, std::vector<int>& ids) const override {
    ids.clear();
    if (line.empty()) return;
    if (!encoder_ || !settings_.plain_text)
      encode_text(line, ids);
    else
      encode_words(line, nullptr, ids);
    drop_spaces(ids);
  }

  std::string first_unknown(std::string_view line) const override {
    if (has_bytes()) return "";
    const auto pieces = sp_encode<std::string>(line);
    const auto found = std::ranges::find_if(pieces, [&](const auto& p) { return id_of(p) <= unk; });
    return found == pieces.end() ? "" : without_sign(*found);
  }

  bool has_merges() const override { return encoder_.has_value(); }

  void encode(std::string_view line, MergeDraws& draws, std::vector<int>& ids) const override {
    ids.clear();
    if (line.empty()) return;
    if (settings_.plain_text) {
      encode_words(line, &draws, ids);
    } else {
      encode_text(line, ids);
      for (const std::string& word : normalised_words(std::exchange(ids, {})))
        encoder_->encode_word(word, ids, &draws);
    }
    drop_spaces(ids);
  }

  void restrict_to(const std::vector<std::string>& tokens) override {
    if (encoder_) restrict_encoder(tokens);
    if (encoder_ && settings_.plain_text) return;
    std::vector<std::string_view> views(tokens.begin(), tokens.end());
    const auto status = sentencepiece().SetVocabulary(views);
    if (!status.ok())
      throw DataError(std::string("cannot restrict the vocabulary: ") + status.message());
  }

  std::string decode(std::span<const int> tokens) const override {
    for (const int id : tokens) check_id(id);
    std::vector<int> buffer;
    const std::span<const int> ids = restore_spaces(tokens, buffer);
    std::optional<std::string> joined;
    if (settings_.plain_join) joined = table_.join(ids);
    std::string text = joined ? std::move(*joined) : sp_decode(ids);
    repair_utf8(text);  // tokens of other models may be invalid UTF-8
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  std::string token(int id) const override {
    check_id(id);
    return std::string(table_.text(id));
  }

  std::string token_bytes(int id) const override {
    check_id(id);
    const bool spaced = sentinels_[size_t(id)] && id_of(space_sign) >= 0;  // restore_spaces()
    return (spaced ? " " : "") + table_.bytes(id);
  }

  int id_of(std::string_view token) const override { return table_.id_of(token); }

  std::optional<float> score(int id) const override {
    check_id(id);
    return table_.score(id);
  }

  bool is_byte(int id) const override {
    check_id(id);
    return table_.kind(id) == TokenTable::Kind::byte;
  }

 private:
  // Loads the model into SentencePiece. Models of tx-bpe need it only to normalise or decode <unk>.
  sentencepiece::SentencePieceProcessor& sentencepiece() const {
    std::call_once(loaded_, [&] { load_model(model_, bytes(), where_); });
    return model_;
  }

  void use_sentencepiece() {
    check_special_ids(sentencepiece(), where_);
    if (!has_bytes()) return;
    stand_in_ = find_stand_in(table_, where_);
    for (size_t i = 0; i < stand_in_ids_.size(); ++i)
      stand_in_ids_[i] = table_.byte_id(stand_in_[i]);
    for (size_t i = 0; i < sign_ids_.size(); ++i) sign_ids_[i] = table_.byte_id(space_sign[i]);
  }

  bool has_bytes() const { return table_.byte_id('\xE2') >= 0; }

  static void check_special_ids(const sentencepiece::SentencePieceProcessor& model,
                                const std::string& where) {
    if (model.pad_id() == pad && model.unk_id() == unk && model.bos_id() == bos &&
        model.eos_id() == eos)
      return;
    const auto text = [](int id) { return id < 0 ? std::string("none") : std::to_string(id); };
    throw DataError(where + ": the ids of this subword model are pad " + text(model.pad_id()) +
                    ", unk " + text(model.unk_id()) + ", bos " + text(model.bos_id()) + ", eos " +
                    text(model.eos_id()) +
                    "; they must be pad 0, unk 1, bos 2, eos 3: train it with tx-bpe, or with "
                    "spm_train --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3");
  }

  // Fills table_ and sentinels_; whether all pieces differ.
  bool fill_table() {
    using Kind = TokenTable::Kind;
    bool differ = true;
    for (const ModelPiece& p : settings_.pieces) {
      const bool user = p.type == ModelPiece::user_defined;
      differ = differ && table_.id_of(p.text) < 0;
      table_.add(p.text,
                 p.type == ModelPiece::control   ? Kind::control
                 : p.type == ModelPiece::unknown ? Kind::unknown
                 : p.type == ModelPiece::byte    ? Kind::byte
                 : user                          ? Kind::user
                                                 : Kind::normal,
                 p.score);
      sentinels_.push_back(user && p.text.starts_with(sentinel_begin));
      any_sentinel_ = any_sentinel_ || sentinels_.back();
    }
    return differ;
  }

  // Removes the space token before each sentinel, whose span usually begins with that space.
  void drop_spaces(std::vector<int>& ids) const {
    const int space = any_sentinel_ ? id_of(space_sign) : -1;
    if (space < 0) return;
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool taken = ids[i] == space && i + 1 < ids.size() && sentinels_[size_t(ids[i + 1])];
      if (!taken) ids[kept++] = ids[i];
    }
    ids.resize(kept);
  }

  // The inverse; `buffer` holds the result if there are sentinels.
  std::span<const int> restore_spaces(std::span<const int> ids, std::vector<int>& buffer) const {
    const int space = any_sentinel_ ? id_of(space_sign) : -1;
    if (space < 0) return ids;
    for (const int id : ids) {
      if (sentinels_[size_t(id)]) buffer.push_back(space);
      buffer.push_back(id);
    }
    return buffer;
  }

  void encode_words(std::string_view line, MergeDraws* draws, std::vector<int>& ids) const {
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(' ', at), line.size());
      encoder_->encode_word(line.substr(at, end - at), ids, draws);
      at = end + 1;
    }
  }

  // The words of the normalised text, from its tokens.
  std::vector<std::string> normalised_words(const std::vector<int>& ids) const {
    std::vector<std::string> words;
    for (const int id : ids) {
      std::string_view text = table_.text(id);
      const bool byte = is_byte(id), first = !byte && text.starts_with(space_sign);
      if (first) text.remove_prefix(space_sign.size());
      if (first || words.empty()) words.emplace_back();
      if (byte)
        words.back() += table_.byte(id);
      else
        words.back() += text;
    }
    return words;
  }

  void restrict_encoder(const std::vector<std::string>& tokens) {
    std::vector<bool> usable(size_t(size()), false);
    for (int id = 0; id < size(); ++id) {
      const std::string_view text = table_.text(id);
      size_t end = 0;
      if (!text.empty()) next_code_point(text, end);
      usable[size_t(id)] = table_.kind(id) != TokenTable::Kind::normal || end >= text.size();
    }
    for (const std::string& token : tokens)
      if (const int id = id_of(token); id >= 0) usable[size_t(id)] = true;
    encoder_->restrict_to(std::move(usable));
  }

  // Encodes with SentencePiece; appends to ids.
  void encode_text(std::string_view text, std::vector<int>& ids) const {
    if (has_bytes() && text.find(space_sign) != text.npos) return encode_space_signs(text, ids);
    const std::vector<int> more = sp_encode<int>(text);
    ids.insert(ids.end(), more.begin(), more.end());
  }

  // Ids, or texts.
  template <class T>
  std::vector<T> sp_encode(std::string_view text) const {
    std::vector<T> tokens;
    const auto status = sentencepiece().Encode(text, &tokens);
    if (!status.ok()) throw DataError(std::string("cannot encode: ") + status.message());
    return tokens;
  }

  std::string sp_decode(std::span<const int> ids) const {
    std::string text;
    const auto status = sentencepiece().Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    if (!status.ok()) throw DataError(std::string("cannot decode: ") + status.message());
    return text;
  }

  // The line itself may contain the stand-in, so the order of both is recorded: UTF-8 is
  // self-synchronising, so the n-th run of the four byte tokens is the n-th occurrence of either.
  void encode_space_signs(std::string_view line, std::vector<int>& ids) const {
    std::string text;
    std::vector<bool> is_sign;
    for (size_t i = 0; i < line.size();) {
      const std::string_view rest = line.substr(i);
      const bool sign = rest.starts_with(space_sign), own = rest.starts_with(stand_in_);
      if (sign || own) {
        is_sign.push_back(sign);
        text += stand_in_;
        i += sign ? space_sign.size() : stand_in_.size();
      } else {
        text += line[i++];
      }
    }
    const std::vector<int> raw = sp_encode<int>(text);
    size_t seen = 0;
    for (size_t i = 0; i < raw.size();) {
      if (std::equal(stand_in_ids_.begin(), stand_in_ids_.end(), raw.begin() + i,
                     raw.begin() + std::min(raw.size(), i + stand_in_ids_.size())) &&
          is_sign.at(seen++)) {
        ids.insert(ids.end(), sign_ids_.begin(), sign_ids_.end());
        i += stand_in_ids_.size();
      } else {
        ids.push_back(raw[i++]);
      }
    }
  }

  std::string where_;
  SentencePieceSettings settings_;
  mutable sentencepiece::SentencePieceProcessor model_;  // see sentencepiece()
  mutable std::once_flag loaded_;
  TokenTable table_;
  std::optional<BpeEncoder> encoder_;  // replaces SentencePiece's for models that allow it
  std::vector<bool> sentinels_;        // by id
  bool any_sentinel_ = false;
  std::string stand_in_;
  std::array<int, 4> stand_in_ids_{};
  std::array<int, 3> sign_ids_{};
};

}  // namespace

std::unique_ptr<Vocabulary> parse_subword(std::string bytes, const std::string& where) {
  return std::make_unique<Subword>(std::move(bytes), where);
}

struct PieceSplitter::Model {
  sentencepiece::SentencePieceProcessor processor;
  std::string hash;
};

PieceSplitter::PieceSplitter(const std::string& bytes, const std::string& where)
    : model_(std::make_unique<Model>()) {
  check_model_proto(bytes, where);
  load_model(model_->processor, bytes, where);
  model_->hash = xxh3_hex(bytes.data(), bytes.size());
}

PieceSplitter::~PieceSplitter() = default;

void PieceSplitter::split(std::string_view line, std::vector<std::string>& pieces) const {
  const auto status = model_->processor.Encode(line, &pieces);
  if (!status.ok()) throw DataError(std::string("cannot split a line: ") + status.message());
}

std::vector<ListedPiece> PieceSplitter::tokens() const {
  const auto& p = model_->processor;
  std::vector<ListedPiece> all;
  for (int id = 0; id < p.GetPieceSize(); ++id)
    all.push_back({p.IdToPiece(id), p.IsControl(id) || p.IsUnknown(id), p.IsByte(id)});
  return all;
}

int PieceSplitter::unk() const { return model_->processor.unk_id(); }

const std::string& PieceSplitter::hash() const { return model_->hash; }

}  // namespace tx
