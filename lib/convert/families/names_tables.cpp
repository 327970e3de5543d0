// Tables of names that tx has, tx-names(5).
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/families/names.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

const std::map<std::string, const char*> tables = {
    // nn.Transformer between the modules of the tutorial "Language Translation with
    // nn.Transformer".
    {"torch.nn.Transformer", R"({
  "config": {"norm": "post", "activation": "relu", "positions": "sinusoid",
             "scaled_embeddings": true, "norm_epsilon": 1e-5},
  "tokens": {"start": "<bos>", "end": "<eos>", "pad": "<pad>", "unk": "<unk>"},
  "text": "words",
  "names": {
    "encoder.embedding.weight": "src_tok_emb.embedding.weight",
    "decoder.embedding.weight": "tgt_tok_emb.embedding.weight",
    "output.*": "generator.*",
    "encoder.layers.#.self_attn.q_proj.*": "encoder.layers.#.self_attn.in_proj_* 1/3",
    "encoder.layers.#.self_attn.k_proj.*": "encoder.layers.#.self_attn.in_proj_* 2/3",
    "encoder.layers.#.self_attn.v_proj.*": "encoder.layers.#.self_attn.in_proj_* 3/3",
    "encoder.layers.#.self_attn.out_proj.*": "encoder.layers.#.self_attn.out_proj.*",
    "encoder.layers.#.self_attn_norm.*": "encoder.layers.#.norm1.*",
    "encoder.layers.#.ffn.in_proj.*": "encoder.layers.#.linear1.*",
    "encoder.layers.#.ffn.out_proj.*": "encoder.layers.#.linear2.*",
    "encoder.layers.#.ffn_norm.*": "encoder.layers.#.norm2.*",
    "encoder.norm.*": "encoder.norm.*",
    "decoder.layers.#.self_attn.q_proj.*": "decoder.layers.#.self_attn.in_proj_* 1/3",
    "decoder.layers.#.self_attn.k_proj.*": "decoder.layers.#.self_attn.in_proj_* 2/3",
    "decoder.layers.#.self_attn.v_proj.*": "decoder.layers.#.self_attn.in_proj_* 3/3",
    "decoder.layers.#.self_attn.out_proj.*": "decoder.layers.#.self_attn.out_proj.*",
    "decoder.layers.#.self_attn_norm.*": "decoder.layers.#.norm1.*",
    "decoder.layers.#.cross_attn.q_proj.*": "decoder.layers.#.multihead_attn.in_proj_* 1/3",
    "decoder.layers.#.cross_attn.k_proj.*": "decoder.layers.#.multihead_attn.in_proj_* 2/3",
    "decoder.layers.#.cross_attn.v_proj.*": "decoder.layers.#.multihead_attn.in_proj_* 3/3",
    "decoder.layers.#.cross_attn.out_proj.*": "decoder.layers.#.multihead_attn.out_proj.*",
    "decoder.layers.#.cross_attn_norm.*": "decoder.layers.#.norm2.*",
    "decoder.layers.#.ffn.in_proj.*": "decoder.layers.#.linear1.*",
    "decoder.layers.#.ffn.out_proj.*": "decoder.layers.#.linear2.*",
    "decoder.layers.#.ffn_norm.*": "decoder.layers.#.norm3.*",
    "decoder.norm.*": "decoder.norm.*"},
  "sinusoids": ["pos_embedding", "pos_encoding", "pe"]})"},
    // Chapter 6 of Ben Trevett's tutorial.
    {"pytorch-seq2seq", R"({
  "config": {"norm": "post", "activation": "relu", "positions": "learned",
             "scaled_embeddings": true, "norm_epsilon": 1e-5},
  "tokens": {"start": "<sos>", "end": "<eos>", "pad": "<pad>", "unk": "<unk>"},
  "text": "words",
  "names": {
    "encoder.embedding.weight": "encoder.tok_embedding.weight",
    "decoder.embedding.weight": "decoder.tok_embedding.weight",
    "encoder.positions.weight": "encoder.pos_embedding.weight",
    "decoder.positions.weight": "decoder.pos_embedding.weight",
    "output.*": "decoder.fc_out.*",
    "encoder.layers.#.self_attn.q_proj.*": "encoder.layers.#.self_attention.fc_q.*",
    "encoder.layers.#.self_attn.k_proj.*": "encoder.layers.#.self_attention.fc_k.*",
    "encoder.layers.#.self_attn.v_proj.*": "encoder.layers.#.self_attention.fc_v.*",
    "encoder.layers.#.self_attn.out_proj.*": "encoder.layers.#.self_attention.fc_o.*",
    "encoder.layers.#.self_attn_norm.*": "encoder.layers.#.self_attn_layer_norm.*",
    "encoder.layers.#.ffn.in_proj.*": "encoder.layers.#.positionwise_feedforward.fc_1.*",
    "encoder.layers.#.ffn.out_proj.*": "encoder.layers.#.positionwise_feedforward.fc_2.*",
    "encoder.layers.#.ffn_norm.*": "encoder.layers.#.ff_layer_norm.*",
    "decoder.layers.#.self_attn.q_proj.*": "decoder.layers.#.self_attention.fc_q.*",
    "decoder.layers.#.self_attn.k_proj.*": "decoder.layers.#.self_attention.fc_k.*",
    "decoder.layers.#.self_attn.v_proj.*": "decoder.layers.#.self_attention.fc_v.*",
    "decoder.layers.#.self_attn.out_proj.*": "decoder.layers.#.self_attention.fc_o.*",
    "decoder.layers.#.self_attn_norm.*": "decoder.layers.#.self_attn_layer_norm.*",
    "decoder.layers.#.cross_attn.q_proj.*": "decoder.layers.#.encoder_attention.fc_q.*",
    "decoder.layers.#.cross_attn.k_proj.*": "decoder.layers.#.encoder_attention.fc_k.*",
    "decoder.layers.#.cross_attn.v_proj.*": "decoder.layers.#.encoder_attention.fc_v.*",
    "decoder.layers.#.cross_attn.out_proj.*": "decoder.layers.#.encoder_attention.fc_o.*",
    "decoder.layers.#.cross_attn_norm.*": "decoder.layers.#.enc_attn_layer_norm.*",
    "decoder.layers.#.ffn.in_proj.*": "decoder.layers.#.positionwise_feedforward.fc_1.*",
    "decoder.layers.#.ffn.out_proj.*": "decoder.layers.#.positionwise_feedforward.fc_2.*",
    "decoder.layers.#.ffn_norm.*": "decoder.layers.#.ff_layer_norm.*"}})"}};

