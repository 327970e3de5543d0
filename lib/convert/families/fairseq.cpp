// The Transformer of fairseq (Ott et al. 2019; Ng et al. 2019): fairseq's own checkpoints with
// dict.LANGUAGE.txt, and Hugging Face's FSMT. LayerNorm epsilon 1e-5; sinusoids in halves with
// frequencies spaced over d_model / 2 - 1, the first token at position pad + 1; the decoder starts
// with </s>. The vocabulary is a word list, for text tokenised as for fairseq (subword-nmt ends
// tokens in "@@"), unless the directory has a SentencePiece model.
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/convert/formats/pickle.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

// What both formats have in common.
struct FairseqFiles {
  struct Side {
    std::string path;                 // of the dictionary
    std::vector<std::string> tokens;  // in the order of their ids
    std::string subword_model;        // path of the SentencePiece model; "": none
  };
  std::string what, provenance;
  std::string where;   // the file with the configuration
  Json config;         // tx's configuration so far; model_json() adds the rest
  std::string prefix;  // of weight names
  SpecialIds special;
  std::array<Side, 2> sides;
  std::shared_ptr<const ForeignTensors> weights;
};

using Kind = PickleValue::Kind;

constexpr int64_t max_dictionary = int64_t(1) << 28;  // bytes

// Settings as JSON: numbers, strings and one level of dicts; the name of a class; else null.
Json to_json(const PickleValue& value, int depth = 0) {
  if (value.kind == Kind::boolean) return value.integer != 0;
  if (value.kind == Kind::integer) return value.integer;
  if (value.kind == Kind::real)
    return std::isfinite(value.real) ? Json(value.real) : Json("not a finite number");
  if (value.kind == Kind::text) return value.text;
  if (value.kind == Kind::opaque) return "an object of " + value.text;
  if (value.kind != Kind::dict || depth > 0) return Json();
  Json json = Json::object();
  auto& members = json.get_ref<Json::object_t&>();  // emplace_back: no linear search for the key
  for (size_t i = 0; i + 1 < value.items.size(); i += 2)
    if (value.items[i]->kind == Kind::text)
      members.emplace_back(value.items[i]->text, to_json(*value.items[i + 1], depth + 1));
  return json;
}

// The settings of a checkpoint: "args", or since 0.10.1 "cfg" with "model" and "task".
Json settings_of(const PickleValue& content, const std::string& path) {
  const PickleValue* args = content.find("args");
  if (args != nullptr && args->kind == Kind::dict) return to_json(*args);
  const PickleValue* cfg = content.find("cfg");
  for (const PickleValue* settings : {args, cfg})
    if (settings != nullptr && settings->kind == Kind::opaque)
      throw DataError(path + ": its settings are an object of " + shown(settings->text) +
                      ", which is not read; save the checkpoint again with a plain dict");
  const PickleValue* model = cfg == nullptr ? nullptr : cfg->find("model");
  const PickleValue* task = cfg == nullptr ? nullptr : cfg->find("task");
  if (model == nullptr || model->kind != Kind::dict)
    throw DataError(path + " is not a fairseq checkpoint: it has neither args nor cfg");
  Json json = to_json(*model);
  if (task == nullptr || task->kind != Kind::dict) return json;
  Json more = to_json(*task);
  auto& members = json.get_ref<Json::object_t&>();  // those of the model come first and count
  for (const auto& [key, value] : more.items()) members.emplace_back(key, value);
  return json;
}

// The layers' configuration; the two formats differ in the names of two keys.
Json layers_json(const FamilyConfig& c, const std::string& ffn, const std::string& heads) {
  const auto same = [&](const std::string& key) {
    return c.same(("encoder_" + key).c_str(), ("decoder_" + key).c_str());
  };
  return Json{
      {"encoder_layers", c.size("encoder_layers", max_layers)},
      {"decoder_layers", c.size("decoder_layers", max_layers)},
      {"d_ff", same(ffn)},
      {"heads", same(heads)},
      {"activation", c.has("activation_fn")         ? activation_of(c, "activation_fn")
                     : c.has("activation_function") ? activation_of(c, "activation_function")
                                                    : "relu"}};
}

