#include "lib/eval/scoring.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/workers.h"
#include "lib/eval/report/results.h"
#include "lib/eval/report/statistics_file.h"
#include "lib/eval/report/suspicion.h"
#include "lib/eval/report/systems.h"

namespace tx {
namespace {

void check(const ScoringOptions& o) {
  const auto refuse = [](bool wrong, const char* message) {
    if (wrong) throw UsageError(message);
  };
  const bool paired = o.paired_bootstrap || o.paired_approximate;
  const bool several = o.files.systems.size() > 1;
  refuse(paired && !several, "a paired test needs two systems or more: -i FILE -i FILE");
  refuse((o.sentence || o.stats) && several, "--sentence and --stats take one system");
  refuse(!o.test_set.empty(),
         "tx-bleu has no test sets or language pairs (-t, -l): name the file of references");
  refuse(o.format == "json" && (o.stats || o.score_only),
         "--format json cannot be used with --stats or --score-only: leave one of them out");
  for (const std::string& file : o.files.references)
    if (names_metrics(file) && !file_exists(file))
      throw UsageError("there is no reference file " + file +
                       "; several metrics have commas between, as in --metric bleu," + file);
}

// A score of 0 looks like a failure of the system; often the text is only short.
void explain_zeros(const Metrics& metrics, const std::vector<System>& systems, const Log& log) {
  for (const System& system : systems) {
    for (size_t m = 0; m < metrics.size(); ++m) {
      const std::string why = metrics[m]->why_zero(system.sums[m]);
      if (!why.empty()) log.info((systems.size() > 1 ? system.name + ": " : "") + why);
    }
  }
}

// Reads text, and writes a score or a row for each segment, or gathers the statistics of systems.
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
      // Short segments would have no 4-gram, so sacreBLEU takes the orders that there are.
      if (options_.sentence) metric->score_segments();
    }
    for (Segment segment; reader_.next(segment);) {
      for (size_t i = 0; i < systems_.size(); ++i) {
        suspicions[i].look_at(segment.hypotheses[i]);
        measure(segment, i);
      }
    }
    reader_.warn(log_);
    const bool whole = !options_.stats && !options_.sentence;
    if (reader_.segments() == 0 && whole) {
      throw DataError("nothing to score: all files are empty");
    }
    for (size_t i = 0; i < systems_.size() && !options_.force; ++i) {
      suspicions[i].warn(log_, reader_.name(i), tokens_matter());
    }
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
    for (size_t m = 0; m < metrics_.size(); ++m) {
      row_.assign(system.sums[m].size(), 0.0);
      try {
        metrics_[m]->add(segment.hypotheses[index], segment.references, row_);
      } catch (const DataError& error) {
        throw DataError(reader_.reference_name() + " line " + std::to_string(reader_.segments()) +
                        ": " + error.what());
      }
      if (options_.stats) {
        all.insert(all.end(), row_.begin(), row_.end());
      } else if (options_.sentence) {
        scores.push_back(signed_score(*metrics_[m], row_, sentence_run(segment)));
      } else {
        system.add(m, row_, options_.resamples_segments());
      }
    }
    if (options_.stats) {
      out_.write(statistics_line(segment.references.size(), metrics_, all) + "\n");
    }
    if (options_.sentence) write_sentence(scores);
  }

  static RunSettings sentence_run(const Segment& segment) {
    RunSettings run;
    run.references = std::to_string(segment.references.size());
    return run;
  }

  // One line per segment: several metrics with a tab between.
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

// The files of each system: without -i those named are parts of one.
std::vector<std::vector<std::string>> parts_of(const CorpusFiles& files) {
  const std::vector<std::string> systems = files.hypotheses();
  if (systems.size() == 1 && systems.front() == "-") {
    if (files.references.empty()) throw UsageError("no file of statistics is given");
    return {files.references};
  }
  if (!files.references.empty()) {
    throw UsageError(
        "with --from-stats and -i no further file is read: statistics hold what "
        "is needed of the references");
  }
  std::vector<std::vector<std::string>> parts;
  for (const std::string& path : systems) parts.push_back({path});
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