Json read_names(const std::string& table, int depth) {
  const auto known = tables.find(table);
  if (known == tables.end() && !file_exists(table)) {
    std::string names;
    for (const auto& [name, text] : tables) names += (names.empty() ? "" : " and ") + name;
    throw DataError("there is no file " + table + " and no table of names " + shown(table) +
                    "; the tables of tx are " + names);
  }
  Json own = known != tables.end() ? parse_json(known->second, table) : read_object(table);
  if (!own.contains("base")) return own;
  if (depth == 0) throw DataError(table + ": \"base\" is nested too deeply");
  Json json = read_names(json_value<std::string>(own, "base", table), depth - 1);
  own.erase("base");
  for (const auto& [key, value] : own.items()) {
    if (value.is_object() && json.contains(key) && json[key].is_object())
      json[key].update(value);
    else
      json[key] = value;
  }
  return json;
}

}  // namespace

Json read_names(const std::string& table) {
  Json json = read_names(table, 8);
  for (const char* key : {"config", "tokens", "names"})
    if (!json.contains(key) || !json[key].is_object())
      throw DataError(table + ": \"" + key + "\" must be an object");
  const auto check = [&](const Json& object, const std::set<std::string>& keys) {
    for (const auto& [key, value] : object.items())
      if (!keys.contains(key)) throw DataError(table + ": unknown key " + shown(key));
  };
  check(json, {"config", "tokens", "text", "names", "sinusoids", "ignore"});
  check(json["tokens"], {"start", "end", "pad", "unk", "source_start", "source_end"});
  return json;
}

}  // namespace tx