// "TOKEN COUNT" per line, after the implicit <s>, <pad>, </s> and <unk>.
std::vector<std::string> read_dictionary(const std::string& path) {
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>"};
  std::unordered_map<std::string, size_t> ids;
  for (const std::string& token : tokens) ids.emplace(token, ids.size());
  const std::string text = read_regular_file(path, max_dictionary);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    constexpr std::string_view flag = " #fairseq:overwrite";
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const bool overwrites = line.ends_with(flag);
    if (overwrites) line.remove_suffix(flag.size());
    const size_t space = line.rfind(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() ||
        line.find_first_not_of("0123456789", space + 1) != line.npos)
      throw DataError(path + ":" + std::to_string(tokens.size() - 3) +
                      ": expected a token, a space and its count");
    const auto [known, added] = ids.emplace(line.substr(0, space), tokens.size());
    if (!added && !overwrites)
      throw DataError(path + ":" + std::to_string(tokens.size() - 3) + ": the token " +
                      shown(known->first) + " occurs twice: end the line in \"" +
                      std::string(flag) + "\" if it replaces the earlier one");
    tokens.push_back(known->first);
    const size_t before = std::exchange(known->second, tokens.size() - 1);
    if (!added) tokens[before] = unnamed_row(int64_t(before));
  }
  return tokens;
}

std::string subword_model(const std::string& directory, size_t side) {
  for (const char* name :
       {side == 0 ? "source.spm" : "target.spm", "sentencepiece.bpe.model", "spm.model"})
    if (file_exists(directory + "/" + name)) return directory + "/" + name;
  return "";
}

// Refuses variants of fairseq's Transformer that tx does not support.
void check_blocks(const FamilyConfig& c) {
  const std::string arch = c.has("_name") ? c.text("_name") : c.has("arch") ? c.text("arch") : "";
  if (arch.find("transformer") == arch.npos)
    c.refuse("its architecture is " + shown(arch) + ", not a transformer");
  for (const char* key :
       {"layernorm_embedding", "no_cross_attention", "cross_self_attention",
        "no_token_positional_embeddings", "no_decoder_final_norm", "tie_adaptive_weights",
        "char_inputs", "merge_src_tgt_embed", "encoder_learned_pos", "decoder_learned_pos"})
    c.must_be(key, false);
  for (const char* key : {"adaptive_input", "base_layers", "encoder_prenet"})
    if (c.has(key) && c.json()[key] != 0) c.must_be(key, false);
  if (c.has("adaptive_softmax_cutoff")) c.refuse("adaptive softmax is not supported");
  for (const char* key : {"decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"})
    if (c.has(key)) c.same("encoder_embed_dim", key);
  if (c.flag("encoder_normalize_before", false) != c.flag("decoder_normalize_before", false))
    c.refuse(
        "encoder_normalize_before and decoder_normalize_before differ, but tx has one setting for "
        "both");
}

// Reads fairseq_checkpoint(), dict.SOURCE.txt and dict.TARGET.txt. The SentencePiece model, if any,
// is source.spm and target.spm, sentencepiece.bpe.model or spm.model.
FairseqFiles read_fairseq(const std::string& directory) {
  FairseqFiles in;
  in.where = fairseq_checkpoint(directory);
  auto file = std::make_shared<TorchFile>(read_torch_file(in.where));
  in.weights = std::shared_ptr<const ForeignTensors>(file, &file->tensors);
  in.what = "a Transformer of fairseq";
  in.provenance = "fairseq";
  const Json settings = settings_of(file->content->value(), in.where);
  const FamilyConfig c(settings, in.where);
  check_blocks(c);
  in.config = layers_json(c, "ffn_embed_dim", "attention_heads");
  in.config["d_model"] = c.size("encoder_embed_dim");
  in.config["norm"] = c.flag("encoder_normalize_before", false) ? "pre" : "post";
  in.config["scaled_embeddings"] = !c.flag("no_scale_embedding", false);
  in.config["tie"] = c.flag("share_all_embeddings", false)               ? "all"
                     : c.flag("share_decoder_input_output_embed", false) ? "target"
                                                                         : "none";
  in.special = {1, 3, 2, 2};
  for (size_t side = 0; side < 2; ++side) {
    const char* key = side == 0 ? "source_lang" : "target_lang";
    const std::string language = c.has(key) ? c.text(key) : side == 0 ? "src" : "tgt";
    std::string path = directory + "/dict." + language + ".txt";
    if (language.find('/') != language.npos || !file_exists(path))
      path = directory + (side == 0 ? "/dict.src.txt" : "/dict.tgt.txt");
    in.sides[side] = {path, read_dictionary(path), subword_model(directory, side)};
  }
  return in;
}

