#include "lib/report/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/model/parameters.h"
#include "lib/model/positions.h"
#include "lib/page/page.h"
#include "lib/train/plan/schedule.h"

namespace tx {

namespace {

// An entry of the page has the mean of these keys over its log lines, the last value of `lasts`.
const std::vector<const char*> means = {"loss", "perplexity", "gradient_norm", "tokens_per_second"};
// Also means; only with --guided-alignment and --consistency.
constexpr std::array terms = {"guided_loss", "consistency_loss"};
constexpr const char* layers = "gradient_norms";  // norms by layer, an object; with --log-gradients
constexpr std::array lasts = {"step", "epoch", "learning_rate", "tokens", "skipped", "seconds"};

Json number_of(const Json& line, const std::string& key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? *found : Json();
}

Json mean_of(const std::vector<Json>& lines, const std::string& key) {
  double sum = 0;
  int64_t count = 0;
  for (const Json& line : lines) {
    const Json x = number_of(line, key);
    if (x.is_null()) continue;
    sum += x.get<double>();
    ++count;
  }
  return count == 0 ? Json() : Json(sum / double(count));
}

// The gradient norms by layer of those lines that have them.
std::vector<Json> layers_of(const std::vector<Json>& lines) {
  std::vector<Json> norms;
  for (const Json& line : lines)
    if (const auto found = line.find(layers); found != line.end() && found->is_object())
      norms.push_back(*found);
  return norms;
}

// Converts the lines of steps to columns.
void take_steps(const std::vector<Json>& lines, RunLog& run) {
  run.together = std::max<int64_t>(1, (int64_t(lines.size()) - 1) / max_log_entries + 1);
  std::vector<std::string> averaged(means.begin(), means.end());
  for (const char* term : terms)
    if (!lines.empty() && lines.back().contains(term)) averaged.push_back(term);
  for (const char* key : lasts) run.steps[key] = Json::array();
  for (const std::string& key : averaged) run.steps[key] = Json::array();
  for (const Json& norms : layers_of(lines))
    for (const auto& [layer, norm] : norms.items()) run.steps[layers][layer] = Json::array();
  std::vector<Json> group;
  for (size_t i = 0; i < lines.size(); ++i) {
    group.push_back(lines[i]);
    if (int64_t(group.size()) < run.together && i + 1 < lines.size()) continue;
    for (const char* key : lasts) run.steps[key].push_back(number_of(group.back(), key));
    for (const std::string& key : averaged) run.steps[key].push_back(mean_of(group, key));
    if (run.steps.contains(layers))
      for (auto& [layer, column] : run.steps[layers].items())
        column.push_back(mean_of(layers_of(group), layer));
    group.clear();
  }
}

void take_line(Json line, const std::string& where, std::vector<Json>& steps, RunLog& run) {
  if (!line.is_object() || number_of(line, "step").is_null())
    throw DataError(where + ": not a line of a run's log: \"step\" is missing or not a number");
  if (line.contains("incident")) {
    if (number_of(line, "at_step").is_null()) throw DataError(where + ": at_step is missing");
    run.incidents.push_back(std::move(line));
  } else if (line.contains("checkpoint")) {
    run.checkpoints.push_back(std::move(line));
  } else if (line.contains("validation_loss") || line.contains("validation_score")) {
    run.validations.push_back(std::move(line));
  } else if (line.contains("loss")) {
    steps.push_back(std::move(line));
  }
}

// All options of the runs, in the order of their first appearance.
std::vector<std::string> option_names(const std::vector<RunLog>& runs) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunLog& run : runs)
    for (const auto& [name, value] : run.options.items())
      if (seen.insert(name).second) names.push_back(name);
  return names;
}

std::string notice_of(const RunLog& run) {
  if (run.steps.at("step").empty()) return run.name + ": no step has been logged yet.";
  if (run.together == 1) return "";
  return run.name + ": each point is the mean of " + std::to_string(run.together) +
         " lines of the log.";
}

