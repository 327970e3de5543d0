#include "lib/attention/selection.h"

#include <algorithm>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/split.h"

namespace tx {

namespace {

// The values of a comma-separated list, in the order of their names; `more`: further names.
template <class E>
std::vector<E> parse_list(const std::string& option, const std::string& text,
                          const std::vector<std::string>& more = {}) {
  const auto words = split_at(text, ',');
  auto known = names_of<E>();
  known.insert(known.end(), more.begin(), more.end());
  for (const std::string& word : words)
    if (std::count(known.begin(), known.end(), word) == 0)
      throw UsageError(option + ": '" + word + "' is not one of " + joined(known, ", "));
  std::vector<E> out;
  for (const std::string& name : names_of<E>())
    if (std::count(words.begin(), words.end(), name) > 0) out.push_back(value_of_name<E>(name));
  return out;
}

std::vector<int> all_of(int count) {
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// 0 if the model has no attention of this kind.
int layers_of(AttentionKind kind, const ModelConfig& config) {
  for (size_t side = 0; side < config.sides.size(); ++side) {
    const bool has =
        kind == AttentionKind::cross
            ? config.has_cross(side)
            : name_of(kind) == std::string(config.stack_name(side)) && config.self_attends(side);
    if (has) return config.sides[side].layers;
  }
  return 0;
}

}  // namespace

const Selection::Kind* Selection::find(const std::string& name) const {
  for (const Kind& kind : kinds)
    if (name == name_of(kind.kind)) return &kind;
  return nullptr;
}

std::vector<int> parse_numbers(const std::string& text, int count, const std::string& option,
                               const std::string& things) {
  std::vector<int> out;
  for (const std::string& part : split_at(text, ',')) {
    const size_t dash = part.find('-');
    int first = 0, last = 0;
    if (!parse_number(part.substr(0, dash), first) || first < 0 ||
        !parse_number(dash == part.npos ? part : part.substr(dash + 1), last) || last < first)
      throw UsageError(option + ": '" + part +
                       "' is not a number or range; write a list like 0,2-3");
    if (last >= count)
      throw UsageError(option + " " + text + ": the model has " + std::to_string(count) + " " +
                       things + ", 0 to " + std::to_string(count - 1));
    for (int i = first; i <= last; ++i) out.push_back(i);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void SelectionOptions::describe(Options& options) {
  options.group("Selection");
  auto quantities = names_of<Quantity>();
  quantities.push_back("log_p");
  options
      .add("--what", what, "LIST",
           "what to write: weights, scores, scaled, masked, q, k, v, context, output, log_p")
      .list_of(quantities)
      .default_is("weights")
      .more(
          "q, k and v: queries, keys and values; scores: q k^T; scaled: scores / sqrt(d_k); "
          "masked: scaled, with minus infinity at masked positions; weights: their softmax; "
          "context: weights times v; output: the sub-layer's output projection of all heads; "
          "log_p: log P of each target token and its rank in the vocabulary. tx-attention(5) has "
          "the equations.");
  options.add("--kinds", kinds, "LIST", "kinds of attention: encoder, decoder, cross")
      .list_of(names_of<AttentionKind>())
      .default_is("all");
  options.add("--layers", layers, "LIST", "layers from 0, such as 0,2-3")
      .default_is("all")
      .more("They must exist in every kind selected.");
  options.add("--heads", heads, "LIST", "heads from 0, such as 0,4-7").default_is("all");
  options
      .add("--average", average, "none|heads|all",
           "average the weights over heads, or over heads and layers")
      .one_of({"none", "heads", "all"})
      .more("The arrays keep their dimensions.");
  options.flag("--shift", shift, "label target rows by the token read, not the one predicted");
  options.flag("--words", words, "merge tokens into words",
               "Adds the columns of a word's tokens, averages their rows (Clark et al., 2019) and "
               "sums log P. Words are separated by spaces; in a list of words, a token that ends "
               "in @@ continues in the next one.");
}

void SelectionOptions::describe_aligned(Options& options) {
  options.add("--layers", layers, "LIST", "layers from 0 for --alignments")
      .default_is("the last")
      .more("Several layers and heads are averaged.");
  options.add("--heads", heads, "LIST", "heads from 0 for --alignments").default_is("all");
  options.flag("--shift", shift, "align by the row that reads a token, not the one predicting it");
}

Selection SelectionOptions::resolve(const ModelConfig& config) const {
  Selection out;
  for (const AttentionKind kind :
       parse_list<AttentionKind>("--kinds", kinds.empty() ? "encoder,decoder,cross" : kinds)) {
    const int count = layers_of(kind, config);
    if (count == 0 && kinds.empty()) continue;
    if (count == 0)
      throw UsageError("--kinds " + kinds + ": the model has no " + name_of(kind) + " attention");
    const char* stack = kind == AttentionKind::encoder ? "encoder layers" : "decoder layers";
    out.kinds.push_back(
        {kind, layers.empty() ? all_of(count) : parse_numbers(layers, count, "--layers", stack)});
  }
  out.heads =
      heads.empty() ? all_of(config.heads) : parse_numbers(heads, config.heads, "--heads", "heads");
  out.mean_of_layers = average == "all";
  out.mean_of_heads = average != "none";
  if (!what.empty()) out.what = parse_list<Quantity>("--what", what, {"log_p"});
  const auto words_of_what = split_at(what, ',');
  out.log_p = std::count(words_of_what.begin(), words_of_what.end(), "log_p") > 0;
  if (out.log_p && config.kind == ModelKind::encoder)
    throw UsageError("--what log_p: a model of kind encoder predicts no target; remove log_p");
  out.shift = shift;
  out.words = words;
  out.top = top;
  for (const Quantity quantity : out.what)
    if (top > 0 && !is_map(quantity))
      throw UsageError(
          std::string("--top applies to weights, scores, scaled and masked only: remove ") +
          name_of_value(quantity) + " from --what, or remove --top");
  const std::string of_weights = out.mean_of_heads ? "--average" : words ? "--words" : "";
  for (const Quantity quantity : out.what)
    if (!of_weights.empty() && quantity != Quantity::weights)
      throw UsageError(of_weights + " applies to weights only: remove " + name_of_value(quantity) +
                       " from --what, or remove " + of_weights);
  return out;
}

Selection SelectionOptions::resolve_drawn(const ModelConfig& config, bool all_heads) const {
  SelectionOptions usual = *this;
  const AttentionKind cross = AttentionKind::cross;
  if (kinds.empty() && layers_of(cross, config) > 0) usual.kinds = name_of(cross);
  if (heads.empty() && average == "none" && !all_heads) usual.average = "heads";
  Selection out = usual.resolve(config);
  for (auto& [kind, chosen] : out.kinds)
    if (layers.empty() && !out.mean_of_layers) chosen = {chosen.back()};
  return out;
}

Selection SelectionOptions::resolve_page(const ModelConfig& config) const {
  SelectionOptions usual = *this;
  if (what.empty() && average == "none") usual.what = "weights,q,k,v";
  Selection out = usual.resolve(config);
  out.log_p = out.log_p || (what.empty() && config.kind != ModelKind::encoder);
  const auto has = [&](Quantity q) { return std::count(out.what.begin(), out.what.end(), q) > 0; };
  const bool steps = has(Quantity::q) && has(Quantity::k) && has(Quantity::v);
  if (!has(Quantity::weights) || out.what.size() != (steps ? 4U : 1U))
    throw UsageError("--what " + what +
                     ": --html supports weights or weights,q,k,v, with or without log_p");
  return out;
}

Selection SelectionOptions::resolve_candidates(const ModelConfig& config) const {
  if (!kinds.empty() && kinds != "cross")
    throw UsageError("--kinds " + kinds + ": alignments use cross attention; remove --kinds");
  SelectionOptions usual = *this;
  usual.kinds = "cross";
  usual.average = "none";
  return usual.resolve(config);
}

Selection SelectionOptions::resolve_aligned(const ModelConfig& config) const {
  Selection out = resolve_candidates(config);
  if (layers.empty()) out.kinds.front().layers = {out.kinds.front().layers.back()};
  out.mean_of_heads = out.mean_of_layers = true;
  return out;
}

}  // namespace tx
