#include "lib/eval/metrics.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/split.h"

namespace tx {

// Every lib/eval/metrics/NAME.cpp, as TX_METRIC(NAME): written by the build.
#define TX_METRIC(name) std::unique_ptr<MetricKind> name##_metric();
#include "lib/eval/metrics.inc"
#undef TX_METRIC

namespace {

using Kinds = std::vector<std::unique_ptr<MetricKind>>;
using Names = std::vector<std::string>;

// Metrics of text first, then those of alignments and trees; each group sorted by name.
Kinds all_kinds() {
  Kinds kinds;
#define TX_METRIC(name) kinds.push_back(name##_metric());
#include "lib/eval/metrics.inc"
#undef TX_METRIC
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    const auto place = [](const MetricTitle& title) {
      return std::tuple(!title.subject.empty(), title.names.front());
    };
    return place(a->title) < place(b->title);
  });
  return kinds;
}

Names names_of(const Kinds& kinds) {
  Names names;
  for (const auto& kind : kinds)
    names.insert(names.end(), kind->title.names.begin(), kind->title.names.end());
  return names;
}

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const MetricKind& find_kind(const Kinds& kinds, const std::string& name) {
  for (const auto& kind : kinds)
    if (holds(kind->title.names, name)) return *kind;
  Names known = names_of(kinds);
  std::sort(known.begin(), known.end());
  throw UsageError("unknown metric \"" + name + "\"; give a comma-separated list of " +
                   joined(known, ", "));
}

double number(const Json& value, const char* key, const Option& option) {
  const double min = option.low.value_or(0), max = option.high.value_or(1e15);
  if (!value.is_number() || value < min || value > max)
    throw DataError(std::string(key) + " is " + to_text(value) + ", not a number from " +
                    grouped(min) + " to " + grouped(max));
  return value;
}

}  // namespace

std::string own_version() { return "tx-" TX_VERSION; }

std::string fixed(double value, int digits) {
  const int size = std::snprintf(nullptr, 0, "%.*f", digits, value);
  std::string text(size_t(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.pop_back();
  return text;
}

Score Metric::score(std::span<const double> sums) const {
  Score score;
  score.name = name();
  score.value = value(sums);
  explain(sums, score);
  return score;
}

void write_stored(Options& options, const std::vector<StoredKey>& keys, Json& json) {
  for (const auto& [key, name] : keys) {
    std::visit(
        [&, key = key](auto* field) {
          if constexpr (requires { field->has_value(); }) {
            if (*field) json[key] = **field;
          } else {
            json[key] = *field;
          }
        },
        options.at(name).field);
  }
}

void read_stored(Options& options, const std::vector<StoredKey>& keys, const Json& json) {
  for (const auto& [key, name] : keys) {
    const Option& option = options.at(name);
    std::visit(
        [&, key = key]<class T>(T* field) {
          if constexpr (std::is_same_v<T, int>) {
            *field = int(whole_number(json, key, int64_t(option.low.value_or(0)),
                                      int64_t(option.high.value_or(INT32_MAX))));
          } else if constexpr (std::is_same_v<T, std::optional<double>>) {
            if (json.contains(key)) *field = number(json.at(key), key, option);
          } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
            *field = json_value<T>(json, key, "the options of its metric");
          } else {
            throw Bug("options of this type are not stored", __FILE__, __LINE__);
          }
        },
        option.field);
  }
}

MetricOptions::MetricOptions() : kinds_(all_kinds()) {}

void MetricOptions::describe(Options& options) {
  Names notes;
  for (const auto& kind : kinds_)
    if (!kind->title.note.empty()) notes.push_back(kind->title.note);
  const Names known = names_of(kinds_);
  options.group("Metric");
  options
      .add("--metric", names, "NAME[,NAME]...", "one or more of " + joined(known, ", "),
           joined(notes, "; ") + ".")
      .list_of(known)
      .alias("--metrics")
      .excludes({"--from-stats"});
  for (const auto& kind : kinds_) {
    std::vector<Condition> conditions;
    for (const std::string& name : kind->title.names) conditions.emplace_back("--metric", name);
    options.group(kind->title.heading).needs(conditions).excludes({"--from-stats"});
    kind->describe(options);
  }
}

Metrics MetricOptions::make() const {
  Names wanted = split_at(names, ',');
  std::sort(wanted.begin(), wanted.end());
  Metrics metrics;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const MetricKind& kind = find_kind(kinds_, wanted[i]);
    if (i > 0 && wanted[i] == wanted[i - 1])
      throw UsageError("the metric " + wanted[i] + " is given twice");
    metrics.push_back(kind.make(wanted[i]));
  }
  return metrics;
}

std::unique_ptr<Metric> make_metric(const std::string& name) {
  const Kinds kinds = all_kinds();
  return find_kind(kinds, name).make(name);
}

std::string metrics_summary() {
  Names of_text, others;
  for (const auto& kind : all_kinds()) {
    const MetricTitle& title = kind->title;
    if (title.subject.empty())
      of_text.push_back(title.heading);
    else
      others.push_back(title.heading + " of " + title.subject);
  }
  return joined(of_text, ", ") + " as in sacreBLEU; " + joined(others, ", ");
}

std::vector<std::string> metric_names() { return names_of(all_kinds()); }

bool names_metrics(const std::string& text) {
  const Names names = split_at(text, ','), known = metric_names();
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return holds(known, name); });
}

MakeForm form_of(const Metrics& metrics) {
  for (const auto& metric : metrics) {
    if (!metric->form()) continue;
    if (metrics.size() == 1) return [&metric] { return metric->form(); };
    throw UsageError(metric->name() + " reads files of another format than other metrics: run it " +
                     "separately");
  }
  return {};
}

Json metrics_to_json(const Metrics& metrics) {
  Json json = Json::array();
  for (const auto& metric : metrics) json.push_back(metric->describe());
  return json;
}

Metrics metrics_from_json(const Json& json, const std::string& where) {
  const Kinds kinds = all_kinds();
  Metrics metrics;
  try {
    for (const Json& one : json) {
      const auto name = json_value<std::string>(one, "metric", "a metric");
      metrics.push_back(find_kind(kinds, name).restore(one));
      if (json_value<Names>(one, "columns", name) != metrics.back()->columns())
        throw DataError("its columns are not those of its metric");
    }
  } catch (const Error& error) {
    throw DataError(where + ": the header of the statistics is damaged: " + error.what());
  }
  if (metrics.empty()) throw DataError(where + ": the header of the statistics names no metric");
  return metrics;
}

}  // namespace tx
