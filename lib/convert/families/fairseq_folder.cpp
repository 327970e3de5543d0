#include "lib/convert/families/fairseq_folder.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/folder.h"
#include "lib/convert/formats/torch_file.h"

namespace tx {

namespace {

using Kind = PickleValue::Kind;

constexpr int64_t max_dictionary = int64_t(1) << 28;  // bytes

// Settings are numbers, text and lists of them; anything else is null.
Json to_json(const PickleValue& value, int depth = 0) {
  switch (value.kind) {
    case Kind::boolean:
      return value.integer != 0;
    case Kind::integer:
      return value.integer;
    case Kind::real:
      return value.real;
    case Kind::text:
      return value.text;
    default:
      break;
  }
  if (value.kind != Kind::dict || depth > 0) return Json();
  Json json = Json::object();
  for (size_t i = 0; i + 1 < value.items.size(); i += 2)
    if (value.items[i]->kind == Kind::text)
      json[value.items[i]->text] = to_json(*value.items[i + 1], depth + 1);
  return json;
}

// The settings of a checkpoint: "args", or since 0.10.1 "cfg" with "model" and "task".
Json settings_of(const PickleValue& content, const std::string& path) {
  const PickleValue* args = content.find("args");
  if (args != nullptr && args->kind == Kind::dict) return to_json(*args);
  const PickleValue* cfg = content.find("cfg");
  const PickleValue* model = cfg == nullptr ? nullptr : cfg->find("model");
  const PickleValue* task = cfg == nullptr ? nullptr : cfg->find("task");
  if (model == nullptr || model->kind != Kind::dict)
    throw DataError(path + " is no checkpoint of fairseq: it has neither args nor cfg");
  Json json = to_json(*model);
  if (task == nullptr || task->kind != Kind::dict) return json;
  const Json more = to_json(*task);
  for (const auto& [key, value] : more.items())
    if (!json.contains(key)) json[key] = value;
  return json;
}

// What both forms say about the layers, by the names that each uses.
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

// "PIECE COUNT" a line; <s>, <pad>, </s> and <unk> stand before them.
std::vector<std::string> read_dictionary(const std::string& path) {
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>"};
  const std::string text = read_regular_file(path, max_dictionary);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    constexpr std::string_view flag = " #fairseq:overwrite";
    if (line.ends_with(flag)) line.remove_suffix(flag.size());
    const size_t space = line.rfind(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() ||
        line.find_first_not_of("0123456789", space + 1) != line.npos)
      throw DataError(path + ":" + std::to_string(tokens.size() - 3) +
                      ": expected a token, a space and its count");
    tokens.emplace_back(line.substr(0, space));
  }
  return tokens;
}

std::string subword_model(const std::string& folder, size_t side) {
  for (const char* name :
       {side == 0 ? "source.spm" : "target.spm", "sentencepiece.bpe.model", "spm.model"})
    if (file_exists(folder + "/" + name)) return folder + "/" + name;
  return "";
}

// Blocks of other Transformers of fairseq.
void check_blocks(const FamilyConfig& c) {
  const std::string arch = c.has("_name") ? c.text("_name") : c.has("arch") ? c.text("arch") : "";
  if (arch.find("transformer") == arch.npos)
    c.refuse("its architecture is \"" + arch.substr(0, 100) + "\", not a transformer");
  for (const char* key : {"layernorm_embedding", "no_cross_attention", "cross_self_attention",
                          "no_token_positional_embeddings", "no_decoder_final_norm",
                          "tie_adaptive_weights", "char_inputs", "merge_src_tgt_embed"})
    c.must_be(key, false);
  for (const char* key : {"adaptive_input", "base_layers", "encoder_prenet"})
    if (c.has(key) && c.json()[key] != 0) c.must_be(key, false);
  if (c.has("adaptive_softmax_cutoff")) c.refuse("it has an adaptive softmax");
  for (const char* key : {"decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"})
    if (c.has(key)) c.same("encoder_embed_dim", key);
  for (const auto& [a, b] : {std::pair{"encoder_normalize_before", "decoder_normalize_before"},
                             {"encoder_learned_pos", "decoder_learned_pos"}})
    if (c.flag(a, false) != c.flag(b, false))
      c.refuse(std::string(a) + " and " + b + " differ; tx has one setting for both stacks");
}

}  // namespace

std::string fairseq_checkpoint(const std::string& folder) {
  for (const char* name : {"checkpoint_best.pt", "checkpoint_last.pt", "checkpoint.pt", "model.pt"})
    if (file_exists(folder + "/" + name)) return folder + "/" + name;
  return "";
}

FairseqFolder read_fairseq_folder(const std::string& folder) {
  FairseqFolder in;
  in.where = fairseq_checkpoint(folder);
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
  in.config["positions"] = c.flag("encoder_learned_pos", false) ? "learned" : "fairseq";
  in.config["scaled_embeddings"] = !c.flag("no_scale_embedding", false);
  in.config["tie"] = c.flag("share_all_embeddings", false)               ? "all"
                     : c.flag("share_decoder_input_output_embed", false) ? "target"
                                                                         : "none";
  in.special = {1, 3, 2, 2};
  for (size_t side = 0; side < 2; ++side) {
    const char* key = side == 0 ? "source_lang" : "target_lang";
    const std::string language = c.has(key) ? c.text(key) : side == 0 ? "src" : "tgt";
    std::string path = folder + "/dict." + language + ".txt";
    if (language.find('/') != language.npos || !file_exists(path))
      path = folder + (side == 0 ? "/dict.src.txt" : "/dict.tgt.txt");
    in.sides[side] = {path, read_dictionary(path), subword_model(folder, side)};
  }
  return in;
}

FairseqFolder read_fsmt_folder(const std::string& folder, const Json& json) {
  FairseqFolder in;
  in.where = folder + "/config.json";
  const FamilyConfig c(json, in.where);
  in.what = "an FSMT model";
  in.provenance = "FSMT of Hugging Face";
  in.prefix = "model.";
  in.config = layers_json(c, "ffn_dim", "attention_heads");
  in.config["d_model"] = c.size("d_model");
  in.config["norm"] = "post";
  in.config["positions"] = "fairseq";
  in.config["scaled_embeddings"] = c.flag("scale_embedding", true);
  in.config["tie"] = c.flag("tie_word_embeddings", false) ? "all" : "target";
  const int64_t eos = c.size_or("eos_token_id", 2);
  in.special = {c.size_or("pad_token_id", 1), 3, c.size_or("decoder_start_token_id", eos), eos};
  for (size_t side = 0; side < 2; ++side) {
    const std::string path = folder + (side == 0 ? "/vocab-src.json" : "/vocab-tgt.json");
    std::vector<std::string> tokens = read_token_ids(path);
    const int64_t rows = c.size(side == 0 ? "src_vocab_size" : "tgt_vocab_size");
    if (int64_t(tokens.size()) != rows)
      throw DataError(path + " has " + std::to_string(tokens.size()) + " tokens, but " + in.where +
                      " says " + std::to_string(rows));
    const auto unk = std::find(tokens.begin(), tokens.end(), "<unk>");
    if (unk == tokens.end()) throw DataError(path + " has no token <unk>");
    if (side == 1 && unk - tokens.begin() != in.special.unk)
      throw DataError(path + " numbers <unk> differently from the other side");
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
  in.weights = std::make_shared<ForeignTensors>(read_weights(folder));
  return in;
}

}  // namespace tx
