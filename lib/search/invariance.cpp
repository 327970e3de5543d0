#include "lib/search/invariance.h"

#include <algorithm>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/philox.h"

namespace tx {

namespace {

using Batches = std::vector<std::vector<size_t>>;

struct Way {
  std::string name;
  Batches batches;
  int threads;  // of each batch
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
    if (!sources[i].ids.empty()) order.push_back(i);
  }
  std::vector<Way> ways;
  ways.push_back({"each line alone", cut(order, {1}), 1});
  std::reverse(order.begin(), order.end());
  ways.push_back({"in reverse order, 7 lines together", cut(order, {7}), 1});
  PhiloxStream random(1, 0x30000);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  ways.push_back({"shuffled, 2 to 33 lines together, " + std::to_string(threads) +
                      (threads == 1 ? " thread" : " threads") + " each",
                  cut(order, {2, 33, 5, 17, 3, 9}), threads});
  return ways;
}

bool same(const Translation& a, const Translation& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.ids == y.ids && x.score == y.score && x.log_p == y.log_p && x.complete == y.complete;
  });
}

std::string both_texts(const Translator& translator, const Translation& a, const Translation& b) {
  const auto text = [&](const Translation& t) {
    char scores[100];
    std::snprintf(scores, sizeof scores, " (score %a, log P %a)", t[0].score, t[0].log_p);
    return "  " + translator.models().target().decode(t[0].ids) + scores;
  };
  return text(a) + "\n" + text(b);
}

}  // namespace

std::string check_invariance(TextReader& in, const Translator& translator,
                             const LineOptions& options) {
  std::vector<Source> sources;
  for (std::string text; in.next(text);) {
    sources.emplace_back();
    sources.back().line = in.line_number();
    parse_line(text, options, translator, sources.back().ids);
  }
  const std::vector<Translation> wanted = translator.translate(sources);
  std::string report = std::to_string(sources.size()) + " lines in batches of " +
                       std::to_string(translator.options().batch_tokens) + " pieces\n";
  for (const Way& way : other_ways(sources, translator.options().threads)) {
    const auto found = translator.translate(sources, way.batches, way.threads);
    for (size_t i = 0; i < sources.size(); ++i) {
      if (same(wanted[i], found[i])) continue;
      throw Error(in.place(sources[i].line) + " is translated otherwise " + way.name + ":\n" +
                  both_texts(translator, wanted[i], found[i]));
    }
    report += "the same bits " + way.name + "\n";
  }
  return report;
}

}  // namespace tx