// The learning rate up to the last step of the log; empty if the log's schedule is another.
Json rates_of(const RunLog& run) {
  const Json &steps = run.steps, &o = run.options;
  const auto has = [&](const char* key, auto is) { return o.contains(key) && (o[key].*is)(); };
  if (!has("schedule", &Json::is_string)) return Json::array();
  const auto schedule = find_value<Schedule>(o["schedule"].get<std::string>());
  if (!schedule) return Json::array();
  for (const char* key : {"lr", "lr-factor"})
    if (!has(key, &Json::is_number)) return Json::array();
  for (const char* key : {"warmup", "steps", "d-model"})
    if (!has(key, &Json::is_number_integer)) return Json::array();
  TrainOptions options;
  options.schedule = *schedule;
  options.warmup = o["warmup"].get<int64_t>();
  options.lr = o["lr"].get<double>();
  options.lr_factor = o["lr-factor"].get<double>();
  options.steps = o["steps"].get<int64_t>();
  const auto d_model = o["d-model"].get<int64_t>();
  int64_t last = 0;
  for (size_t i = 0; i < steps.at("step").size(); ++i) {
    if (!steps["step"][i].is_number_integer() || !steps["learning_rate"][i].is_number()) continue;
    last = steps["step"][i].get<int64_t>();
    const auto logged = steps["learning_rate"][i].get<double>();
    if (last < 1 || d_model < 1 ||
        std::abs(learning_rate(options, d_model, last) - logged) > 1e-6 * std::abs(logged))
      return Json::array();
  }
  return last == 0 ? Json::array() : learning_rates(options, d_model, last);
}

std::string page_of(const std::vector<RunLog>& runs) {
  PageSpec page;
  page.title = runs.size() == 1 ? "Training run " : "Training runs ";
  for (const RunLog& run : runs) page.title += (&run == &runs[0] ? "" : ", ") + run.name;
  for (const RunLog& run : runs)
    if (const std::string notice = notice_of(run); !notice.empty()) page.notices.push_back(notice);
  page.footer = made_by("tx-train") + " --report";
  page.styles = {"lib/page/parts/chart.css", "lib/report/page/report.css"};
  page.scripts = {"lib/page/parts/chart.js", "lib/report/page/runs.js",
                  "lib/report/page/report.js"};
  return html_page(page, to_text(report_data(runs)));
}

}  // namespace

void ReportOptions::describe(Options& options) {
  options.group("Diagnostics and reports");
  options
      .flag("--report", report, "write an HTML page about runs to -o", "See PROGRESS AND REPORTS.")
      .runtime()
      .is_mode("it reads existing runs and does not train");
  options.positional("RUN", runs, "run directories for --report")
      .runtime()
      .input()
      .goes_with({"--report"})
      .needs({"--report"});
  options.add("--html", html, "FILE", "write --describe as an HTML page", "See DESCRIBING A MODEL.")
      .runtime()
      .output()
      .goes_with({"--resume"})
      .needs({"--describe"});
  options
      .add("--tsv", tsv, "schedule|positions|similarity|rotation",
           "print the learning rates or positional encoding as a table", "See DESCRIBING A MODEL.")
      .runtime()
      .one_of(names_of<DescribeTable>())
      .goes_with({"--resume"})
      .needs({"--describe"})
      .excludes({"--html"});
}

RunLog read_run_log(const std::string& directory) {
  RunLog run;
  run.name = directory;
  const std::string config_name = directory + "/config.json", log_name = directory + "/log.jsonl";
  const Json config = parse_json(read_regular_file(config_name, 1 << 24), config_name);
  if (!config.is_object() || !config.contains("options") || !config["options"].is_object())
    throw DataError(config_name + " has no options; is this a run directory?");
  run.options = config["options"];
  const auto command = config.find("command");
  if (command != config.end() && command->is_string()) run.command = command->get<std::string>();
  const std::string text = read_regular_file(log_name, int64_t(1) << 34);
  std::vector<Json> steps;
  int64_t number = 0;
  for (size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string where = log_name + ":" + std::to_string(++number);
    take_line(parse_json(std::string_view(text).substr(at, end - at), where), where, steps, run);
  }
  take_steps(steps, run);
  return run;
}

