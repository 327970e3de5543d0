#include <algorithm>
#include <bit>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/philox.h"
#include "lib/diagnose/translation.h"
#include "lib/search/lines/source_reader.h"

namespace tx {

namespace {

using Batches = std::vector<std::vector<size_t>>;

struct Way {
  std::string name;
  Batches batches;
  TeamSize team;
};

Batches cut(const std::vector<size_t>& order, const std::vector<size_t>& sizes) {
  Batches out;
  for (size_t at = 0, i = 0; at < order.size(); ++i) {
    const size_t end = std::min(order.size(), at + sizes[i % sizes.size()]);
    out.emplace_back(order.begin() + ptrdiff_t(at), order.begin() + ptrdiff_t(end));
    at = end;
  }
  return out;
}

std::vector<Way> other_ways(const std::vector<Source>& sources, int threads) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].blank()) order.push_back(i);
  }
  std::vector<Way> ways;
  ways.push_back({"one line per batch, 1 worker", cut(order, {1}), {1, 1}});
  std::reverse(order.begin(), order.end());
  ways.push_back({"in reverse order, 7 lines per batch, 3 workers", cut(order, {7}), {3, 1}});
  PhiloxStream random(1, 0x30000);
  const auto shuffled = [&](const char* lines, const std::vector<size_t>& sizes, int each) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
    ways.push_back(
        {std::string("shuffled, ") + lines + " lines per batch, " + counted(each, "thread"),
         cut(order, sizes),
         {1, each}});
  };
  shuffled("2 to 33", {2, 33, 5, 17, 3, 9}, threads);
  shuffled("64", {64}, threads + 1);
  return ways;
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool same(const Translation& a, const Translation& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.ids == y.ids && same_bits(x.score, y.score) && same_bits(x.log_p, y.log_p) &&
           x.complete == y.complete;
  });
}

std::string shown(const Translator& translator, const Translation& t) {
  return "\n  " + translator.models().target().decode(t[0].ids) +
         formatted(" (score %a, log P %a)", t[0].score, t[0].log_p);
}

}  // namespace

std::vector<size_t> differing(const std::vector<Translation>& a,
                              const std::vector<Translation>& b) {
  TX_ASSERT(a.size() == b.size());
  std::vector<size_t> out;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) out.push_back(i);
  }
  return out;
}

std::string check_invariance(LinePairs& in, const Translator& translator,
                             const LineOptions& options, const Log& log) {
  std::vector<Source> sources;
  SourceReader reader(in, translator, options, log);
  Line line;
  for (Source source; reader.next(line, source);) sources.push_back(std::move(source));
  reader.warn_at_end();
  const std::vector<Translation> wanted = translator.translate(sources);
  const std::string lines = counted(int64_t(sources.size()), "line");
  std::string report = lines + " in " + translator.precision() + ", batches of " +
                       counted(translator.options().batch_tokens, "token") + "\n";
  std::string differences;
  for (const Way& way : other_ways(sources, translator.options().threads)) {
    const auto found = translator.translate(sources, way.batches, way.team);
    const std::vector<size_t> lines_apart = differing(wanted, found);
    if (lines_apart.empty()) {
      report += "identical bits: " + way.name + "\n";
      continue;
    }
    const size_t first = lines_apart.front();
    differences += "\n" + std::to_string(lines_apart.size()) + " of " + lines +
                   " differ when translated " + way.name +
                   "; the first: " + in.text().place(sources[first].line) + ":" +
                   shown(translator, wanted[first]) + shown(translator, found[first]);
  }
  if (!differences.empty())
    throw Error("verdict: translations are not batch-invariant" + differences);
  return report + "verdict: translations and scores are batch-invariant\n";
}

}  // namespace tx
