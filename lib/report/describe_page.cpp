#include "lib/report/describe_page.h"

#include <algorithm>
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
#include "lib/train/options/schedule.h"

namespace tx {

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

Json describe_data(const DescribedRun& run, const TrainOptions& options) {
  const ModelConfig& config = run.model;
  const int64_t drawn = described_steps(options);
  Json parameters = Json::array();
  for (const ParameterEntry& e : parameter_table(config))
    parameters.push_back({{"name", e.name}, {"rows", e.rows}, {"columns", e.cols}});
  return {{"model", config.to_json()},
          {"schedule",
           {{"kind", options.schedule},
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

void write_description(const DescribedRun& run, const TrainOptions& options,
                       const std::string& out) {
  PageSpec page;
  page.title = "The model and its schedule";
  page.footer = made_by("tx-train") + " --describe";
  page.styles = {"lib/page/parts/chart.css", "lib/report/page/describe.css"};
  page.scripts = {"lib/page/parts/chart.js"};
  for (const char* name : {"schedule", "positions", "parameters", "memory", "describe"})
    page.scripts.push_back(std::string("lib/report/page/") + name + ".js");
  write_page(out, html_page(page, to_text(describe_data(run, options))));
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

// The largest difference, in the two features of a pair, between the row at pos + k and the row at
// pos rotated by the angle k / divisor.
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

void write_table(DescribeTable table, const ModelConfig& c, const TrainOptions& options) {
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
