// The Transformer of fairseq: its own checkpoints with dict.LANGUAGE.txt, and FSMT, the form that
// Hugging Face gave them (Ott et al. 2019; Ng et al. 2019). LayerNorm with 1e-5; sinusoids in
// halves whose slowest wave is d_model / 2 - 1, the first token at the row behind pad's; the
// decoder begins with </s>.
//
// The tokens are words: text is cut beforehand, as it was for fairseq (tokens of subword-nmt end
// in "@@"), unless the folder has the SentencePiece model that cut it.
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/fairseq_folder.h"
#include "lib/convert/families/layers.h"
#include "lib/convert/families/pieces.h"
#include "lib/convert/families/word_pieces.h"
#include "lib/convert/formats/folder.h"

namespace tx {

namespace {

class Fairseq {
 public:
  explicit Fairseq(FairseqFolder folder) : in_(std::move(folder)), map_(*in_.weights) {
    for (const FairseqFolder::Side& side : in_.sides)
      orders_.emplace_back(side.tokens, in_.special, side.path);
  }

  ForeignModel import() {
    ForeignModel model;
    model.what = in_.what;
    model.from = in_.weights;
    model.content.config = ModelConfig::from_json(model_json(), in_.where);
    model.content.vocabularies = Vocabularies({vocabulary(0), vocabulary(1)});
    model.content.provenance = Json{{"converted", in_.provenance}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string stack : {"encoder.", "decoder."})
      for (const char* name : {"version", "embed_tokens.weight", "embed_positions._float_tensor",
                               "embed_positions.weight", "output_projection.weight", "embed_out"})
        map_.ignore(in_.prefix + stack + name);
    map_.check_all_used();
    return model;
  }

 private:
  Json model_json() const {
    Json json = in_.config;
    for (size_t side = 0; side < 2; ++side)
      json[side == 0 ? "source_vocabulary" : "target_vocabulary"] = orders_[side].size();
    json["kind"] = "encoder-decoder";
    json["position_offset"] = in_.special.pad + 1;
    json["attention_bias"] = json["output_bias"] = true;
    json["norm_epsilon"] = 1e-5;
    if (json["positions"] == "learned") json["max_positions"] = position_rows();
    return json;
  }

  // tx has one length for both tables.
  int64_t position_rows() const {
    const auto rows = [&](const char* stack) {
      const std::string name = in_.prefix + stack + ".embed_positions.weight";
      const auto& shape = in_.weights->at(name).shape;
      return shape.empty() ? 0 : shape[0];
    };
    if (rows("encoder") != rows("decoder"))
      throw DataError(in_.where + ": source and target have learned positions of another length (" +
                      std::to_string(rows("encoder")) + " and " + std::to_string(rows("decoder")) +
                      "); tx has one for both");
    return rows("encoder");
  }

  Vocabularies::Pointer vocabulary(size_t side) const {
    const TokenOrder& order = orders_[side];
    const std::string& path = in_.sides[side].subword_model;
    if (path.empty()) return parse_vocabulary(word_list(order.tokens()), in_.sides[side].path);
    MappedTokens content;
    content.tokens = order.tokens();
    for (int id = 0; id < Vocabulary::specials; ++id) content.theirs.push_back(order.from(id));
    content.bytes = true;
    content.model = read_sentencepiece(path);
    return parse_vocabulary(mapped_bytes(content), path);
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "output.bias") {
      const int64_t count = orders_[1].size() - 1;
      return orders_[1].bias({1, count, [count](int64_t, int64_t rows, float* to) {
                                std::fill(to, to + rows * count, 0.0f);
                              }});
    }
    // Of tensors that are one, files hold any.
    const std::string tied = "decoder.output_projection.weight";
    const std::string source = "encoder.embed_tokens.weight",
                      target = "decoder.embed_tokens.weight";
    if (e.name == "embedding.weight") return embedding(0, {source, target, tied}, e.cols);
    if (e.name == "encoder.embedding.weight") return embedding(0, {source}, e.cols);
    if (e.name == "decoder.embedding.weight")
      return in_.config["tie"] == "target" ? embedding(1, {target, tied}, e.cols)
                                           : embedding(1, {target}, e.cols);
    if (e.name == "output.weight") return embedding(1, {tied, "decoder.embed_out"}, e.cols);
    if (e.name.ends_with(".positions.weight")) {
      const std::string stack = e.name.substr(0, e.name.find('.'));
      return map_.take(in_.prefix + stack + ".embed_positions.weight", file_shape(e));
    }
    return map_.take(in_.prefix + bart_name(e.name).substr(sizeof "model." - 1), file_shape(e));
  }

  WeightRows embedding(size_t side, std::vector<std::string> names, int64_t d) {
    for (std::string& name : names) name = in_.prefix + name;
    const std::string found = map_.any_of(names);
    const int64_t tokens = orders_[side].size() - 1;
    const ForeignTensor& t = in_.weights->at(found.empty() ? names[0] : found);
    if (t.shape.size() == 2 && t.shape[0] != tokens)
      throw DataError(in_.sides[side].path + " has " + std::to_string(tokens) +
                      " tokens with <s>, <pad>, </s> and <unk>, but " + found + " has " +
                      std::to_string(t.shape[0]) + " rows");
    return orders_[side].rows(map_.take(found, {tokens, d}));
  }

  FairseqFolder in_;
  WeightMap map_;
  std::vector<TokenOrder> orders_;
};

}  // namespace

ForeignModel import_fairseq(const std::string& folder) {
  return Fairseq(read_fairseq_folder(folder)).import();
}

ForeignModel import_fsmt(const std::string& folder, const Json& config) {
  return Fairseq(read_fsmt_folder(folder, config)).import();
}

}  // namespace tx
