#include "lib/text/subword.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/text/bpe.h"
#include "lib/text/model_proto.h"

namespace tx {
namespace {

constexpr std::string_view space_sign = "\xE2\x96\x81";  // U+2581, SentencePiece's space

// A private-use character (plane 16) that no piece contains, so that it encodes to its four byte
// pieces: it stands in for U+2581 on the way through SentencePiece.
std::string find_stand_in(const sentencepiece::SentencePieceProcessor& model) {
  for (char32_t c = 0x10FFFD; c > 0x100000; --c) {
    std::string text;
    append_code_point(text, c);
    bool used = false;
    for (int id = 0; id < model.GetPieceSize() && !used; ++id) {
      used = model.IdToPiece(id).find(text) != std::string::npos;
    }
    if (!used) return text;
  }
  throw Bug("a private-use character is free", __FILE__, __LINE__);
}

class Subword final : public Vocabulary {
 public:
  Subword(std::string bytes, const std::string& where) : Vocabulary(std::move(bytes)) {
    const ModelSettings settings = check_model_proto(this->bytes(), where);
    load(where);
    check_special_ids(where);
    has_bytes_ = model_.IsByte(model_.PieceToId("<0xE2>"));
    if (!has_bytes_) return;
    stand_in_ = find_stand_in(model_);
    for (size_t i = 0; i < stand_in_ids_.size(); ++i) stand_in_ids_[i] = byte_piece(stand_in_[i]);
    for (size_t i = 0; i < sign_ids_.size(); ++i) sign_ids_[i] = byte_piece(space_sign[i]);
    if (settings.plain_bpe) make_encoder();
  }

  std::string kind() const override { return "sentencepiece"; }
  int size() const override { return model_.GetPieceSize(); }

  void encode(std::string_view line, std::vector<int>& ids) const override {
    ids.clear();
    if (line.empty()) return;
    if (!encoder_) return encode_text(line, ids);
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view word = line.substr(at, end - at);
      if (!encoder_->encode_word(word, ids)) encode_text(word, ids);
      at = end + 1;
    }
  }

  std::string decode(std::span<const int> ids) const override {
    for (const int id : ids) check_id(id);
    std::string text;
    const auto status = model_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    if (!status.ok()) throw DataError(std::string("cannot decode: ") + status.message());
    repair_utf8(text);  // a foreign model's pieces may hold anything
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  std::string piece(int id) const override {
    check_id(id);
    return model_.IdToPiece(id);
  }

  int id_of(std::string_view piece) const override {
    const int id = model_.PieceToId(piece);
    return model_.IdToPiece(id) == piece ? id : -1;  // SentencePiece answers unk for no such piece
  }

 private:
  void load(const std::string& where) {
    std::string reason;
    try {
      const auto status = model_.LoadFromSerializedProto(bytes());
      if (status.ok()) return;
      reason = status.message();
    } catch (const std::exception& error) {  // of the tries inside SentencePiece
      reason = error.what();
    }
    throw DataError(where + " is no sound subword model: " + reason);
  }

  void check_special_ids(const std::string& where) const {
    if (model_.pad_id() == pad && model_.unk_id() == unk && model_.bos_id() == bos &&
        model_.eos_id() == eos) {
      return;
    }
    const auto text = [](int id) { return id < 0 ? std::string("none") : std::to_string(id); };
    throw DataError(where + ": the ids of this subword model are pad " + text(model_.pad_id()) +
                    ", unk " + text(model_.unk_id()) + ", bos " + text(model_.bos_id()) + ", eos " +
                    text(model_.eos_id()) +
                    "; needed are pad 0, unk 1, bos 2, eos 3: train it with tx-bpe, or with "
                    "spm_train --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3");
  }

  int byte_piece(char byte) const {
    constexpr char digits[] = "0123456789ABCDEF";
    const auto value = static_cast<unsigned char>(byte);
    const std::string name = {'<', '0', 'x', digits[value >> 4], digits[value & 15], '>'};
    return model_.PieceToId(name);
  }

  void make_encoder() {
    std::vector<BpePiece> pieces;
    for (int id = 0; id < size(); ++id) {
      if (model_.IsControl(id) || model_.IsUnknown(id) || model_.IsByte(id)) continue;
      pieces.push_back({id, model_.IdToPiece(id), model_.GetScore(id)});
    }
    std::array<int, 256> bytes{};
    for (int i = 0; i < 256; ++i) bytes[size_t(i)] = byte_piece(char(i));
    encoder_ = BpeEncoder::make(pieces, bytes);
  }

  // By SentencePiece, whose text begins with a word; appends to ids.
  void encode_text(std::string_view text, std::vector<int>& ids) const {
    if (has_bytes_ && text.find(space_sign) != text.npos) return encode_space_signs(text, ids);
    const std::vector<int> more = run(text);
    ids.insert(ids.end(), more.begin(), more.end());
  }

  std::vector<int> run(std::string_view text) const {
    std::vector<int> ids;
    const auto status = model_.Encode(text, &ids);
    if (!status.ok()) throw DataError(std::string("cannot encode: ") + status.message());
    return ids;
  }

  // The stand-in may also stand in the line itself, so the order of both is noted: UTF-8 is
  // self-synchronising, so the n-th run of the four byte pieces is the n-th of either.
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
    const std::vector<int> raw = run(text);
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

  sentencepiece::SentencePieceProcessor model_;
  std::optional<BpeEncoder> encoder_;  // instead of model_'s, for models that allow it
  bool has_bytes_ = false;
  std::string stand_in_;
  std::array<int, 4> stand_in_ids_{};
  std::array<int, 3> sign_ids_{};
};

}  // namespace

std::unique_ptr<Vocabulary> parse_subword(std::string bytes, const std::string& where) {
  return std::make_unique<Subword>(std::move(bytes), where);
}

}  // namespace tx
