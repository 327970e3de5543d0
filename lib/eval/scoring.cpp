#include "lib/eval/scoring.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "lib/base/error.h"
#include "lib/eval/report.h"
#include "lib/eval/resampling.h"
#include "lib/eval/statistics_file.h"
#include "lib/eval/suspicion.h"

namespace tx {
namespace {

// How many references the segments have.
class ReferenceCount {
 public:
  void note(size_t count) {
    if (count_ == 0) count_ = count;
    varies_ = varies_ || count != count_;
  }
  std::string text() const { return varies_ ? "var" : std::to_string(count_); }

 private:
  size_t count_ = 0;
  bool varies_ = false;
};

// Sums of one system, and its segments one by one where something resamples them.
struct System {
  std::string name;
  std::vector<Statistics> sums;  // of each metric
  std::vector<SystemRows> rows;  // of each metric; empty rows where they are not kept
  ReferenceCount references;
  int64_t segments = 0;
};

void check(const ScoringOptions& o) {
  const auto refuse = [](bool wrong, const char* message) {
    if (wrong) throw UsageError(message);
  };
  const bool paired = o.paired_bootstrap || o.paired_approximate;
  const bool several = o.files.systems.size() > 1;
  refuse(o.paired_bootstrap && o.paired_approximate,
         "choose one of --paired-bootstrap and --paired-approximate");
  refuse(paired && !several, "a paired test needs two systems or more: -i FILE -i FILE");
  refuse(paired && o.confidence,
         "--confidence is for scores of their own; --paired-bootstrap gives intervals as well");
  refuse(o.sentence && o.stats, "choose one of --sentence and --stats");
  refuse((o.sentence || o.stats) && (several || paired || o.confidence),
         "--sentence and --stats take one system and no test");
  refuse(o.from_stats && (o.sentence || o.stats),
         "--from-stats gives scores of whole files, without --sentence and --stats");
  refuse(o.stats && (o.json || o.score_only), "--stats has a format of its own, see tx-stats(5)");
}

class Scoring {
 public:
  Scoring(const ScoringOptions& options, const Log& log, Writer& out)
      : options_(options), log_(log), out_(out) {}

  void run() {
    if (options_.from_stats) return run_from_statistics();
    metrics_ = make_metrics(options_.metrics);
    SegmentReader reader(options_.files);
    start_systems(options_.files.systems);
    std::vector<Suspicion> suspicions(systems_.size());
    if (options_.stats) {
      write(statistics_header(metrics_to_json(options_.metrics, metrics_)) + "\n");
    }
    for (Segment segment; reader.next(segment);) {
      for (size_t i = 0; i < systems_.size(); ++i) {
        suspicions[i].look_at(segment.hypotheses[i]);
        measure(segment, i, reader);
      }
    }
    reader.warn(log_);
    if (reader.segments() == 0 && !options_.stats && !options_.sentence) {
      throw DataError("nothing to score: all files are empty");
    }
    for (size_t i = 0; i < systems_.size() && !options_.force; ++i) {
      suspicions[i].warn(log_, reader.name(i), tokens_matter());
    }
    if (!options_.sentence && !options_.stats) report();
  }

 private:
  bool resamples() const {
    return options_.confidence || options_.paired_bootstrap || options_.paired_approximate;
  }

  bool tokens_matter() const {
    const std::string& name = options_.metrics.bleu.tokenizer;
    return options_.metrics.names.find("bleu") != std::string::npos &&
           (name == "13a" || name == "intl");
  }

  void write(const std::string& text) { out_.write(text); }

  void start_systems(const std::vector<std::string>& names) {
    systems_.clear();
    for (const std::string& name : names) {
      if (std::count(names.begin(), names.end(), name) > 1) {
        throw UsageError("the system " + name + " is given twice");
      }
      System& system = systems_.emplace_back();
      system.name = name;
      for (const auto& metric : metrics_) {
        system.sums.emplace_back(metric->size(), 0.0);
        system.rows.push_back({metric.get(), {}});
      }
    }
    if (options_.paired_bootstrap || options_.paired_approximate) {
      systems_[0].name = "Baseline: " + systems_[0].name;
    }
  }

  // Adds the row of one metric to a system.
  void add_row(System& system, size_t metric, std::span<const double> row) {
    Statistics& sums = system.sums[metric];
    for (size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
    if (!resamples()) return;
    std::vector<double>& rows = system.rows[metric].rows;
    rows.insert(rows.end(), row.begin(), row.end());
  }

  void measure(const Segment& segment, size_t index, const SegmentReader& reader) {
    System& system = systems_[index];
    system.references.note(segment.references.size());
    ++system.segments;
    std::vector<double> all;
    std::vector<Score> scores;
    for (size_t m = 0; m < metrics_.size(); ++m) {
      row_.assign(metrics_[m]->size(), 0.0);
      try {
        metrics_[m]->add(segment.hypotheses[index], segment.references, row_);
      } catch (const DataError& error) {
        throw DataError(reader.reference_name() + " line " + std::to_string(reader.segments()) +
                        ": " + error.what());
      }
      if (options_.stats) all.insert(all.end(), row_.begin(), row_.end());
      if (options_.sentence) scores.push_back(score(*metrics_[m], row_, sentence_run(segment)));
      if (!options_.stats && !options_.sentence) add_row(system, m, row_);
    }
    if (options_.stats) {
      write(statistics_line(segment.references.size(), metrics_, all) + "\n");
    }
    if (options_.sentence) write_sentence(scores);
  }

  static RunSettings sentence_run(const Segment& segment) {
    RunSettings run;
    run.references = std::to_string(segment.references.size());
    return run;
  }

  static Score score(const Metric& metric, std::span<const double> sums, const RunSettings& run) {
    Score score = metric.score(sums);
    score.signature = signature(metric, run);
    return score;
  }

  // A line a segment: several metrics with a tab between.
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
    write(line + "\n");
  }

