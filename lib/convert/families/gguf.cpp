// GGUF files of the architectures llama, qwen2 and qwen3: the configuration, the weights and the
// vocabulary of a model that llama.cpp runs, in one file. They become the files of Hugging Face
// that they were made from, as far as the importer of Llama reads these.
#include <array>
#include <map>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/families/llama.h"
#include "lib/subword/model_proto.h"

namespace tx {

namespace {

// How texts are split into words, by the name that llama.cpp gives it.
struct Splitting {
  const char* name;
  const char* expression;  // "": GPT-2's
  bool single_digits, nfc;
  bool llama3;  // a word that is a token is not merged, and bos is added unless the file says no
};
constexpr std::array splittings{
    Splitting{"gpt-2", "", false, false, false}, Splitting{"smollm", "", true, false, false},
    Splitting{"llama-bpe",
              "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
              "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
              false, false, true},
    Splitting{"qwen2",
              "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
              "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
              false, true, false}};

// Types of tokens.
constexpr int64_t unknown_token = 2, control_token = 3, user_token = 4, unused_token = 5,
                  byte_token = 6;

// "blk.0.attn_q.weight" as Hugging Face calls it, "model.layers.0.self_attn.q_proj.weight".
std::string their_name(const std::string& name) {
  static const std::map<std::string, std::string> parts = {
      {"attn_q", "self_attn.q_proj"},          {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"},          {"attn_output", "self_attn.o_proj"},
      {"attn_q_norm", "self_attn.q_norm"},     {"attn_k_norm", "self_attn.k_norm"},
      {"ffn_gate", "mlp.gate_proj"},           {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"},           {"attn_norm", "input_layernorm"},
      {"ffn_norm", "post_attention_layernorm"}};
  static const std::map<std::string, std::string> whole = {
      {"token_embd.weight", "model.embed_tokens.weight"},
      {"output_norm.weight", "model.norm.weight"},
      {"output.weight", "lm_head.weight"}};
  if (const auto at = whole.find(name); at != whole.end()) return at->second;
  const size_t number = name.find('.'), part = name.find('.', number + 1), end = name.rfind('.');
  if (!name.starts_with("blk.") || part == name.npos || end <= part) return name;
  const auto at = parts.find(name.substr(part + 1, end - part - 1));
  return at == parts.end() ? name
                           : "model.layers" + name.substr(number, part - number) + "." +
                                 at->second + name.substr(end);
}

class Gguf {
 public:
  explicit Gguf(const std::string& path)
      : path_(path),
        map_(std::make_shared<MappedFile>(path)),
        file_(parse_gguf({map_->data(), size_t(map_->size())}, path)),
        keys_(file_.keys, path),
        kind_(keys_.text("general.architecture")) {
    if (kind_ != "llama" && kind_ != "qwen2" && kind_ != "qwen3")
      keys_.refuse("general.architecture is " + shown(kind_) +
                   "; llama, qwen2 and qwen3 are supported");
  }

  LlamaFiles read() {
    LlamaFiles files;
    files.where = files.configuration = files.vocabulary = path_;
    auto weights = std::make_shared<ForeignTensors>(path_);
    for (const auto& [name, tensor] : file_.tensors.all()) weights->add(their_name(name), tensor);
    weights->keep(map_);
    files.weights = weights;
    files.config = parse_json(to_text(config(*weights)), path_);  // whole numbers without sign
    files.interleaved = kind_ == "llama";
    for (const char* key : {"name", "license"})
      if (const std::string text = text_or(std::string("general.") + key, ""); !text.empty())
        files.about[key] = text;
    const std::string model = keys_.text("tokenizer.ggml.model");
    if (model == "llama")
      files.sentencepiece = sentencepiece();
    else if (model == "gpt2")
      files.tokenizer = tokenizer();
    else
      keys_.refuse("tokenizer.ggml.model is " + shown(model) + "; llama and gpt2 are supported");
    return files;
  }

 private:
  std::string own(const char* key) const { return kind_ + "." + key; }

  Json config(const ForeignTensors& weights) const {
    const ForeignTensor& embedding = weights.at("model.embed_tokens.weight");
    if (embedding.shape.size() != 2) keys_.refuse("token_embd.weight is not a matrix");
    const int64_t heads = keys_.size(own("attention.head_count").c_str(), 65535);
    if (heads == 0) keys_.refuse("attention.head_count is 0");
    const int64_t d = keys_.size(own("embedding_length").c_str());
    const int64_t width = keys_.size_or(own("attention.key_length").c_str(), d / heads);
    refuse_extensions(width);
    const bool biased = weights.find("model.layers.0.self_attn.q_proj.bias") != nullptr;
    if (biased && kind_ == "llama") keys_.refuse("biases of queries and keys are not supported");
    Json config{
        {"model_type", kind_},
        {"vocab_size", embedding.shape[0]},
        {"hidden_size", d},
        {"intermediate_size", keys_.size(own("feed_forward_length").c_str())},
        {"num_hidden_layers", keys_.size(own("block_count").c_str(), max_layers)},
        {"num_attention_heads", heads},
        {"num_key_value_heads", keys_.size_or(own("attention.head_count_kv").c_str(), heads)},
        {"head_dim", width},
        {"hidden_act", "silu"},
        {"rms_norm_eps", keys_.real(own("attention.layer_norm_rms_epsilon").c_str(), 1e-5)},
        {"rope_theta", keys_.real(own("rope.freq_base").c_str(), 10000)},
        {"tie_word_embeddings", weights.find("lm_head.weight") == nullptr},
        {"eos_token_id", keys_.size("tokenizer.ggml.eos_token_id")}};
    config["bos_token_id"] = keys_.size_or("tokenizer.ggml.bos_token_id", config["eos_token_id"]);
    if (kind_ != "llama") config["attention_bias"] = biased;
    const char* const pad = "tokenizer.ggml.padding_token_id";
    if (keys_.has(pad) && keys_.size(pad, int64_t(1) << 32) < embedding.shape[0])
      config["pad_token_id"] = keys_.json()[pad];
    if (const std::string type = text_or(own("rope.scaling.type"), "none"); type == "linear")
      config["rope_scaling"] = {{"rope_type", type},
                                {"factor", keys_.real(own("rope.scaling.factor").c_str(), 1)}};
    else if (type != "none")
      keys_.refuse("rope.scaling.type is " + shown(type) + "; none and linear are supported");
    return config;
  }

  void refuse_extensions(int64_t width) const {  // of a head
    for (const char* key : {"expert_count", "attention.sliding_window", "attention.causal"})
      if (const std::string name = own(key);
          keys_.has(name.c_str()) && keys_.json()[name] != 0 && keys_.json()[name] != true)
        keys_.refuse(name + " is " + to_text(keys_.json()[name]) + ", which is not supported");
    for (const char* key : {"attention.value_length", "rope.dimension_count"})
      if (const std::string name = own(key); keys_.size_or(name.c_str(), width) != width)
        keys_.refuse(name + " is not the width of a head, " + std::to_string(width));
  }

  std::string text_or(const std::string& key, const char* otherwise) const {
    return keys_.has(key.c_str()) ? keys_.text(key.c_str()) : otherwise;
  }

  // The list of a key. DataError: not `count` values of its type, unless count is 0.
  template <class T>
  std::vector<T> list(const char* key, size_t count = 0) const {
    auto values = json_value<std::vector<T>>(keys_.json(), key, path_);
    if (values.empty() || (count != 0 && values.size() != count))
      keys_.refuse(std::string(key) + " has " + std::to_string(values.size()) + " values");
    return values;
  }

  std::string sentencepiece() const {
    const auto texts = list<std::string>("tokenizer.ggml.tokens");
    const auto scores = list<float>("tokenizer.ggml.scores", texts.size());
    const auto types = list<int64_t>("tokenizer.ggml.token_type", texts.size());
    if (!keys_.flag("tokenizer.ggml.add_bos_token", true))
      keys_.refuse("tokenizer.ggml.add_bos_token is false, which is not supported");
    std::vector<ModelPiece> pieces;
    bool bytes = false;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (types[i] < 1 || types[i] > byte_token) keys_.refuse("a token has an unknown type");
      pieces.push_back({texts[i], scores[i], uint64_t(types[i])});
      bytes |= types[i] == byte_token;
    }
    return bpe_model(pieces, bytes, keys_.flag("tokenizer.ggml.add_space_prefix", true));
  }

  // As a tokenizer.json.
  Json tokenizer() const {
    const std::string pre = text_or("tokenizer.ggml.pre", "default");
    const auto splitting =
        std::find_if(splittings.begin(), splittings.end(), [&](auto& s) { return s.name == pre; });
    if (splitting == splittings.end())
      keys_.refuse("tokenizer.ggml.pre is " + shown(pre) +
                   "; gpt-2, smollm, llama-bpe and qwen2 are supported");
    const auto texts = list<std::string>("tokenizer.ggml.tokens");
    const auto types = list<int64_t>("tokenizer.ggml.token_type", texts.size());
    Json vocab = Json::object(), added = Json::array(), steps = Json::array();
    for (size_t id = 0; id < texts.size(); ++id) {
      const bool special = types[id] == control_token || types[id] == unknown_token;
      if (special || types[id] == user_token)
        added.push_back({{"id", id}, {"content", texts[id]}, {"special", special}});
      else if (types[id] != unused_token && !vocab.emplace(texts[id], id).second)
        keys_.refuse("the token " + shown(texts[id]) + " occurs twice");
    }
    if (splitting->single_digits)
      steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
    const bool plain = *splitting->expression == '\0';
    if (!plain)
      steps.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", splitting->expression}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
    steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", plain}});
    Json json{{"model",
               {{"type", "BPE"},
                {"vocab", vocab},
                {"merges", list<std::string>("tokenizer.ggml.merges")},
                {"ignore_merges", splitting->llama3}}},
              {"added_tokens", added},
              {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
              {"decoder", {{"type", "ByteLevel"}}}};
    if (splitting->nfc) json["normalizer"] = {{"type", "NFC"}};
    if (keys_.flag("tokenizer.ggml.add_bos_token", splitting->llama3)) {
      const std::string bos =
          texts.at(size_t(keys_.size("tokenizer.ggml.bos_token_id", int64_t(texts.size()) - 1)));
      json["post_processor"] = {
          {"type", "TemplateProcessing"},
          {"single", {{{"SpecialToken", {{"id", bos}}}}, {{"Sequence", {{"id", "A"}}}}}},
          {"special_tokens",
           {{bos, {{"id", bos}, {"ids", {keys_.size("tokenizer.ggml.bos_token_id")}}}}}}};
    }
    return json;
  }

  const std::string& path_;
  std::shared_ptr<MappedFile> map_;
  GgufFile file_;
  FamilyConfig keys_;
  std::string kind_;
};

}  // namespace

bool is_gguf(const std::string& path) {
  if (path.ends_with(".gguf")) return true;
  if (!file_exists(path) || is_directory(path)) return false;
  const MappedFile file(path);
  return std::string_view(file.data(), size_t(file.size())).starts_with("GGUF");
}

LlamaFiles read_gguf(const std::string& path) { return Gguf(path).read(); }

}  // namespace tx
