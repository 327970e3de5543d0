#include "lib/attention/alignment.h"

#include <algorithm>
#include <array>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/eval/metrics.h"
#include "lib/search/lines/lines.h"

namespace tx {

namespace {

constexpr int mean = -1;  // instead of a head

struct Candidate {
  int layer, head;
  std::vector<double> sums;
};

// Sums each head's alignment statistics over the given links.
class HeadChooser : public AttentionOutput {
 public:
  HeadChooser(const Selection& selection, const std::string& path)
      : selection_(selection), path_(path), metric_(make_metric("aer")) {
    std::vector<int> heads = selection.heads;
    if (heads.size() > 1) heads.push_back(mean);
    for (const int layer : selection.kinds.front().layers)
      for (const int head : heads)
        candidates.push_back({layer, head, std::vector<double>(metric_->size())});
  }

  std::vector<std::string> given;  // links of line n, from 1

  Write prepare(const AttentionRecord& record) override {
    std::vector<std::string> links;
    if (!record.maps.empty())
      for (const auto& layer : record.maps.front()) {
        for (const AttentionMap& map : layer) links.push_back(links_of(record, selection_, map));
        if (layer.size() > 1) links.push_back(links_of(record, selection_, mean_of(layer)));
      }
    return [this, line = size_t(record.line), links = std::move(links)] {
      try {
        for (size_t i = 0; i < links.size(); ++i)
          metric_->add(links[i], {&given[line - 1], 1}, candidates[i].sums);
      } catch (const DataError& error) {
        throw DataError(path_ + ":" + std::to_string(line) + ": " + error.what());
      }
    };
  }

  double error_rate(const Candidate& candidate) const { return metric_->value(candidate.sums); }
  std::vector<Candidate> candidates;

