#include "lib/attention/page.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/model/positions.h"
#include "lib/page/page.h"

namespace tx {

namespace {

constexpr Quantity vectors[] = {Quantity::q, Quantity::k, Quantity::v};

// Whether the page has queries, keys and values, from which it computes the steps of attention. It
// does not have the biases of relative positions.
bool has_vectors(const Selection& selection, const ModelSet& models) {
  return std::count(selection.what.begin(), selection.what.end(), Quantity::q) > 0 &&
         !models.transformers().front()->config().relative();
}

// The values of all maps, concatenated.
std::vector<float> flat(const std::vector<AttentionMap>& heads) {
  std::vector<float> out;
  for (const AttentionMap& map : heads) out.insert(out.end(), map.values.begin(), map.values.end());
  return out;
}

// Names of layers or heads; "mean" for a mean.
Json names(const std::vector<int>& numbers, bool mean) {
  Json out = Json::array();
  if (mean) return {"mean"};
  for (const int number : numbers) out.push_back(std::to_string(number));
  return out;
}

// {"starts": the first token of each word, "words": their texts}
Json words_json(const WordGroups& groups) {
  Json starts = groups.starts;
  starts.erase(starts.size() - 1);
  return {{"starts", std::move(starts)}, {"words", groups.words}};
}

// For each kind the distances between its heads (a < b), as fractions of the maximum, sqrt(ln 2).
Json distances_of(const AttentionStatistics& statistics, const Selection& selection) {
  Json out = Json::array();
  const std::vector<HeadPair> pairs = statistics.pairs();
  for (const Selection::Kind& kind : selection.kinds) {
    std::vector<float> shares;
    for (const HeadPair& pair : pairs)
      if (pair.kind == kind.kind) shares.push_back(float(pair.distance / std::sqrt(std::log(2.0))));
    out.push_back(base64_shares(shares));
  }
  return out;
}

// Means have no statistics.
Selection measured(const Selection& selection) {
  return selection.mean_of_heads ? Selection() : selection;
}

// How scores become weights; window and slopes apply to self-attention.
Json scores_of(const ModelConfig& config, const Selection& selection) {
  Json slopes = Json::array();
  if (config.positions == PositionEncoding::alibi)
    for (const int head : selection.heads)
      slopes.push_back(alibi_slopes(config.heads)[size_t(head)]);
  return {{"scale", config.attention_scale()},
          {"rotary", config.rotary()},
          {"causal", config.causal_mask},
          {"window", config.window},
          {"slopes", std::move(slopes)}};
}

int64_t base64_bytes(int64_t numbers) { return numbers * 2 * 4 / 3; }

// How many of the first lines fit, assuming translations as long as their sources.
int64_t lines_that_fit(const std::vector<Item>& items, const AttentionPage& page) {
  int64_t bytes = 0;
  for (const Item& item : items) {
    const auto source = int64_t(item.source.ids.size()) + 1;
    const auto target = item.target.empty() ? source : int64_t(item.target.size());
    bytes += page.sentence_bytes(source, target);
    if (bytes > page.limit()) return item.line - 1;
  }
  return items.back().line;
}

}  // namespace

AttentionPage::AttentionPage(const DumpOptions& options, const Selection& selection,
                             const ModelSet& models)
    : options_(options),
      selection_(selection),
      models_(models),
      limit_(options.page_limit()),
      statistics_(measured(selection), true) {}

AttentionOutput::Write AttentionPage::prepare(const AttentionRecord& record) {
  if (record.maps.empty()) return [] {};
  AttentionStatistics own(measured(selection_), true);
  if (!selection_.mean_of_heads) own.add(record);
  return [this, line = record.line, text = sentence(record), own = std::move(own)] {
    add(line, text, own);
  };
}

std::string AttentionPage::sentence(const AttentionRecord& record) const {
  const RecordWords words = words_of(record, models_.source(), models_.target());
  Json out = {{"line", record.line},
              {"source", record.source},
              {"input", record.input},
              {"target", record.target},
              {"text", record.text},
              {"translation", record.translation},
              {"forced", record.forced},
              {"words",
               {{"source", words_json(words.source)},
                {"input", words_json(words.input)},
                {"target", words_json(words.target)}}}};
  if (!record.log_p.empty()) {
    out["log_p"] = rounded(Json(record.log_p), 4);
    out["rank"] = record.rank;
  }
  Json weights = Json::array();
  for (const AttentionMaps& kind : record.maps) {
    std::vector<float> all;
    for (const auto& layer : kind) {
      const std::vector<float> heads = flat(layer);
      all.insert(all.end(), heads.begin(), heads.end());
    }
    weights.push_back(base64_shares(all));
  }
  out["weights"] = std::move(weights);
  if (!has_vectors(selection_, models_)) return to_text(out);
  for (const Quantity quantity : vectors) {
    Json kinds = Json::array();
    for (const AttentionMaps& kind : record.of(quantity)) {
      Json layers = Json::array();
      for (const auto& layer : kind) layers.push_back(scaled_numbers(flat(layer)));
      kinds.push_back(std::move(layers));
    }
    out[name_of_value(quantity)] = std::move(kinds);
  }
  return to_text(out);
}

int64_t AttentionPage::sentence_bytes(int64_t source, int64_t target) const {
  const ModelConfig& config = models_.transformers().front()->config();
  const int64_t heads = selection_.mean_of_heads ? 1 : int64_t(selection_.heads.size());
  int64_t numbers = 0;
  for (const auto& [kind, layers] : selection_.kinds) {
    const int64_t rows = kind == AttentionKind::encoder ? source : target;
    const int64_t columns = kind == AttentionKind::decoder ? target : source;
    const int64_t maps = heads * (selection_.mean_of_layers ? 1 : int64_t(layers.size()));
    numbers += maps * rows * columns;
    if (has_vectors(selection_, models_))
      numbers += maps * (rows * config.d_k + columns * (config.d_k + config.d_v));
  }
  constexpr int64_t token = 32;                     // bytes of a token's text in the lists
  const int64_t label = selection_.log_p ? 16 : 0;  // bytes of its log P and rank
  return base64_bytes(numbers) + token * (source + 2 * target) + label * target;
}

void AttentionPage::add(int64_t line, const std::string& sentence,
                        const AttentionStatistics& statistics) {
  const auto bytes = int64_t(sentence.size());
  if (sentences_.empty() && !full()) first_bytes_ = bytes;
  if (full() || bytes_ + bytes > limit_) return leave_out(line);
  bytes_ += bytes;
  sentences_.push_back(sentence);
  statistics_.add(statistics);
}

void AttentionPage::leave_out(int64_t line) {
  if (!full()) first_left_out_ = line;
  ++left_out_;
}

std::string AttentionPage::notice() const {
  if (left_out_ == 0) return "";
  return std::to_string(left_out_) + (left_out_ == 1 ? " sentence" : " sentences") + " from line " +
         std::to_string(first_left_out_) + " on left out, over the limit of " +
         std::to_string(limit_ / 1'000'000) + " MB (--html-limit)";
}

std::string AttentionPage::data() const {
  const ModelConfig& config = models_.transformers().front()->config();
  Json head = {{"heads", names(selection_.heads, selection_.mean_of_heads)},
               {"d_k", config.d_k},
               {"d_v", config.d_v},
               {"scores", scores_of(config, selection_)},
               {"kinds", Json::array()}};
  for (const auto& [kind, layers] : selection_.kinds)
    head["kinds"].push_back(
        {{"kind", name_of(kind)}, {"layers", names(layers, selection_.mean_of_layers)}});
  if (!selection_.mean_of_heads) {
    head["statistics"] = heads_table(statistics_).json();
    head["statistics"]["distances"] = distances_of(statistics_, selection_);
  }
  std::string out = to_text(head);
  out.pop_back();
  out += ",\"sentences\":[";
  for (const std::string& sentence : sentences_)
    out += (&sentence == &sentences_[0] ? "" : ",") + sentence;
  return out + "]}";
}

std::string AttentionPage::html() const {
  PageSpec page;
  page.title = "Attention";
  if (sentences_.empty()) page.notices.push_back("All lines of the text are blank.");
  if (left_out_ > 0) page.notices.push_back("This page is incomplete: " + notice() + ".");
  page.footer = made_by("tx-attn-dump") + ", model " + options_.model() + ", " +
                std::to_string(sentences_.size()) +
                (sentences_.size() == 1 ? " sentence" : " sentences");
  page.styles = {"lib/attention/page/attention.css"};
  for (const char* name :
       {"attention", "lines", "matrix", "grid", "steps", "statistics", "controls", "main"})
    page.scripts.push_back(std::string("lib/attention/page/") + name + ".js");
  return html_page(page, data());
}

void AttentionPage::finish() {
  if (full() && sentences_.empty()) {
    const int64_t needed = (first_bytes_ + 999'999) / 1'000'000;
    throw UsageError(
        "--html-limit " + std::to_string(limit_ / 1'000'000) +
        " is too small for the first sentence: " +
        (needed <= max_page_mb ? "give --html-limit " + std::to_string(needed) + ", or " : "") +
        "select --layers or --heads" +
        (has_vectors(selection_, models_) ? ", or give --what weights" : ""));
  }
  write_atomically(options_.html, html());
}

std::vector<Item> read_page_text(ItemReader& reader, const AttentionPage& page) {
  std::vector<Item> all, items;
  while (reader.read(items)) {
    const int64_t line = items.back().line;
    for (Item& item : items)
      if (!item.blank()) all.push_back(std::move(item));
    if (line <= max_page_lines || all.empty()) continue;
    const std::string n =
        std::to_string(std::clamp<int64_t>(lines_that_fit(all, page), 1, max_page_lines));
    throw DataError("the text has more than " + std::to_string(max_page_lines) +
                    " lines, of which about " + n + " fit on the page (--html-limit " +
                    std::to_string(page.limit() / 1'000'000) + "): select some, for example with " +
                    "head -n " + n);
  }
  return all;
}

}  // namespace tx