// config.json, vocab-src.json, vocab-tgt.json. "ab</w>" becomes "ab", "ab" becomes "ab@@".
FairseqFiles read_fsmt(const std::string& directory, const ModelSettings& settings) {
  FairseqFiles in;
  in.where = directory + "/config.json";
  const FamilyConfig c(settings.config(), in.where);
  in.what = "an FSMT model";
  in.provenance = "FSMT of Hugging Face";
  in.prefix = "model.";
  in.config = layers_json(c, "ffn_dim", "attention_heads");
  in.config["d_model"] = c.size("d_model");
  in.config["norm"] = "post";
  in.config["scaled_embeddings"] = c.flag("scale_embedding", true);
  in.config["tie"] = c.flag("tie_word_embeddings", false) ? "all" : "target";
  const int64_t eos = c.size_or("eos_token_id", 2);
  in.special = {c.size_or("pad_token_id", 1), 3, c.size_or("decoder_start_token_id", eos), eos};
  settings.refuse_tokens({in.special.pad});
  for (size_t side = 0; side < 2; ++side) {
    const std::string path = directory + (side == 0 ? "/vocab-src.json" : "/vocab-tgt.json");
    std::vector<std::string> tokens = read_token_ids(path);
    const int64_t rows = c.size(side == 0 ? "src_vocab_size" : "tgt_vocab_size");
    if (int64_t(tokens.size()) != rows)
      throw DataError(path + " has " + std::to_string(tokens.size()) + " tokens, but " + in.where +
                      " says " + std::to_string(rows));
    const auto unk = std::find(tokens.begin(), tokens.end(), "<unk>");
    if (unk == tokens.end()) throw DataError(path + " has no token <unk>");
    if (side == 1 && unk - tokens.begin() != in.special.unk)
      throw DataError(path + " has another id for <unk> than the source vocabulary");
    in.special.unk = unk - tokens.begin();
    for (size_t id = 4; id < tokens.size(); ++id) {
      std::string& token = tokens[id];
      if (token.ends_with("</w>"))
        token.resize(token.size() - 4);
      else
        token += "@@";
    }
    in.sides[side] = {path, std::move(tokens), ""};
  }
  in.weights = std::make_shared<ForeignTensors>(read_weights(directory));
  return in;
}

class Fairseq {
 public:
  explicit Fairseq(FairseqFiles directory) : in_(std::move(directory)), map_(*in_.weights) {
    for (const FairseqFiles::Side& side : in_.sides)
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
    json["positions"] = "fairseq";
    json["position_offset"] = in_.special.pad + 1;
    json["attention_bias"] = json["output_bias"] = true;
    json["norm_epsilon"] = 1e-5;
    return json;
  }

  Vocabularies::Pointer vocabulary(size_t side) const {
    const TokenOrder& order = orders_[side];
    const std::string& path = in_.sides[side].subword_model;
    if (path.empty()) return parse_vocabulary(word_list(order.tokens()), in_.sides[side].path);
    MappedTokens content = order.content();
    content.bytes = true;
    content.model = read_sentencepiece(path);
    return parse_vocabulary(mapped_bytes(content), path);
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "output.bias") return orders_[1].bias(zeros(1, orders_[1].size() - 1));
    // Tied tensors are stored under any of their names.
    const std::string tied = "decoder.output_projection.weight";
    const std::string source = "encoder.embed_tokens.weight",
                      target = "decoder.embed_tokens.weight";
    if (e.name == "embedding.weight") return embedding(0, {source, target, tied}, e.cols);
    if (e.name == "encoder.embedding.weight") return embedding(0, {source}, e.cols);
    if (e.name == "decoder.embedding.weight")
      return in_.config["tie"] == "target" ? embedding(1, {target, tied}, e.cols)
                                           : embedding(1, {target}, e.cols);
    if (e.name == "output.weight") return embedding(1, {tied, "decoder.embed_out"}, e.cols);
    return map_.take(in_.prefix + bart_name(e.name).substr(sizeof "model." - 1), file_shape(e));
  }

  WeightRows embedding(size_t side, std::vector<std::string> names, int64_t d) {
    for (std::string& name : names) name = in_.prefix + name;
    const std::string found = map_.any_of(names);
    const int64_t tokens = orders_[side].size() - 1;
    const ForeignTensor& t = in_.weights->at(found.empty() ? names[0] : found);
    if (t.shape.size() == 2 && t.shape[0] != tokens)
      throw DataError(in_.sides[side].path + " has " + std::to_string(tokens) +
                      " tokens including <s>, <pad>, </s> and <unk>, but " + found + " has " +
                      std::to_string(t.shape[0]) + " rows");
    return orders_[side].rows(map_.take(found, {tokens, d}));
  }

  FairseqFiles in_;
  WeightMap map_;
  std::vector<TokenOrder> orders_;
};

}  // namespace

std::string fairseq_checkpoint(const std::string& directory) {
  for (const char* name : {"checkpoint_best.pt", "checkpoint_last.pt", "checkpoint.pt", "model.pt"})
    if (file_exists(directory + "/" + name)) return directory + "/" + name;
  return "";
}

ForeignModel import_fairseq(const std::string& directory) {
  return Fairseq(read_fairseq(directory)).import();
}

ForeignModel import_fsmt(const std::string& directory, const ModelSettings& settings) {
  return Fairseq(read_fsmt(directory, settings)).import();
}

}  // namespace tx
