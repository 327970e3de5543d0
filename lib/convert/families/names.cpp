#include "lib/convert/families/names.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/model/positions.h"
#include "lib/subword/model_proto.h"

namespace tx {

namespace {

constexpr int64_t max_vocabulary = int64_t(1) << 28;  // bytes

// The vocabulary of one side.
class NamedSide {
 public:
  NamedSide(const std::string& path, const Json& table, const std::string& where)
      : path_(path),
        tokens_(listed_tokens(read_regular_file(path, max_vocabulary), path)),
        theirs_(std::ssize(tokens_)) {
    for (const std::string& token : tokens_)
      if (token.empty() || count_invalid_utf8(token) > 0)
        throw DataError(path + ": the token " + shown(token) + " is empty or invalid UTF-8");
    text_ = json_value<std::string>(table, "text", where, "words");
    if (text_ != "words" && text_ != "characters")
      throw DataError(where + ": \"text\" must be \"words\" or \"characters\"");
    SpecialIds special;
    for (const auto& [key, id] : {std::pair{"start", &special.start},
                                  {"end", &special.eos},
                                  {"pad", &special.pad},
                                  {"unk", &special.unk}}) {
      const std::string place = where + ": \"tokens\"";
      const auto name = json_value<std::string>(table["tokens"], key, place, "");
      const auto at = std::ranges::find(tokens_, name);
      *id = at == tokens_.end() ? -1 : at - tokens_.begin();
      if (*id < 0 && (id == &special.start || id == &special.eos))
        throw DataError(path + " has no token " + shown(name) + ", which " + place +
                        " gives as the \"" + key + "\" of a text");
    }
    if (special.pad == special.eos || special.pad == special.start) special.pad = add("<pad>");
    has_unk_ = special.unk >= 0;
    if (!has_unk_) special.unk = add("<unk>");
    if (special.pad < 0) special.pad = add("<pad>");
    const Start start = special.start == special.eos ? Start::copied : Start::own;
    order_.emplace(tokens_, special, path, start);
  }

  const std::string& path() const { return path_; }
  int64_t theirs() const { return theirs_; }  // rows in the checkpoint
  bool has_unk() const { return has_unk_; }
  const TokenOrder& order() const { return *order_; }

  // begins: texts begin with the start token.
  Vocabularies::Pointer vocabulary(bool begins) const {
    MappedTokens content = order_->content();
    if (begins) content.prefix = {Vocabulary::bos};
    content.model = text_ == "words" ? words() : characters(content);
    return parse_vocabulary(mapped_bytes(content), path_);
  }

  // Of a matrix with a row for each token of theirs.
  WeightRows rows(WeightRows theirs) const {
    return order_->rows(with_zeros(std::move(theirs), std::ssize(tokens_)));
  }

 private:
  int64_t add(std::string name) {
    while (std::ranges::find(tokens_, name) != tokens_.end()) name += '_';
    tokens_.push_back(std::move(name));
    return std::ssize(tokens_) - 1;
  }

  // White space separates tokens, none of which begins with the prefix of those within a word.
  std::string words() const {
    TokenizerSpec spec;
    spec.model = TokenizerSpec::Model::wordpiece;
    spec.tokens = tokens_;
    spec.unk = int(order_->from(Vocabulary::unk));
    spec.max_characters = 1 << 20;
    spec.prefix = "\n";
    spec.splitter = {Json{{"type", "WhitespaceSplit"}}};
    spec.decoder = {Json{{"type", "WordPiece"}, {"prefix", spec.prefix}, {"cleanup", false}}};
    return tokenizer_bytes(spec);
  }

