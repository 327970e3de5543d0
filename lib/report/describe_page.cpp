#include "lib/report/describe_page.h"

#include <algorithm>
#include <cmath>

#include "lib/model/parameters.h"
#include "lib/page/page.h"
#include "lib/train/options/schedule.h"

namespace tx {

namespace {

constexpr int64_t drawn_rates = 400;
constexpr int64_t usual_steps = 100000;  // for runs without --steps

// Learning rates at up to drawn_rates + 1 steps, with the first and the last.
Json rates_of(const TrainOptions& options, int64_t d_model, int64_t steps) {
  Json out = Json::array();
  int64_t before = 0;
  for (int64_t i = 0; i <= drawn_rates; ++i) {
    const auto step =
        std::max<int64_t>(1, std::llround(double(steps) * double(i) / double(drawn_rates)));
    if (step == before) continue;
    before = step;
    out.push_back({step, learning_rate(options, d_model, step)});
  }
  return out;
}

}  // namespace

Json describe_data(const ModelConfig& config, const TrainOptions& options) {
  const int64_t drawn = options.steps > 0 ? options.steps : usual_steps;
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
            {"rates", rates_of(options, config.d_model, drawn)}}},
          {"parameters", std::move(parameters)},
          {"total", parameter_count(config)}};
}

void write_description(const ModelConfig& config, const TrainOptions& options,
                       const std::string& out) {
  PageSpec page;
  page.title = "The model and its schedule";
  page.footer = made_by("tx-train") + " --describe";
  page.styles = {"lib/page/parts/chart.css", "lib/report/page/describe.css"};
  page.scripts = {"lib/page/parts/chart.js"};
  for (const char* name : {"schedule", "positions", "parameters", "describe"})
    page.scripts.push_back(std::string("lib/report/page/") + name + ".js");
  write_page(out, html_page(page, to_text(describe_data(config, options))));
}

}  // namespace tx
