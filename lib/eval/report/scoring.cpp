#include "lib/eval/report/scoring.h"

#include <algorithm>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/eval/report/report.h"
#include "lib/eval/report/systems.h"
#include "lib/text/parse.h"

namespace tx {
namespace {

void check(const ScoringOptions& o) {
  const auto refuse = [](bool wrong, const char* message) {
    if (wrong) throw UsageError(message);
  };
  const bool paired = o.paired_bootstrap || o.paired_approximate;
  const bool several = o.files.systems.size() > 1;
  refuse(paired && !several, "a paired test needs two systems or more: -i FILE -i FILE");
  refuse((o.sentence || o.stats) && several, "--sentence and --stats support one system only");
  refuse(!o.test_set.empty(),
         "tx-bleu has no test sets or language pairs (-t, -l): name the file of references");
  refuse(o.format == "json" && (o.stats || o.score_only),
         "--format json cannot be used with --stats or --score-only: leave one of them out");
  for (const std::string& file : o.files.references)
    if (names_metrics(file) && !file_exists(file))
      throw UsageError("there is no reference file " + file +
                       "; separate several metrics by commas: --metric bleu," + file);
}

// Explains scores of 0 that only mean that the text is short or has no smoothing.
void explain_zeros(const Metrics& metrics, const std::vector<System>& systems, const Log& log) {
  for (const System& system : systems) {
    for (size_t m = 0; m < metrics.size(); ++m) {
      const std::string why = metrics[m]->why_zero(system.sums[m]);
      if (!why.empty()) log.info((systems.size() > 1 ? system.name + ": " : "") + why);
    }
  }
}

// Detects hypotheses that are tokenised, or subwords that were not joined.
class Suspicion {
 public:
  void inspect(std::string_view hypothesis);
  // Warns about the file `name`. tokens_matter: the metric expects text that is not tokenised.
  void warn(const Log& log, const std::string& name, bool tokens_matter) const;

 private:
  struct Sign {
    int64_t lines = 0, first = 0;
    void note(int64_t line) {
      if (lines++ == 0) first = line;
    }
  };
  Sign joiners_, space_signs_, tokens_;  // "@@ ", U+2581, " ." at the end
  int64_t lines_ = 0;
};

void Suspicion::inspect(std::string_view hypothesis) {
  ++lines_;
  if (hypothesis.find("@@ ") != std::string_view::npos || hypothesis.ends_with("@@"))
    joiners_.note(lines_);
  if (hypothesis.find("\xE2\x96\x81") != std::string_view::npos) space_signs_.note(lines_);
  if (hypothesis.ends_with(" .")) tokens_.note(lines_);
}

void Suspicion::warn(const Log& log, const std::string& name, bool tokens_matter) const {
  const auto warn_about = [&](const Sign& sign, const std::string& what,
                              const std::string& remedy) {
    log.warn(name + ": " + with_commas(sign.lines) + " of " + counted(lines_, "line") + " " + what +
             " (the first is line " + std::to_string(sign.first) + "); " + remedy);
  };
  if (joiners_.lines > 0) {
    warn_about(joiners_, "contain \"@@\": subwords are not joined",
               "join them with sed -E 's/@@( |$)//g' before scoring");
  }
  if (space_signs_.lines > 0)
    warn_about(space_signs_, "contain U+2581: tokens of a subword model are not joined",
               "join them with tx-bpe decode before scoring");
  // A few such lines are normal in a long text.
  const bool many = (tokens_.lines >= 100 && 10 * tokens_.lines >= lines_) ||
                    (lines_ >= 10 && 2 * tokens_.lines >= lines_);
  if (tokens_matter && many)
    warn_about(tokens_, "end in \" .\": the text looks tokenised",
               "score detokenised text, or add --force to omit this warning");
}

// Warns about a file whose first line shows that it is no text.
void check_kind(const Log& log, const std::string& name, std::string_view first) {
  if (first.starts_with("{\"") && first.ends_with('}'))
    log.warn(name + " seems to be JSON: extract its text, for example with jq -r .text");
  try {
    if (parse_links(first).size() > 1)
      log.warn(name + " seems to be a word alignment: compare alignments with --metric aer");
  } catch (const DataError&) {  // as usual
  }
}

// Reads text, and writes a score or a row for each segment, or collects the statistics of systems.
class Scoring {
 public:
  Scoring(const ScoringOptions& options, const Log& log, Writer& out)
      : options_(options),
        log_(log),
        out_(out),
        metrics_(options.metrics.make()),
        reader_(options.files, form_of(metrics_)),
        systems_(make_systems(options.files.hypotheses(), metrics_)) {}

