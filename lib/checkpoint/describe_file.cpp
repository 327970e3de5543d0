#include <map>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/transfer.h"
#include "lib/subword/languages.h"

namespace tx {

namespace {

struct Form {
  int64_t weights = 0, values = 0, bytes = 0;
};

std::string form_of(const TensorInfo& tensor) {
  if (tensor.dtype == "U8") return "int8";
  return tensor.dtype == "F32" ? "fp32" : tensor.dtype == "BF16" ? "bf16" : tensor.dtype;
}

std::string use_of(const ParameterEntry& e) {
  if (e.vector) return "vector";
  const bool looked_up = e.lookup || e.init == ParameterEntry::Init::embedding;
  if (!e.multiplied) return "look-up";
  return looked_up ? "look-up, product" : "product";
}

std::string line_of(const char* format, const std::string& name, const std::string& shape,
                    const std::string& form, const std::string& use, int64_t bytes) {
  return formatted(format, name.c_str(), shape.c_str(), form.c_str(), use.c_str(),
                   static_cast<long long>(bytes));
}

// One line per language; "source" and "target" mark the defaults in the file.
std::string languages_of(const ModelReader& model) {
  const Vocabularies& all = model.vocabularies();
  if (!has_languages(all.source())) return "";
  const std::string source = source_language(all.source()), target = target_language(all.target());
  std::string text = "languages\n";
  for (const std::string& name : language_names(all.source())) {
    text += "  " + printable(name);
    if (name == source) text += "  source";
    if (name == target) text += "  target";
    text += "\n";
  }
  return text;
}

// Name, languages and licence of a converted package.
std::string package_of(const ModelReader& model) {
  std::string text;
  const Json package = model.provenance().value("package", Json::object());
  for (const auto& [name, value] : package.items())
    text += (text.empty() ? "package\n  " : "  ") + name + ": " +
            printable(value.is_string() ? value.get<std::string>() : to_text(value)) + "\n";
  return text;
}

// The first eight.
std::string tokens_of(const Vocabulary& vocabulary, const std::vector<int>& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size() && i < 8; ++i)
    text += (i ? " " : "") + printable(vocabulary.token(ids[i]));
  if (ids.size() > 8) text += " and " + std::to_string(ids.size() - 8) + " more";
  return text;
}

std::string positions_of(const ModelConfig& c) {
  std::string text = c.positions.name;
  if (c.learned_positions())
    text += ", " + std::to_string(c.max_positions - c.position_offset) + " of them";
  if (c.position_offset > 0) text += ", the first is " + std::to_string(c.position_offset);
  if (c.relative())
    text += ", " + std::to_string(c.distance_buckets) + " buckets up to " +
            std::to_string(c.distance_reach);
  if (c.rotary())
    text += ", base " + to_text(Json(c.rotary_base)) + ", scaling " + c.rotary_scaling.name;
  return text;
}

// How the text is split: the kind of the model, and what is done to the text before.
std::string tokenizer_of(const Vocabulary& vocabulary) {
  if (!vocabulary.mapped()) return vocabulary.kind();
  const MappedTokens& content = *vocabulary.mapped();
  if (!has_tokenizer(content)) return "SentencePiece, with the normaliser of its file";
  const TokenizerSpec spec = read_tokenizer(content.model, "the vocabulary");
  std::string text = spec.model == TokenizerSpec::Model::bpe       ? "BPE"
                     : spec.model == TokenizerSpec::Model::unigram ? "unigram"
                                                                   : "WordPiece";
  for (const Json& step : spec.normalizer) text += ", " + step.value("type", std::string());
  return text;
}

// What a converted model was taken to be, for comparison with its documentation.
std::string assumed_of(const ModelReader& model) {
  if (!model.provenance().contains("converted")) return "";
  const ModelConfig& c = model.config();
  const Vocabulary &source = model.vocabularies().source(), &target = model.vocabularies().target();
  std::string text =
      "taken from " + printable(model.provenance()["converted"].get<std::string>()) + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    text += formatted("  %-16s %s\n", what, value.c_str());
  };
  line("positions", positions_of(c));
  line("norms", c.norm.name + ", " + c.norm_type.name + ", epsilon " +
                    to_text(Json(c.norm_epsilon)) +
                    (c.embedding_norm ? ", of embeddings too" : "") +
                    (c.final_norm ? ", after the last layer too" : ""));
  line("activation", c.activation.name);
  line("one matrix for", std::string(c.tie == Tie::all          ? "embeddings and output"
                                     : c.tie == Tie::embeddings ? "the embeddings of both sides"
                                     : c.tie == Tie::target ? "the target's embedding and output"
                                                            : "nothing"));
  line("embeddings", c.scaled_embeddings ? "times sqrt(d_model)" : "not scaled");
  line("scores", c.scaled_attention ? "divided by sqrt(d_k)" : "not divided");
  line("biases", std::string(c.attention_bias ? "attention, " : "") +
                     (c.feed_forward_bias ? "feed-forward, " : "") +
                     (c.output_bias ? "output" : "no output"));
  line("tokenizer", tokenizer_of(source));
  const bool reads = c.has_cross(c.sides.size() - 1);
  const std::string opening = tokens_of(source, opening_tokens(source));
  if (reads)
    line("a source",
         (opening.empty() ? "" : opening + " ") + "X " + tokens_of(source, closing_tokens(source)));
  if (const MappedTokens* tokens = target.mapped();
      tokens && tokens->theirs.size() == Vocabulary::specials)
    line(reads ? "an output" : "a text",
         !reads && !c.source_bos
             ? "begins with no token"
             : "begins with the token " + std::to_string(tokens->theirs[Vocabulary::bos]) +
                   " of the original" +
                   (tokens->first < 0 ? "" : ", then " + tokens_of(target, {tokens->first})));
  line("never output", tokens_of(target, forbidden_tokens(target)));
  return text;
}