Json report_data(const std::vector<RunLog>& runs) {
  Json out = {{"runs", Json::array()}, {"differing", Json::array()}, {"common", Json::object()}};
  for (const RunLog& run : runs)
    out["runs"].push_back({{"name", run.name},
                           {"command", run.command},
                           {"steps", run.steps},
                           {"rates", rates_of(run)},
                           {"validations", run.validations},
                           {"checkpoints", run.checkpoints},
                           {"incidents", run.incidents}});
  for (const std::string& name : option_names(runs)) {
    Json values = Json::array();
    bool same = true;
    for (const RunLog& run : runs) {
      values.push_back(run.options.contains(name) ? run.options[name] : Json());
      same = same && values.back() == values.front();
    }
    if (same)
      out["common"][name] = values.front();
    else
      out["differing"].push_back({{"option", name}, {"values", std::move(values)}});
  }
  return out;
}

void write_report(const std::vector<std::string>& runs, const std::string& out) {
  if (runs.empty()) throw UsageError("--report: give at least one run directory");
  if (out.empty()) throw UsageError("--report: give the page to write: -o page.html");
  std::vector<RunLog> logs;
  for (const std::string& run : runs) logs.push_back(read_run_log(run));
  write_atomically(out, page_of(logs));
}

namespace {

constexpr int64_t drawn_rates = 400;
constexpr int64_t usual_steps = 100000;  // for runs without --steps

int64_t described_steps(const TrainOptions& options) {
  return options.steps > 0 ? options.steps : usual_steps;
}

Json memory_of(const DescribedRun& run, bool recompute) {
  Json parts = Json::array();
  for (const auto& [name, bytes] : memory_parts(run.memory))
    parts.push_back({{"name", name}, {"bytes", bytes}});
  return {{"parts", std::move(parts)},
          {"total", run.memory.total()},
          {"recompute", recompute},
          {"other_activations", run.memory.other}};
}

Json step_of(const DescribedRun& run, int64_t accumulate) {
  Json tokens = Json::array();
  for (size_t side = 0; side < run.capacities.size(); ++side)
    tokens.push_back({{"side", run.model.side_name(side)}, {"tokens", run.capacities[side]}});
  const std::vector<double> capacities(run.capacities.begin(), run.capacities.end());
  return {{"accumulate", accumulate},
          {"tokens", std::move(tokens)},
          {"flops", step_flops(run.model, capacities) * double(accumulate)}};
}

}  // namespace

Json learning_rates(const TrainOptions& options, int64_t d_model, int64_t steps) {
  std::set<int64_t> drawn{std::clamp<int64_t>(options.warmup, 1, steps)};
  for (int64_t i = 0; i <= drawn_rates; ++i)
    drawn.insert(
        std::max<int64_t>(1, std::llround(double(steps) * double(i) / double(drawn_rates))));
  Json out = Json::array();
  for (const int64_t step : drawn) out.push_back({step, learning_rate(options, d_model, step)});
  return out;
}

Json describe_data(const DescribedRun& run) {
  const TrainOptions& options = run.options;
  const ModelConfig& config = run.model;
  const int64_t drawn = described_steps(options);
  Json parameters = Json::array();
  for (const ParameterEntry& e : parameter_table(config))
    parameters.push_back({{"name", e.name}, {"rows", e.rows}, {"columns", e.cols}});
  return {{"model", config.to_json()},
          {"schedule",
           {{"kind", options.schedule.name},
            {"d_model", config.d_model},
            {"warmup", options.warmup},
            {"lr", options.lr},
            {"factor", options.lr_factor},
            {"steps", drawn},
            {"rates", learning_rates(options, config.d_model, drawn)}}},
          {"memory", memory_of(run, options.recompute)},
          {"step", step_of(run, options.accumulate)},
          {"parameters", std::move(parameters)},
          {"total", parameter_count(config)}};
}

