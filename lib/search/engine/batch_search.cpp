#include "lib/search/engine/batch_search.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/search/engine/beam.h"
#include "lib/search/engine/sampling.h"
#include "lib/subword/vocabulary.h"
#include "lib/tensor/arena.h"

namespace tx {

// Inputs of a sentence read in one step: large products, and 8 MB of logits for 32,000 tokens.
constexpr int64_t inputs_at_a_time = 64;

// A prompt's last word is complete, unless tokens beyond it are ten times as probable as its own.
constexpr double much_more = 2.3;

BatchSearch::BatchSearch(Backend& backend, std::span<const Transformer* const> models, DType dtype,
                         const SearchOptions& options, std::vector<int> forbidden, Rules rules)
    : options_(options),
      forbidden_(std::move(forbidden)),
      longest_(models.front()->longest()),
      rules_(std::move(rules)),
      filters_((rules_.any() || options.prefix || options.continues) && !options.sample &&
               !options.forced_target),
      packs_((options.prefix || options.forced_target || options.continues) && !replays(backend)),
      legal_(rules_, forbidden_, Beam::candidates(options, 0)),
      scorer_(backend, models, dtype,
              options.sample || options.forced_target
                  ? 0
                  : Beam::candidates(options, forbidden_.size() + options.ends.size()),
              filters_) {
  if (!options.forced_target) scorer_.end_at(options.ends);
  for (const Transformer* model : models) longest_ = std::min(longest_, model->longest());
  longest_ -= lead();
}

int64_t BatchSearch::longest(const Source& source) const {
  if (!options_.forced_target && options_.continues)
    return std::min(longest_ - int64_t(source.ids.size()),
                    options_.longest(0) + source.rest_tokens);
  if (!options_.forced_target) return longest(source.tokens());
  TX_ASSERT(int64_t(source.target.size()) <=
            (options_.continues ? longest_ - int64_t(source.ids.size()) : longest_));
  return int64_t(source.target.size());
}

std::unique_ptr<SentenceSearch> BatchSearch::search_for(const Source& source) const {
  if (options_.forced_target) return std::make_unique<ForcedTarget>(options_, source.target);
  if (options_.sample)
    return std::make_unique<Sampling>(options_, forbidden_, longest(source), source, rules_);
  std::span<const int> passed_over;  // with rules, LegalRows removes forbidden tokens instead
  if (!filters_) passed_over = forbidden_;
  if (options_.diversity > 0 || options_.alternatives > 0)
    return std::make_unique<DiverseBeam>(options_, passed_over, longest(source));
  auto beam = std::make_unique<Beam>(options_, passed_over, longest(source));
  if (!source.phrases.empty()) beam->require(source, rules_);
  return beam;
}

// The capacity for sources of total cost `at_a_time`, none longer than `tokens` tokens.
IncrementalDecoder::Capacity BatchSearch::max_capacity(int64_t at_a_time, int64_t tokens,
                                                       int64_t steps) const {
  const int64_t sentences = at_a_time / min_cost + 1;
  const int64_t more = lead() + (options_.continues ? options_.max_new + 1 : options_.max_extra);
  const auto end = int64_t(options_.closing.size());
  IncrementalDecoder::Capacity max;
  max.source_rows = std::max(tokens + end, at_a_time * 5 / 4);  // 25 % more for fragmentation
  max.rows = sentences * width();
  if (packs_) max.rows = std::max(max.rows, rows_for(inputs_at_a_time));
  max.cache_rows = std::max(steps, at_a_time + sentences * more) * width();
  max.steps = steps;
  return max;
}

// Like max_capacity(), but limited to what all sources together need.
IncrementalDecoder::Capacity BatchSearch::capacity_for(Sources sources, int64_t at_a_time) const {
  IncrementalDecoder::Capacity all;
  int64_t tokens = 0, steps = 0;
  for (const Source* s : sources) {
    const int64_t here = s->tokens(), prompt = options_.continues ? here : 0;
    all.source_rows += int64_t(s->ids.size() + options_.closing.size());
    all.cache_rows += prompt + (lead() + s->open_tokens + longest(*s)) * width();
    all.rows += packs_ ? rows_for(int64_t(inputs_of(*s).size())) : width();
    tokens = std::max(tokens, here);
    steps = std::max(steps, lead() + prompt + longest(*s));
  }
  const IncrementalDecoder::Capacity max = max_capacity(at_a_time, tokens, steps);
  return {std::min(all.source_rows, max.source_rows), std::min(all.rows, max.rows),
          std::min(all.cache_rows, max.cache_rows), max.steps};
}

int64_t BatchSearch::rows_for(int64_t inputs) const {
  return std::max<int64_t>(width(), std::min(inputs, inputs_at_a_time));
}

std::vector<int32_t> BatchSearch::inputs_of(const Source& source) const {
  std::vector<int32_t> inputs = {Vocabulary::bos};
  if (lead() > 0) inputs.push_back(int32_t(options_.first_token));
  if (options_.continues) {  // the open word and the token before it; admit() passes on the rest
    const auto end = source.ids.end() - ptrdiff_t(source.open_tokens);
    if (end != source.ids.begin()) inputs = {*std::prev(end)};
    inputs.insert(inputs.end(), end, source.ids.end());
  }
  if (options_.forced_target)
    inputs.insert(inputs.end(), source.target.begin(), source.target.end());
  else if (options_.prefix)
    inputs.insert(inputs.end(), source.prefix.begin(), source.prefix.end());
  // The last token of an output is not read.
  inputs.resize(std::min(inputs.size(), size_t(lead() + source.open_tokens + longest(source))));
  return inputs;
}

void BatchSearch::admit(Sources sources, int64_t at_a_time) {
  std::vector<std::vector<int>> ids;
  std::vector<int64_t> steps;
  int64_t cost = 0;
  for (size_t next = waiting_; next < sources.size(); ++next) {
    const int64_t one = cost_of(*sources[next]);
    if (active_cost_ + cost + one > at_a_time && active_cost_ + cost > 0) break;
    cost += one;
    ids.push_back(sources[next]->ids);
    if (options_.continues) {  // the steps read the last tokens: inputs_of()
      if (options_.bos) ids.back().insert(ids.back().begin(), Vocabulary::bos);
      ids.back().resize(ids.back().size() - 1 - size_t(sources[next]->open_tokens));
    } else {
      const std::vector<int>& closing = options_.closing;
      ids.back().insert(ids.back().end(), closing.begin(), closing.end());
    }
    steps.push_back(lead() + sources[next]->open_tokens + longest(*sources[next]));
  }
  // Wait for more sentences: encoding only a few would make the matrix products small.
  const bool last = waiting_ + ids.size() == sources.size();
  if (!active_.empty() && !last && cost < at_a_time / 8) return;
  const auto lists = [&] {
    TokenLists::Lists out;
    for (size_t i = 0; list_of_ && i < ids.size(); ++i)
      out.push_back(list_of_(*sources[waiting_ + i]));
    return out;
  };
  // Free memory may be fragmented; then fewer of them fit.
  while (!ids.empty() && !scorer_.admit(ids, steps, width(), lists())) {
    ids.resize(ids.size() / 2);
    steps.resize(ids.size());
  }
  for (size_t i = 0; i < ids.size(); ++i, ++waiting_) {
    const Source& source = *sources[waiting_];
    // The last step of a search adds no token; it can only end outputs.
    active_.push_back({waiting_, entered_++, 0, 0, inputs_of(source), 0, longest(source) - 1,
                       search_for(source)});
    active_cost_ += cost_of(source);
  }
  TX_ASSERT(!active_.empty() || waiting_ == sources.size());
}

// Ends outputs that contain a stop string by giving <eos> the probability 1.
void BatchSearch::end_stopped(Sources sources) {
  const std::span<float> values = scorer_.values();
  const std::span<int32_t> ids = scorer_.ids();
  const size_t width = values.size() / rows_.size();
  for (const Active& a : active_) {
    if (a.read + 1 < a.inputs.size()) continue;  // before the first choice
    for (size_t i = 0; i < a.search->rows().size(); ++i) {
      a.search->tree().path(a.search->rows()[i].leaf, tokens_);
      if (!stops_(source_of(a, sources), tokens_, repeats(source_of(a, sources)))) continue;
      const size_t first = (size_t(a.first) + i) * width;
      std::fill_n(values.begin() + ptrdiff_t(first), width,
                  -std::numeric_limits<float>::infinity());
      if (!ids.empty()) std::fill_n(ids.begin() + ptrdiff_t(first), width, -1);
      const size_t at = ids.empty() ? first + Vocabulary::eos : first;
      values[at] = 0;
      if (!ids.empty()) ids[at] = Vocabulary::eos;
    }
  }
}

// Adds rows that read `count` further inputs.
void BatchSearch::add_inputs(Active& a, const Source& source, int64_t count) {
  const auto lead = size_t(this->lead()), open = size_t(source.open_tokens);
  for (a.rows = 0; a.rows < count; ++a.rows) {
    const size_t input = a.read + size_t(a.rows);
    rows_.push_back({a.number, -1, a.inputs[input]});
    if (input >= lead + open) --a.left;
    if (filters_) legal_.add_prefix(input - std::min(input, lead + open), a.left, &source);
  }
}

void BatchSearch::add_rows(Sources sources) {
  rows_.clear();
  if (filters_) legal_.begin();
  int64_t spare = max_rows_;  // for further inputs
  for (const Active& a : active_) spare -= a.reads_inputs() ? 1 : int64_t(a.search->rows().size());
  if (!packs_) spare = 0;
  for (Active& a : active_) {
    const int32_t before = std::exchange(a.first, int32_t(rows_.size()));
    if (a.reads_inputs()) {
      const int64_t more = std::min(spare, int64_t(a.inputs.size() - a.read) - 1);
      spare -= more;
      add_inputs(a, source_of(a, sources), 1 + more);
      continue;
    }
    --a.left;
    const int32_t inputs = std::exchange(a.rows, 0);  // of the previous step
    for (const SentenceSearch::Row& row : a.search->rows()) {
      rows_.push_back({a.number, before + (inputs > 0 ? inputs - 1 : row.parent), row.token});
      if (filters_) legal_.add(a.search->tree(), row.leaf, a.left, &source_of(a, sources));
    }
  }
}

// The prompt with the first `kept` tokens of its open word; the text of the others is `rest`.
Source BatchSearch::cut_prompt(const Source& source, size_t kept) const {
  Source cut;
  cut.line = source.line;
  cut.ids = source.ids;
  cut.ids.resize(source.ids.size() - size_t(source.open_tokens) + kept);
  cut.rest_tokens = int64_t(source.ids.size() - cut.ids.size());
  for (size_t i = cut.ids.size(); i < source.ids.size(); ++i)
    cut.rest += rules_.texts()->vocabulary().token_bytes(source.ids[i]);
  cut.opens = cut.ids.empty();
  return cut;
}

// Scores the tokens of open words that this step read, and what could replace them.
void BatchSearch::compare_open_words(Sources sources) {
  std::vector<Active*> owners;
  std::vector<int32_t> rows;
  for (Active& a : active_)
    for (int32_t i = 0; i < a.rows && int64_t(a.read) + i < source_of(a, sources).open_tokens;
         ++i) {
      owners.push_back(&a);
      rows.push_back(a.first + i);
    }
  for (size_t first = 0; first < rows.size(); first += Scorer::looks) {
    const size_t count = std::min(rows.size() - first, size_t(Scorer::looks));
    const auto part = std::span(rows).subspan(first, count);
    const std::span<const float> found =
        filters_ ? scorer_.look_again(part) : std::span<const float>(scorer_.values());
    const size_t width = found.size() / (filters_ ? count : rows_.size());
    for (size_t i = 0; i < count; ++i) {
      Active& a = *owners[first + i];
      const size_t input = a.read + size_t(part[i] - a.first);
      find_replacement(a, cut_prompt(source_of(a, sources), input), input,
                       found.subspan((filters_ ? i : size_t(part[i])) * width, width));
    }
  }
}

void BatchSearch::find_replacement(Active& a, const Source& cut, size_t input,
                                   std::span<const float> log_p) {
  rules_.texts()->choices(cut.rest, choices_);
  for (const int token : choices_) {
    const double all = a.own + double(log_p[size_t(token)]);
    if (rules_.texts()->bytes(token) <= cut.rest.size() || all <= a.best) continue;
    a.best = all;
    a.best_at = input;
  }
  a.own += double(log_p[size_t(a.inputs[input + 1])]);
}

// Forgets the inputs from a.best_at on, reads that one again, and begins the search after it.
void BatchSearch::replace_end(Active& a, const Source& source) {
  scorer_.forget_inputs(a.number, int64_t(a.inputs.size() - a.best_at));
  a.cut = std::make_unique<Source>(cut_prompt(source, a.best_at));
  a.inputs = {a.inputs[a.best_at]};
  a.read = 0;
  a.search = search_for(*a.cut);
  a.left = longest(*a.cut) - 1;
  a.best = a.own;
}

// The search chooses the forced tokens, one per row; a search with several rows sees copies.
void BatchSearch::advance_inputs(Active& a, const Source& source, const Scores& scores) {
  const auto width = size_t(scores.width);
  for (int32_t i = 0; i < a.rows && !a.search->done(); ++i) {
    const size_t input = a.read++;
    if (input < size_t(lead() + source.open_tokens)) continue;
    if (a.best > a.own + much_more) return replace_end(a, source);
    const float* log_p = scores.log_p + size_t(a.first + i) * width;
    const int32_t* ids = scores.ids ? scores.ids + size_t(a.first + i) * width : nullptr;
    if (const size_t rows = a.search->rows().size(); rows > 1) {
      copied_log_p_.clear();
      copied_ids_.clear();
      for (size_t row = 0; row < rows; ++row) {
        copied_log_p_.insert(copied_log_p_.end(), log_p, log_p + width);
        if (ids) copied_ids_.insert(copied_ids_.end(), ids, ids + width);
      }
      log_p = copied_log_p_.data();
      if (ids) ids = copied_ids_.data();
    }
    a.search->advance({log_p, ids, scores.width});
  }
}

void BatchSearch::step(Sources sources) {
  add_rows(sources);
  if (listener_) {
    const Active& a = active_.front();
    a.search->tree().path(a.search->rows().front().leaf, tokens_);
    listener_(tokens_, repeats(source_of(a, sources)));
  }
  const Scores scores = scorer_.step(rows_);
  if (options_.continues) compare_open_words(sources);
  if (filters_) legal_.strike(scorer_);
  if (stops_) end_stopped(sources);
  for (Active& a : active_) {
    if (a.reads_inputs()) {
      advance_inputs(a, source_of(a, sources), scores);
      continue;
    }
    const size_t from = size_t(a.first) * size_t(scores.width);
    a.search->advance(
        {scores.log_p + from, scores.ids ? scores.ids + from : nullptr, scores.width});
  }
}

std::vector<std::vector<TokenHypothesis>> BatchSearch::run(Sources sources, int64_t at_a_time) {
  if (sources.empty()) return {};
  for (const Source* source : sources)
    TX_ASSERT(!source->ids.empty() || (options_.continues && source->opens));
  std::vector<std::vector<TokenHypothesis>> out(sources.size());
  const IncrementalDecoder::Capacity capacity = capacity_for(sources, at_a_time);
  max_rows_ = capacity.rows;
  scorer_.open(capacity);
  active_.clear();
  active_cost_ = 0;
  waiting_ = 0;
  entered_ = 0;
  for (;;) {
    admit(sources, at_a_time);
    if (active_.empty()) break;
    step(sources);
    std::erase_if(active_, [&](const Active& a) {
      if (!a.search->done()) return false;
      out[a.source] = a.search->results();
      for (TokenHypothesis& h : out[a.source]) h.repeats = repeats(source_of(a, sources));
      scorer_.release(a.number);
      active_cost_ -= cost_of(*sources[a.source]);
      return true;
    });
  }
  return out;
}

}  // namespace tx
