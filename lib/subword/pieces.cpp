#include "lib/subword/pieces.h"

#include <sentencepiece_processor.h>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/subword/model_proto.h"

namespace tx {

struct PieceSplitter::Model {
  sentencepiece::SentencePieceProcessor processor;
  std::string hash;
};

PieceSplitter::PieceSplitter(const std::string& bytes, const std::string& where)
    : model_(std::make_unique<Model>()) {
  check_model_proto(bytes, where);
  std::string reason;
  try {
    const auto status = model_->processor.LoadFromSerializedProto(bytes);
    if (!status.ok()) reason = status.message();
  } catch (const std::exception& error) {  // of the tries inside SentencePiece
    reason = error.what();
  }
  if (!reason.empty()) throw DataError(where + " is not a sound subword model: " + reason);
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