void write_description(const DescribedRun& run, const std::string& out) {
  PageSpec page;
  page.title = "The model and its schedule";
  page.footer = made_by("tx-train") + " --describe";
  page.styles = {"lib/page/parts/chart.css", "lib/report/page/describe.css"};
  page.scripts = {"lib/page/parts/chart.js"};
  for (const char* name : {"schedule", "positions", "parameters", "memory", "describe"})
    page.scripts.push_back(std::string("lib/report/page/") + name + ".js");
  write_atomically(out, html_page(page, to_text(describe_data(run))));
}

namespace {

using Rows = std::vector<std::vector<double>>;

std::string cell(double x) { return formatted("\t%.9g", x); }

void write_schedule(const TrainOptions& options, int64_t d_model, Writer& out) {
  out.write("step\tlearning_rate\n");
  for (int64_t step = 1; step <= described_steps(options); ++step)
    out.write(std::to_string(step) + cell(learning_rate(options, d_model, step)) + "\n");
}

// A row for each position, with a number for each of `columns`.
void write_by_position(const Rows& rows, size_t columns,
                       const std::function<double(size_t row, size_t column)>& number,
                       Writer& out) {
  out.write("position");
  for (size_t j = 0; j < columns; ++j) out.write("\t" + std::to_string(j));
  for (size_t i = 0; i < rows.size(); ++i) {
    out.write("\n" + std::to_string(i));
    for (size_t j = 0; j < columns; ++j) out.write(cell(number(i, j)));
  }
  out.write("\n");
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

// The largest difference between the row at pos + k and the row at pos rotated by k / divisor.
double rotation_difference(const Rows& rows, const SinusoidPair& pair) {
  double largest = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    const double angle = double(k) / pair.divisor, s = std::sin(angle), c = std::cos(angle);
    for (size_t pos = 0; pos + k < rows.size(); ++pos) {
      const std::vector<double>&from = rows[pos], &to = rows[pos + k];
      const double sine = c * from[pair.sine] + s * from[pair.cosine];
      const double cosine = c * from[pair.cosine] - s * from[pair.sine];
      largest =
          std::max({largest, std::abs(sine - to[pair.sine]), std::abs(cosine - to[pair.cosine])});
    }
  }
  return largest;
}

void write_rotation(const Rows& rows, const std::vector<SinusoidPair>& pairs, Writer& out) {
  out.write("sine\tcosine\twavelength\tdifference\n");
  for (const SinusoidPair& pair : pairs)
    out.write(std::to_string(pair.sine) + "\t" + std::to_string(pair.cosine) +
              cell(2 * M_PI * pair.divisor) + cell(rotation_difference(rows, pair)) + "\n");
}

void write_positions(DescribeTable table, const ModelConfig& c, const TrainOptions& options,
                     Writer& out) {
  Rows rows;
  for (int64_t position = 0; position <= options.longest_text(); ++position)
    rows.push_back(sinusoid(position + c.position_offset, c.d_model, c.positions));
  if (table == DescribeTable::rotation)
    return write_rotation(rows, sinusoid_pairs(c.d_model, c.positions), out);
  if (table == DescribeTable::positions)
    return write_by_position(
        rows, size_t(c.d_model), [&](size_t i, size_t j) { return rows[i][j]; }, out);
  const auto cosine = [&](size_t i, size_t j) {
    return dot(rows[i], rows[j]) / std::sqrt(dot(rows[i], rows[i]) * dot(rows[j], rows[j]));
  };
  write_by_position(rows, rows.size(), cosine, out);
}

}  // namespace

void write_table(DescribeTable table, const DescribedModel& described) {
  const auto& [options, c] = described;
  if (table != DescribeTable::schedule && !c.sinusoids())
    throw UsageError(std::string("--tsv ") + name_of_value(table) +
                     " is for sinusoids, but the model has --positions " + c.positions.name +
                     ": give --positions sinusoid, halves or fairseq");
  Writer out("-");
  if (table == DescribeTable::schedule)
    write_schedule(options, c.d_model, out);
  else
    write_positions(table, c, options, out);
  out.close();
}

}  // namespace tx