  // A SentencePiece model without merges, which finds longer tokens first. It writes spaces as
  // U+2581, here and in the list of tokens.
  static std::string characters(MappedTokens& content) {
    std::string unknown = "<unk>";
    while (std::ranges::find(content.tokens, unknown) != content.tokens.end()) unknown += '_';
    std::vector<ModelPiece> pieces = {{unknown, 0, ModelPiece::unknown}};
    for (size_t id = Vocabulary::specials; id < content.tokens.size(); ++id) {
      std::string& token = content.tokens[id];
      replace_all(token, " ", "\u2581");
      size_t end = 0;
      next_code_point(token, end);
      pieces.push_back(
          {token, 0, end == token.size() ? ModelPiece::normal : ModelPiece::user_defined});
    }
    return bpe_model(pieces, false, false);
  }

  std::string path_, text_;
  std::vector<std::string> tokens_;  // in their order; then pad and unk where they have none
  int64_t theirs_;
  bool has_unk_ = false;
  std::optional<TokenOrder> order_;
};

const std::string source_embedding = "encoder.embedding.weight";
const std::string target_embedding = "decoder.embedding.weight";
const std::string output = "output.weight";

class Names {
 public:
  Names(const std::string& path, const NamesOptions& options)
      : where_(options.table),
        table_(read_names(options.table)),
        tensors_(path, table_["names"], where_),
        source_(options.vocabulary, table_, where_),
        target_(options.target_vocabulary.empty() ? options.vocabulary : options.target_vocabulary,
                table_, where_) {
    for (const auto& [name, tensor] : tensors_.all()->all())
      if (name.ends_with(".a_2"))
        throw DataError(path + ": " + shown(name) +
                        " belongs to the norm of the Annotated Transformer, (x - mean) / (std + " +
                        "eps) with n - 1 in std; tx has PyTorch's LayerNorm only");
    if (options.heads > 0) table_["config"]["heads"] = options.heads;
    if (!table_["config"].contains("heads"))
      throw DataError(where_ + ": the weights do not tell the number of attention heads: give " +
                      "--heads, or \"heads\" in \"config\"");
  }

