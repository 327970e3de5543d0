#include "lib/eval/metrics/metrics.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/whole_number.h"

namespace tx {
namespace {

constexpr const char* known_names[] = {"bleu", "chrf", "chrf++", "f1", "ter"};  // as printed

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back().push_back(c);
    }
  }
  return names;
}

ChrfOptions plus_plus(ChrfOptions options) {
  options.word_order = 2;
  return options;
}

std::unique_ptr<Metric> make(const std::string& name, const MetricOptions& options) {
  if (name == "bleu") return std::make_unique<Bleu>(options.bleu);
  if (name == "chrf") return std::make_unique<Chrf>(options.chrf);
  if (name == "chrf++") return std::make_unique<Chrf>(plus_plus(options.chrf));
  if (name == "ter") return std::make_unique<Ter>(options.ter);
  return std::make_unique<BracketF1>(options.f1);
}

bool is_metric(const std::string& name) {
  return std::find(std::begin(known_names), std::end(known_names), name) != std::end(known_names);
}

// In other tools of the field -m is the metric.
void check_model(const std::string& model) {
  const std::vector<std::string> names = split_names(model);
  if (std::all_of(names.begin(), names.end(), is_metric) && !file_exists(model)) {
    throw UsageError("-m " + model + ": there is no model of that name; did you mean --metric " +
                     model + "?");
  }
}

std::vector<std::string> checked_names(const std::string& text) {
  const std::vector<std::string> wanted = split_names(text);
  std::vector<std::string> names;
  for (const char* known : known_names) {
    const auto count = std::count(wanted.begin(), wanted.end(), known);
    if (count > 1) throw UsageError(std::string("the metric ") + known + " is given twice");
    if (count == 1) names.push_back(known);
  }
  for (const std::string& name : wanted) {
    if (!is_metric(name)) {
      throw UsageError("no metric is called \"" + name +
                       "\"; choose one or more of bleu, chrf, chrf++, f1, ter, with commas "
                       "between");
    }
  }
  return names;
}

Json describe(const std::string& name, const MetricOptions& options, const Metric& metric) {
  Json json;
  json["metric"] = name;
  json["settings"] = metric.settings();
  json["columns"] = metric.columns();
  if (name == "bleu") {
    // The tokenizer as the signature has it.
    const std::string settings = metric.settings() + "|";
    const size_t begin = settings.find("|tok:") + 5;
    json["tokenizer"] = settings.substr(begin, settings.find('|', begin) - begin);
    json["lowercase"] = options.bleu.lowercase;
    json["smoothing"] = options.bleu.smoothing;
    if (options.bleu.smoothing_value) json["smoothing_value"] = *options.bleu.smoothing_value;
    json["max_order"] = options.bleu.max_order;
    json["effective_order"] = options.bleu.effective_order;
  } else if (name == "ter") {
    json["case_sensitive"] = options.ter.case_sensitive;
    json["normalize"] = options.ter.normalize;
    json["no_punctuation"] = options.ter.no_punctuation;
    json["asian"] = options.ter.asian;
  } else if (name == "f1") {
    json["skip_malformed"] = options.f1.skip_malformed;
  } else {
    const ChrfOptions chrf = name == "chrf++" ? plus_plus(options.chrf) : options.chrf;
    json["char_order"] = chrf.char_order;
    json["word_order"] = chrf.word_order;
    json["beta"] = chrf.beta;
    json["lowercase"] = chrf.lowercase;
    json["space"] = chrf.space;
    json["eps_smoothing"] = chrf.eps_smoothing;
  }
  return json;
}

double smoothing_value(const Json& json) {
  const Json& value = json.at("smoothing_value");
  if (!value.is_number() || value < 0 || value > 1e9) {
    throw DataError("smoothing_value is " + to_text(value) + ", not a number from 0 to 1e9");
  }
  return value;
}

// Every setting within the range that tx-bleu's option for it has.
std::unique_ptr<Metric> from_json(const Json& json) {
  const std::string name = json.at("metric");
  MetricOptions options;
  if (name == "bleu") {
    options.bleu.sums_only = true;
    options.bleu.tokenizer = json.at("tokenizer");
    options.bleu.lowercase = json.at("lowercase");
    options.bleu.smoothing = json.at("smoothing");
    if (json.contains("smoothing_value")) {
      options.bleu.smoothing_value = smoothing_value(json);
    }
    options.bleu.max_order = int(whole_number(json, "max_order", 1, 100));
    options.bleu.effective_order = json.at("effective_order");
  } else if (name == "ter") {
    options.ter.case_sensitive = json.at("case_sensitive");
    options.ter.normalize = json.at("normalize");
    options.ter.no_punctuation = json.at("no_punctuation");
    options.ter.asian = json.at("asian");
  } else if (name == "f1") {
    options.f1.skip_malformed = json.at("skip_malformed");
  } else {
    checked_names(name);
    options.chrf.char_order = int(whole_number(json, "char_order", 1, 100));
    options.chrf.word_order = int(whole_number(json, "word_order", 0, 100));
    options.chrf.beta = int(whole_number(json, "beta", 0, 1000));
    options.chrf.lowercase = json.at("lowercase");
    options.chrf.space = json.at("space");
    options.chrf.eps_smoothing = json.at("eps_smoothing");
    return make("chrf", options);
  }
  return make(name, options);
}

}  // namespace

Metrics make_metrics(const MetricOptions& options) {
  Metrics metrics;
  check_model(options.bleu.model);
  const std::vector<std::string> names = checked_names(options.names);
  for (const std::string& name : names) {
    metrics.push_back(make(name, options));
  }
  return metrics;
}

Json metrics_to_json(const MetricOptions& options, const Metrics& metrics) {
  const std::vector<std::string> names = checked_names(options.names);
  Json json = Json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    json.push_back(describe(names[i], options, *metrics[i]));
  }
  return json;
}

Metrics metrics_from_json(const Json& json, const std::string& where) {
  Metrics metrics;
  try {
    for (const Json& one : json) {
      metrics.push_back(from_json(one));
      if (one.at("columns").get<std::vector<std::string>>() != metrics.back()->columns()) {
        throw DataError("its columns are not those of its metric");
      }
    }
  } catch (const std::exception& error) {
    throw DataError(where + ": the header of the statistics is damaged: " + error.what());
  }
  if (metrics.empty()) throw DataError(where + ": the header of the statistics names no metric");
  return metrics;
}

}  // namespace tx