  void run() {
    std::vector<Suspicion> suspicions(systems_.size());
    if (options_.stats) out_.write(statistics_header(metrics_to_json(metrics_)) + "\n");
    for (const auto& metric : metrics_) {
      // Short segments may have no 4-gram, so sacreBLEU uses the orders that exist.
      if (options_.sentence) metric->score_segments();
    }
    for (Segment segment; reader_.next(segment);) {
      const bool check = reader_.segments() == 1 && tokens_matter() && !options_.force;
      if (check) check_kind(log_, reader_.reference_name(), segment.references.front());
      for (size_t i = 0; i < systems_.size(); ++i) {
        if (check) check_kind(log_, reader_.name(i), segment.hypotheses[i]);
        suspicions[i].inspect(segment.hypotheses[i]);
        measure(segment, i);
      }
    }
    reader_.warn(log_);
    const bool whole = !options_.stats && !options_.sentence;
    if (reader_.segments() == 0 && whole) throw DataError("nothing to score: all files are empty");
    for (size_t i = 0; i < systems_.size() && !options_.force; ++i)
      suspicions[i].warn(log_, reader_.name(i), tokens_matter());
    if (!whole) return;
    explain_zeros(metrics_, systems_, log_);
    out_.write(results_text(options_, score_systems(options_, metrics_, std::move(systems_))));
  }

 private:
  bool tokens_matter() const {
    return std::any_of(metrics_.begin(), metrics_.end(),
                       [](const auto& metric) { return metric->tokenizes(); });
  }

  void measure(const Segment& segment, size_t index) {
    System& system = systems_[index];
    system.begin_segment(segment.references.size());
    std::vector<double> all;
    std::vector<Score> scores;
    const std::string references = "nrefs:" + std::to_string(segment.references.size());
    for (size_t m = 0; m < metrics_.size(); ++m) {
      row_.assign(system.sums[m].size(), 0.0);
      try {
        metrics_[m]->add(segment.hypotheses[index], segment.references, row_);
      } catch (const DataError& error) {
        throw DataError(reader_.reference_name() + " line " + std::to_string(reader_.segments()) +
                        ": " + error.what());
      }
      if (options_.stats)
        all.insert(all.end(), row_.begin(), row_.end());
      else if (options_.sentence)
        scores.push_back(signed_score(*metrics_[m], row_, references));
      else
        system.add(m, row_, options_.resamples_segments());
    }
    if (options_.stats)
      out_.write(statistics_line(segment.references.size(), metrics_, all) + "\n");
    if (options_.sentence) write_sentence(scores);
  }

  // One line per segment; scores of several metrics are separated by tabs.
  void write_sentence(const std::vector<Score>& scores) {
    std::string line;
    Json list = Json::array();
    for (const Score& score : scores) {
      if (options_.json) list.push_back(score_json(score, options_.width));
      if (!line.empty()) line += "\t";
      line += options_.score_only ? score_text(score, options_.width)
                                  : score_line(score, options_.width);
    }
    if (options_.json) line = to_text(scores.size() == 1 ? list[0] : list);
    out_.write(line + "\n");
  }

  const ScoringOptions& options_;
  const Log& log_;
  Writer& out_;
  Metrics metrics_;
  SegmentReader reader_;
  std::vector<System> systems_;
  Statistics row_;
};

// The files of each system: without -i all files are parts of one system.
std::vector<std::vector<std::string>> parts_of(const CorpusFiles& files) {
  if (files.systems.empty()) {
    if (files.references.empty()) throw UsageError("no file of statistics is given");
    return {files.references};
  }
  if (!files.references.empty())
    throw UsageError(
        "--from-stats with -i takes no further files: statistics include those of the "
        "references");
  std::vector<std::vector<std::string>> parts;
  for (const std::string& path : files.systems) parts.push_back({path});
  return parts;
}

void score_statistics(const ScoringOptions& options, const Log& log, Writer& out) {
  Metrics metrics;
  std::vector<System> systems =
      read_systems(parts_of(options.files), options.resamples_segments(), metrics);
  explain_zeros(metrics, systems, log);
  out.write(results_text(options, score_systems(options, metrics, std::move(systems))));
}

}  // namespace

void run_scoring(ScoringOptions options, const Log& log, Writer& out) {
  check(options);
  options.json = options.json || options.format == "json";
  if (options.from_stats) return score_statistics(options, log, out);
  if (options.resamples_segments()) limit_threads(options.threads, log);
  Scoring(options, log, out).run();
}

}  // namespace tx