  ForeignModel import() {
    ForeignModel model;
    model.what = "a PyTorch model";
    model.from = tensors_.all();
    ModelConfig& config = model.content.config;
    config = ModelConfig::from_json(configuration(), where_);
    for (const ParameterEntry& e : parameter_table(config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string& name : {source_embedding, output})
      if (tensors_.same(name, target_embedding)) tensors_.ignore(tensors_.at(name).name);
    for (const std::string& name : listed("ignore")) tensors_.ignore(name);
    for (const std::string& name : listed("sinusoids"))
      if (config.sinusoids()) check_sinusoids(name, config);
    tensors_.check_all_taken();
    model.content.vocabularies =
        Vocabularies({source_.vocabulary(token_flag("source_start")), target_.vocabulary(false)});
    if (!source_.has_unk())
      model.warnings.push_back(source_.path() +
                               " has no unk token: unknown text is read as a vector of zeros");
    model.content.provenance = Json{{"converted", "PyTorch, names of " + where_}};
    return model;
  }

 private:
  bool token_flag(const char* key) const {
    return json_value(table_["tokens"], key, where_ + ": \"tokens\"", true);
  }

  // What the table gives, and what the shapes tell.
  Json configuration() const {
    Json json = table_["config"];
    const auto derive = [&](const char* key, auto value) {
      if (!json.contains(key)) json[key] = value();
    };
    for (const auto& [side, name] :
         {std::pair{&source_, source_embedding}, {&target_, target_embedding}})
      if (const int64_t rows = tensors_.size(name, 0); rows != side->theirs())
        throw DataError(side->path() + " has " + std::to_string(side->theirs()) + " tokens, but " +
                        tensors_.at(name).name + " has " + std::to_string(rows) + " rows");
    const std::string first = "encoder.layers.0.", inner = first + "ffn.in_proj.";
    json["kind"] = "encoder-decoder";
    json["source_vocabulary"] = source_.order().size();
    json["target_vocabulary"] = target_.order().size();
    derive("encoder_layers", [&] { return layers("encoder"); });
    derive("decoder_layers", [&] { return layers("decoder"); });
    derive("d_model", [&] { return tensors_.size(target_embedding, 1); });
    derive("d_ff", [&] { return tensors_.size(inner + "weight", 0); });
    derive("tie", [&] { return tie(); });
    derive("attention_bias", [&] { return tensors_.has(first + "self_attn.q_proj.bias"); });
    derive("attention_output_bias",
           [&] { return tensors_.has(first + "self_attn.out_proj.bias"); });
    derive("feed_forward_bias", [&] { return tensors_.has(inner + "bias"); });
    derive("final_norm", [&] { return tensors_.has("decoder.norm.weight"); });
    derive("norm_epsilon", [] { return 1e-5; });
    if (json.value("positions", Json()) == "learned")
      derive("max_positions", [&] { return tensors_.size("decoder.positions.weight", 0); });
    json["source_eos"] = token_flag("source_end");
    json["output_bias"] = true;  // for the tokens that they do not have
    return json;
  }

  int64_t layers(const std::string& stack) const {
    const auto name = [&](int64_t layer) {
      return stack + ".layers." + std::to_string(layer) + ".ffn.in_proj.weight";
    };
    int64_t count = 0;
    while (count <= max_layers && tensors_.has(name(count))) ++count;
    if (count == 0) tensors_.at(name(0));  // throws
    return count;
  }

  std::string tie() const {
    const bool predicted = tensors_.same(target_embedding, output);
    const bool sides = source_.order().tokens() == target_.order().tokens() &&
                       tensors_.same(source_embedding, target_embedding);
    return sides && predicted ? "all" : sides ? "embeddings" : predicted ? "target" : "none";
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const int64_t source = source_.theirs(), target = target_.theirs();
    if (e.name == "output.bias")
      return target_.order().own_bias(tensors_.has(e.name) ? tensors_.take(e.name, {target})
                                                           : zeros(1, target));
    if (e.name == source_embedding) return source_.rows(tensors_.take(e.name, {source, e.cols}));
    if (e.name == output) return target_.rows(tensors_.take(e.name, {target, e.cols}));
    if (e.name.ends_with("embedding.weight"))
      return target_.rows(tensors_.take(target_embedding, {target, e.cols}));
    return tensors_.take(e.name, file_shape(e));
  }

  // The tensors that fit the patterns of a list.
  std::vector<std::string> listed(const char* key) const {
    std::vector<std::string> names;
    for (const auto& pattern : json_value(table_, key, where_, std::vector<std::string>()))
      for (const std::string& name : tensors_.ending(pattern)) names.push_back(name);
    return names;
  }

  // PyTorch computes the table in fp32, where the angle of position p has an error of about 1e-7 p.
  void check_sinusoids(const std::string& name, const ModelConfig& config) {
    const WeightRows table = tensors_.take_table(name);
    const std::vector<SinusoidPair> pairs = sinusoid_pairs(config.d_model, config.positions);
    std::vector<float> row(size_t(table.cols));
    for (int64_t position = 0; position < table.rows; ++position) {
      table.read(position, 1, row.data());
      const std::vector<double> wanted = sinusoid(position + config.position_offset, pairs);
      for (size_t i = 0; i < wanted.size(); ++i)
        if (row.size() != wanted.size() ||
            !(std::abs(row[i] - wanted[i]) < 1e-5 + 2e-7 * double(position)))
          throw DataError(
              tensors_.all()->where() + ": " + name + " is not the table of \"" +
              config.positions.name + "\" positions, from position " + std::to_string(position) +
              " on; if it is learned, set \"positions\": " + "\"learned\" in \"config\"");
    }
  }

  std::string where_;
  Json table_;
  NamedTensors tensors_;
  NamedSide source_, target_;
};

}  // namespace

ForeignModel import_by_names(const std::string& path, const NamesOptions& options) {
  return Names(path, options).import();
}

}  // namespace tx