// Defaults of options, and the tokens that end an output.
std::string settings_of(const ModelReader& model) {
  std::string text;
  const Json defaults = defaults_of(model.provenance());
  for (const auto& [name, value] : defaults.items())
    text += (text.empty() ? "defaults\n  --" : "  --") + name + " " + to_text(value) + "\n";
  const std::vector<int> ends = ending_tokens(model.vocabularies().target());
  if (!ends.empty()) text += "tokens that end an output\n";
  for (const int id : ends) text += "  " + model.vocabularies().target().token(id) + "\n";
  return text;
}

}  // namespace

std::string describe_file(const ModelReader& model) {
  std::string text = "weights\n";
  std::map<std::string, Form> forms;
  int64_t quantised = 0, products = 0;
  for (const ParameterEntry& e : model.table()) {
    const TensorInfo& tensor = *model.file().find(e.name);
    const std::string form = form_of(tensor);
    const bool int8 = form == "int8";
    const int64_t bytes = tensor.bytes() + (int8 ? model.file().find(scale_name(e))->bytes() : 0);
    const std::string cols = std::to_string(e.cols);
    text +=
        line_of("  %-45s %12s  %-4s  %-16s %11lld\n", e.name,
                e.vector ? cols : std::to_string(e.rows) + " x " + cols, form, use_of(e), bytes);
    Form& sum = forms[form];
    sum.weights += 1, sum.values += e.rows * e.cols, sum.bytes += bytes;
    products += e.multiplied, quantised += e.multiplied && int8;
  }
  text += "forms\n";
  const auto plain = [](int64_t n, const char* what) {  // a table for scripts: no commas
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  for (const auto& [name, form] : forms)
    text += line_of("  %-16s %14s  %-14s %s %18lld\n", name, plain(form.weights, "weight"),
                    plain(form.values, "value"), "bytes", form.bytes);
  return text + assumed_of(model) + package_of(model) + languages_of(model) + settings_of(model) +
         "products with 8-bit weights\n  " + std::to_string(quantised) + " of " +
         std::to_string(products) + "\n";
}

}  // namespace tx
