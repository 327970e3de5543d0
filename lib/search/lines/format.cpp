// How answers are written, and where: the second half of lines.h, and open_status() and
// describe_scored() of stream.h.
#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/outputs.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/lines/lines.h"
#include "lib/search/lines/stream.h"
#include "lib/subword/token_lines.h"
#include "lib/subword/word_groups.h"

namespace tx {

namespace {

std::string six_decimals(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", x == 0 ? 0.0 : x);
  return text;
}

std::string output(const TokenHypothesis& h, const LineOptions& options,
                   const Vocabulary& vocabulary, std::span<const int> prompt) {
  if (options.form == LineForm::text)
    return (options.echo ? vocabulary.decode(prompt) : "") +
           before_stop(continuation_text(vocabulary, prompt, h.ids), options.stops);
  std::vector<int> ids;
  if (options.echo) ids.assign(prompt.begin(), prompt.end());
  ids.insert(ids.end(), h.ids.begin(), h.ids.end());
  return join_tokens(vocabulary, ids, options.form == LineForm::ids);
}

std::string joined(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : " ") + six_decimals(value);
  return out;
}

// A JSON number; minus infinity, which only a given translation has, is null.
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json links(const std::string& text) {
  Json out = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t dash = text.find('-', at), end = std::min(text.find(' ', at), text.size());
    TX_ASSERT(dash < end);
    out.push_back({std::stoi(text.substr(at, dash - at)), std::stoi(text.substr(dash + 1))});
    at = end + 1;
  }
  return out;
}

void describe(Json& json, const TokenHypothesis& h, const LineOptions& options,
              const Vocabulary& vocabulary, std::span<const int> prompt) {
  json["text"] = output(h, options, vocabulary, prompt);
  json["score"] = number(h.score);
  json["log_p"] = number(h.log_p);
  json["complete"] = h.complete;
  const WordScores tokens = words_of(h, LineForm::tokens, vocabulary);
  json["pieces"] = tokens.words;
  json["piece_log_p"] = tokens.log_p;
  if (!options.word_scores) return;
  const WordScores words = words_of(h, LineForm::text, vocabulary);
  json["words"] = words.words;
  json["word_log_p"] = words.log_p;
}

}  // namespace

WordScores words_of(const TokenHypothesis& h, LineForm form, const Vocabulary& vocabulary) {
  WordScores out;
  std::vector<double> log_p(h.token_log_p.begin(), h.token_log_p.end());
  if (form != LineForm::text) {
    out.words = vocabulary.tokens(h.ids);
    out.log_p = std::move(log_p);
    return out;
  }
  const WordGroups groups = group_words(vocabulary, h.ids);
  out.words = groups.words;
  if (log_p.size() < h.ids.size()) return out;  // a blank line's answer: the model was not asked
  for (size_t word = 0; word < groups.size(); ++word) {
    out.log_p.push_back(0);
    for (int64_t i = groups.starts[word]; i < groups.starts[word + 1]; ++i)
      out.log_p.back() += log_p[size_t(i)];
  }
  if (log_p.size() > h.ids.size()) out.log_p.push_back(log_p.back());
  return out;
}

std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns, std::span<const int> prompt) {
  std::string out;
  for (size_t rank = 0; rank < translation.size(); ++rank) {
    const TokenHypothesis& h = translation[rank];
    if (options.list) out += std::to_string(line.number) + "\t" + std::to_string(rank + 1) + "\t";
    if (options.list || options.scores) {
      out += six_decimals(h.score) + "\t" + six_decimals(h.log_p) + "\t";
    }
    out += output(h, options, vocabulary, prompt);
    if (options.word_scores) out += "\t" + joined(words_of(h, options.form, vocabulary).log_p);
    if (!columns.empty()) out += "\t" + columns[rank];
    out += "\n";
    if (!options.list) break;
  }
  return out;
}

std::string format_json(const Line& line, const Translation& translation,
                        const std::vector<std::string>& states, const LineOptions& options,
                        const Vocabulary& vocabulary, const std::vector<std::string>& alignments,
                        std::span<const int> prompt) {
  Json json = {{"line", line.number}};
  describe(json, translation.front(), options, vocabulary, prompt);
  if (!alignments.empty()) json["alignment"] = links(alignments.front());
  json["states"] = states;
  if (options.list) json["nbest"] = Json::array();
  for (size_t rank = 0; rank < translation.size() && options.list; ++rank) {
    Json one = Json::object();
    describe(one, translation[rank], options, vocabulary, prompt);
    if (!alignments.empty()) one["alignment"] = links(alignments[rank]);
    json["nbest"].push_back(one);
  }
  return to_text(json) + "\n";
}

std::string status_header() {
  return "line\tstate\tsource_pieces\toutput_pieces\treplaced\tscore\tlog_p\tmilliseconds\n";
}

std::string format_status(const Line& line, const Translation& translation,
                          const std::vector<std::string>& states, double milliseconds) {
  std::string state;
  for (const std::string& one : states) state += (state.empty() ? "" : ",") + one;
  if (state.empty()) state = "ok";
  const TokenHypothesis& best = translation.front();
  char time[64];
  std::snprintf(time, sizeof time, "%.1f", milliseconds);
  return std::to_string(line.number) + "\t" + state + "\t" + std::to_string(line.tokens) + "\t" +
         std::to_string(best.ids.size()) + "\t" + std::to_string(line.replaced) + "\t" +
         six_decimals(best.score) + "\t" + six_decimals(best.log_p) + "\t" + time + "\n";
}

std::string describe_scored(const ScoredText& scored) {
  if (scored.labels == 0) return "no text was scored";
  const double tokens = double(scored.labels);
  return "log P " + figure(scored.log_p, 1) + " over " + counted(scored.labels, "token") +
         ", ends counted: perplexity " + figure(std::exp(-scored.log_p / tokens), 3);
}

std::unique_ptr<Writer> open_status(const std::string& place) {
  if (place.empty()) return nullptr;
  const bool number = is_descriptor(place);
  const int fd = number ? std::stoi(place) : -1;
  if (place == "-" || fd == 1) {
    throw UsageError("--status " + place +
                     ": standard output is for the translations; name a file, or use 2 or 3");
  }
  if (!number) return std::make_unique<Writer>(place);
  if (::fcntl(fd, F_GETFD) < 0) {
    throw UsageError("--status " + place + ": descriptor " + place + " is not open; add " + place +
                     ">FILE to the command, or give ./" + place + " for a file of that name");
  }
  return std::make_unique<Writer>(fd, "descriptor " + place);
}

}  // namespace tx
