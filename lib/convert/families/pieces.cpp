#include "lib/convert/families/pieces.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/convert/formats/long_object.h"

namespace tx {

PieceOrder::PieceOrder(const std::vector<std::string>& pieces, const SpecialIds& special,
                       const std::string& where, Start start) {
  const bool own = start == Start::own;
  const auto count = int64_t(pieces.size());
  const auto check = [&](const char* name, int64_t id) {
    if (id >= 0 && id < count) return;
    throw DataError(where + ": the id of " + name + " is " + std::to_string(id) + ", outside the " +
                    std::to_string(count) + " pieces");
  };
  check("pad", special.pad);
  check("unk", special.unk);
  check("eos", special.eos);
  check("what the decoder reads first", special.start);
  if (special.pad == special.unk || special.unk == special.eos || special.eos == special.pad)
    throw DataError(where + ": two of pad, unk and eos are one piece");
  if (own && (special.start == special.pad || special.start == special.unk ||
              special.start == special.eos))
    throw DataError(where + ": bos is also pad, unk or eos");
  from_ = {special.pad, special.unk, special.start, special.eos};
  for (int64_t id = 0; id < count; ++id)
    if (id != special.pad && id != special.unk && id != special.eos &&
        !(own && id == special.start))
      from_.push_back(id);
  to_.assign(pieces.size(), -1);
  for (size_t i = 0; i < from_.size(); ++i) {
    pieces_.push_back(pieces[size_t(from_[i])]);
    if (own || i != Vocabulary::bos) to_[size_t(from_[i])] = int(i);
  }
  if (own) return;
  std::string name = "<s>";
  while (std::find(pieces.begin(), pieces.end(), name) != pieces.end()) name += '_';
  pieces_[Vocabulary::bos] = name;
}

PieceOrder PieceOrder::of(const MappedPieces& content, const std::string& where, Start start) {
  if (content.theirs.size() != Vocabulary::specials)
    throw DataError(where + ": its vocabulary does not say how pieces were numbered before");
  const auto& t = content.theirs;
  const size_t count = content.pieces.size() - (start == Start::copied ? 1 : 0);
  return {std::vector<std::string>(count, "-"), {t[0], t[1], t[2], t[3]}, where, start};
}

int PieceOrder::id(int64_t theirs) const {
  return theirs < 0 || theirs >= int64_t(to_.size()) ? -1 : to_[size_t(theirs)];
}

WeightRows PieceOrder::rows(WeightRows theirs) const {
  const int64_t cols = theirs.cols;
  return {size(), cols,
          [from = from_, theirs = std::move(theirs)](int64_t first, int64_t count, float* to) {
            for (int64_t i = 0; i < count; ++i)
              theirs.read(from[size_t(first + i)], 1, to + i * theirs.cols);
          }};
}

WeightRows PieceOrder::bias(WeightRows theirs) const {
  return {1, size(), [from = from_, theirs = std::move(theirs)](int64_t, int64_t count, float* to) {
            if (count == 0) return;
            std::vector<float> all(size_t(theirs.cols));
            theirs.read(0, 1, all.data());
            for (size_t i = 0; i < from.size(); ++i) to[i] = all[size_t(from[i])];
            to[Vocabulary::bos] = never;
          }};
}

std::vector<std::string> read_piece_ids(const std::string& path) {
  return pieces_by_id(read_long_object(path), path);
}

std::vector<std::string> pieces_by_id(const Json& json, const std::string& path) {
  std::vector<std::string> pieces(json.size());
  std::vector<bool> seen(json.size(), false);
  for (const auto& [piece, id] : json.items()) {
    const bool number = id.is_number_unsigned() && id.get<uint64_t>() < pieces.size();
    const size_t at = number ? id.get<size_t>() : 0;
    if (!number || seen[at] || piece.empty())
      throw DataError(path + ": the piece " + to_text(Json(piece.substr(0, 100))) +
                      " has no id of its own from 0 to " + std::to_string(pieces.size() - 1));
    seen[at] = true;
    pieces[at] = piece;
  }
  if (pieces.empty()) throw DataError(path + " lists no pieces");
  return pieces;
}

}  // namespace tx