  void run_from_statistics() {
    // Without -i the files named are parts of one system.
    const bool one_system =
        options_.files.systems.size() == 1 && options_.files.systems.front() == "-";
    std::vector<std::vector<std::string>> parts;
    std::vector<std::string> names;
    if (one_system) {
      if (options_.files.references.empty()) throw UsageError("no file of statistics is given");
      parts = {options_.files.references};
      names = {options_.files.references.front()};
    } else {
      if (!options_.files.references.empty()) {
        throw UsageError(
            "with --from-stats and -i no further file is read: statistics hold what "
            "is needed of the references");
      }
      for (const std::string& path : options_.files.systems) parts.push_back({path});
      names = options_.files.systems;
    }
    Json settings;
    std::string first;
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const std::string& path : parts[i]) {
        StatisticsReader reader(path);
        if (first.empty()) {
          first = reader.name();
          settings = reader.settings();
          metrics_ = metrics_from_json(settings, first);
          start_systems(names);
        }
        check_same_settings(settings, first, reader.settings(), reader.name());
        read_statistics(reader, systems_[i]);
      }
    }
    check_segments();
    report();
  }

  void read_statistics(StatisticsReader& reader, System& system) {
    size_t columns = 0, references = 0;
    for (const auto& metric : metrics_) columns += metric->size();
    for (std::vector<double> row; reader.next(columns, references, row);) {
      system.references.note(references);
      ++system.segments;
      size_t begin = 0;
      for (size_t m = 0; m < metrics_.size(); ++m) {
        add_row(system, m, std::span(row).subspan(begin, metrics_[m]->size()));
        begin += metrics_[m]->size();
      }
    }
  }

  void check_segments() const {
    for (const System& system : systems_) {
      if (system.segments == 0) throw DataError("nothing to score: " + system.name + " is empty");
      if (system.segments != systems_.front().segments) {
        throw DataError(systems_.front().name + " has " +
                        std::to_string(systems_.front().segments) + " segments, " + system.name +
                        " has " + std::to_string(system.segments) +
                        "; give statistics of the same segments");
      }
    }
  }

  RunSettings run_settings(const System& system) const {
    RunSettings run;
    run.references = system.references.text();
    if (options_.confidence || options_.paired_bootstrap) run.resamples = options_.resamples;
    if (options_.paired_approximate) run.trials = options_.trials;
    if (resamples()) run.seed = options_.seed;
    return run;
  }

  void report() {
    std::vector<TableRow> table;
    for (const System& system : systems_) {
      TableRow& row = table.emplace_back();
      row.system = system.name;
      for (size_t m = 0; m < metrics_.size(); ++m) {
        row.scores.push_back(score(*metrics_[m], system.sums[m], run_settings(system)));
        row.p_values.emplace_back();
      }
    }
    for (size_t m = 0; m < metrics_.size(); ++m) test(m, table);
    print(table);
  }

  // Fills in what resampling says of metric m.
  void test(size_t m, std::vector<TableRow>& table) {
    const Metric& metric = *metrics_[m];
    std::vector<SystemRows> rows;
    for (System& system : systems_) rows.push_back(std::move(system.rows[m]));
    const auto difference = [&](size_t i) {
      return std::abs(table[0].scores[m].value - table[i].scores[m].value);
    };
    if (options_.paired_approximate) {
      for (size_t i = 1; i < rows.size(); ++i) {
        table[i].p_values[m] =
            paired_randomization(rows[0], rows[i], difference(i), {options_.trials, options_.seed});
      }
    }
    if (!options_.confidence && !options_.paired_bootstrap) return;
    const auto scores = bootstrap(rows, {options_.resamples, options_.seed});
    for (size_t i = 0; i < rows.size(); ++i) {
      Score& score = table[i].scores[m];
      if (options_.confidence) {
        score.confidence = confidence(metric, scores[i]);
      } else if (i == 0) {
        score.confidence = numpy_confidence(metric, scores[i]);
      } else {
        const Significance found = paired_bootstrap(metric, scores[0], scores[i], difference(i));
        score.confidence = found.confidence;
        table[i].p_values[m] = found.p_value;
      }
    }
  }

  void print(const std::vector<TableRow>& table) {
    if (table.size() == 1) return print_scores(table[0].scores);
    if (options_.json) return write(to_text(table_json(table, options_.width), 1) + "\n");
    if (!options_.score_only) return write(table_text(table, options_.width));
    for (const TableRow& row : table) {
      std::string line;
      for (const Score& score : row.scores) {
        line += (line.empty() ? "" : "\t") + score_text(score, options_.width);
      }
      write(line + "\n");
    }
  }

  void print_scores(const std::vector<Score>& scores) {
    if (options_.score_only) {
      for (const Score& score : scores) write(score_text(score, options_.width) + "\n");
    } else if (options_.json) {
      Json list = Json::array();
      for (const Score& score : scores) list.push_back(score_json(score, options_.width));
      write(to_text(scores.size() == 1 ? list[0] : list, 1) + "\n");
    } else {
      write(score_lines(scores, options_.width));
    }
  }

  const ScoringOptions& options_;
  const Log& log_;
  Writer& out_;
  Metrics metrics_;
  std::vector<System> systems_;
  Statistics row_;
};

}  // namespace

void run_scoring(ScoringOptions options, const Log& log, Writer& out) {
  check(options);
  // Short segments would have no 4-gram, so sacreBLEU takes the orders that there are.
  if (options.sentence) options.metrics.bleu.effective_order = true;
  Scoring(options, log, out).run();
}

}  // namespace tx
