#include "lib/search/batch_search.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/search/beam.h"
#include "lib/search/sampling.h"
#include "lib/text/vocabulary.h"

namespace tx {

BatchSearch::BatchSearch(Backend& backend, std::span<const Transformer* const> models, DType dtype,
                         const SearchOptions& options, std::vector<int> forbidden)
    : options_(options),
      forbidden_(std::move(forbidden)),
      longest_(models.front()->longest()),
      scorer_(backend, models, dtype,
              options.sample ? 0 : Beam::candidates(options, forbidden_.size())) {
  for (const Transformer* model : models) longest_ = std::min(longest_, model->longest());
}

int64_t BatchSearch::longest(const Source& source) const {
  return std::min(longest_, options_.longest(int64_t(source.ids.size())));
}

std::unique_ptr<SentenceSearch> BatchSearch::search_for(const Source& source,
                                                        int64_t longest) const {
  if (options_.sample) {
    return std::make_unique<Sampling>(options_, forbidden_, longest, source.line);
  }
  return std::make_unique<Beam>(options_, forbidden_, longest);
}

std::vector<std::vector<Hypothesis>> BatchSearch::run(std::span<const Source* const> sources) {
  if (sources.empty()) return {};
  std::vector<std::unique_ptr<SentenceSearch>> searches;
  std::vector<std::vector<int>> ids;
  int64_t most_steps = 0;
  for (const Source* source : sources) {
    TX_ASSERT(!source->ids.empty());
    searches.push_back(search_for(*source, longest(*source)));
    ids.push_back(source->ids);
    ids.back().push_back(Vocabulary::eos);
    most_steps = std::max(most_steps, longest(*source));
  }
  const int64_t width = options_.sample ? options_.nbest : options_.beam;
  scorer_.begin(ids, int64_t(sources.size()) * width, most_steps);

  std::vector<Decoding::Row> rows;
  std::vector<int32_t> first(sources.size(), 0);  // row of each sentence in the step before
  for (;;) {
    rows.clear();
    for (size_t s = 0; s < searches.size(); ++s) {
      const int32_t before = first[s];
      first[s] = int32_t(rows.size());
      for (const SentenceSearch::Row& row : searches[s]->rows()) {
        rows.push_back({int32_t(s), row.parent < 0 ? -1 : before + row.parent, row.token});
      }
    }
    if (rows.empty()) break;
    const Scores scores = scorer_.step(rows);
    for (size_t s = 0; s < searches.size(); ++s) {
      if (searches[s]->done()) continue;
      const size_t from = size_t(first[s]) * size_t(scores.width);
      searches[s]->advance(
          {scores.log_p + from, scores.ids ? scores.ids + from : nullptr, scores.width});
    }
  }
  std::vector<std::vector<Hypothesis>> out;
  for (const auto& search : searches) out.push_back(search->results());
  return out;
}

}  // namespace tx