 private:
  const Selection& selection_;
  const std::string& path_;
  std::unique_ptr<Metric> metric_;
};

std::array<std::string, 3> three_fields(const std::string& line, const std::string& place) {
  const size_t first = line.find('\t'), second = line.find('\t', first + 1);
  if (first == line.npos || second == line.npos || line.find('\t', second + 1) != line.npos)
    throw DataError(
        place +
        ": expected three fields separated by tabs: source, target, links (paste(1) writes them)");
  return {line.substr(0, first), line.substr(first + 1, second - first - 1),
          line.substr(second + 1)};
}

}  // namespace

std::string links_of(const AttentionRecord& record, const Selection& selection,
                     const AttentionMap& map) {
  if (record.source.empty()) return "";
  const bool complete = record.target_ids.back() == Vocabulary::eos;
  const auto targets = int64_t(record.target.size()) - complete;
  const int64_t first_row = selection.shift ? 1 : 0;
  const int64_t columns = map.columns - (record.source_ids.back() == Vocabulary::eos);
  std::vector<std::pair<int64_t, int64_t>> links;
  for (int64_t target = 0; target < targets && columns > 0; ++target) {
    const int64_t row = target + first_row;
    if (row >= map.rows) break;
    const auto begin = map.values.begin() + row * map.columns;
    links.emplace_back(std::max_element(begin, begin + columns) - begin, target);
  }
  std::sort(links.begin(), links.end());
  std::string out;
  for (const auto& [source, target] : links)
    out += (out.empty() ? "" : " ") + std::to_string(source) + "-" + std::to_string(target);
  return out;
}

AttentionOutput::Write AlignmentOutput::prepare(const AttentionRecord& record) {
  const std::string links =
      record.maps.empty() ? "" : links_of(record, selection_, record.maps[0][0][0]);
  return [this, links] { out_.write(links + "\n"); };
}

Selection chosen_head(const Selection& candidates, const std::string& path,
                      const Translator& translator, const Log& log) {
  HeadChooser chooser(candidates, path);
  Records records(candidates, true, translator, chooser);
  TextReader reader({path});
  std::string text;
  std::vector<Item> items;
  constexpr size_t lines_together = 256;
  bool any = false;
  while (reader.next(text)) {
    const std::string place = reader.place(reader.line_number());
    const auto [source, target, links] = three_fields(text, place);
    Item& item = items.emplace_back();
    item.line = item.source.line = reader.line_number();
    const Line line = parse_line(source, {}, translator, item.source.ids);
    if (!line.blank) parse_target(target, {}, translator, item.target);
    chooser.given.push_back(links);
    any = any || !line.blank;
    if (items.size() < lines_together) continue;
    records.write(items);
    items.clear();
  }
  if (!items.empty()) records.write(items);
  if (!any) throw DataError(path + " has only blank lines");
  const auto rate = [&](const Candidate& c) { return chooser.error_rate(c); };
  const auto best = std::min_element(  // ties: the first
      chooser.candidates.begin(), chooser.candidates.end(),
      [&](const Candidate& a, const Candidate& b) { return rate(a) < rate(b); });
  const std::string which =
      best->head == mean ? "the mean of the heads" : "head " + std::to_string(best->head);
  log.info(which + " of layer " + std::to_string(best->layer) +
           " has the lowest alignment error rate on " + path + ", " + figure(rate(*best), 1));
  Selection out = candidates;
  out.kinds.front().layers = {best->layer};
  out.mean_of_heads = best->head == mean;
  if (best->head != mean) out.heads = {best->head};
  return out;
}

Aligner::Aligner(Selection selection, const Translator& translator)
    : selection_(std::move(selection)),
      models_(translator.models()),
      recorders_([this, &translator] {
        return std::make_unique<Recorder>(selection_, true, translator);
      }) {}

AttentionRecord Aligner::record(const Source& source, const TokenHypothesis& output) {
  Item item;
  item.line = source.line;
  item.source.ids = source.ids;
  item.target = output.ids;
  if (output.complete) item.target.push_back(Vocabulary::eos);
  if (item.target.empty()) return {};
  return recorders_.lend()->record(item, 1);
}

std::string Aligner::links(const Source& source, const TokenHypothesis& output) {
  const AttentionRecord record = this->record(source, output);
  return record.maps.empty() ? "" : links_of(record, selection_, record.maps[0][0][0]);
}

std::vector<int64_t> Aligner::sources(const Source& source, const TokenHypothesis& output) {
  const AttentionRecord record = this->record(source, output);
  if (record.maps.empty()) return {};
  const AttentionMap& map = record.maps[0][0][0];
  const int64_t first_row = record.target_ids.size() > output.ids.size() + output.complete;
  const auto opening = int64_t(opening_tokens(models_.source()).size());
  std::vector<int64_t> found;
  for (int64_t i = 0; i < int64_t(output.ids.size()); ++i) {
    const auto row = map.values.begin() + (first_row + i) * map.columns;
    const auto begin = row + std::min(opening, int64_t(source.ids.size()) - 1);
    found.push_back(std::max_element(begin, row + int64_t(source.ids.size())) - row);
  }
  return found;
}

void OutputAlignments::describe(Options& options) {
  options.group("Alignments");
  options
      .add("--alignments", unit_, "words|pieces",
           "append a column with word or token alignments, such as 0-0 1-2",
           "SOURCE-TARGET, counted from 0: each target word is linked to the source word with the "
           "largest attention weight. tx-attn-dump --align can choose a better head.")
      .one_of({"words", "pieces"})
      .needs(of_kinds({ModelKind::encoder_decoder}))
      .excludes({"--check-invariance"});
  selection_.describe_aligned(options);
  for (const char* name : {"layers", "heads", "shift"}) options.at(name).needs({"--alignments"});
}

void OutputAlignments::check(const TranslatorOptions& translator) {
  selection_.words = unit_ == "words";
  if (!unit_.empty() && translator.models.size() > 1)
    throw UsageError("--alignments needs a single model: give one -m");
}

OutputAlignments::Align OutputAlignments::column(const Translator& translator) const {
  if (unit_.empty()) return {};
  const ModelSet& models = translator.models();
  refuse_languages(models.vocabularies(), "--alignments", models.name());
  const ModelConfig& config = models.transformers().front()->config();
  const auto aligner = std::make_shared<Aligner>(selection_.resolve_aligned(config), translator);
  return [aligner](const Source& source, const TokenHypothesis& output) {
    return aligner->links(source, output);
  };
}

std::function<std::vector<int64_t>(const Source&, const TokenHypothesis&)>
OutputAlignments::of_tokens(const Translator& translator) {
  const ModelConfig& config = translator.models().transformers().front()->config();
  SelectionOptions all;
  all.layers = "0-" + std::to_string(config.sides.back().layers - 1);
  const auto aligner = std::make_shared<Aligner>(all.resolve_aligned(config), translator);
  return [aligner](const Source& source, const TokenHypothesis& output) {
    return aligner->sources(source, output);
  };
}

}  // namespace tx
