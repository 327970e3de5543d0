#include "lib/report/report.h"

#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/page/page.h"

namespace tx {

namespace {

// Every option that a run has, in the order of the first that has it.
std::vector<std::string> option_names(const std::vector<RunLog>& runs) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunLog& run : runs)
    for (const auto& [name, value] : run.options.items())
      if (seen.insert(name).second) names.push_back(name);
  return names;
}

std::string notice_of(const RunLog& run) {
  if (run.steps.at("step").empty()) return run.name + ": the log has no line of a step yet.";
  if (run.together == 1) return "";
  return run.name + ": each point stands for " + std::to_string(run.together) +
         " lines of the log, as their mean.";
}

std::string page_of(const std::vector<RunLog>& runs) {
  PageSpec page;
  page.title = runs.size() == 1 ? "A training run" : "Training runs";
  for (const RunLog& run : runs)
    if (const std::string notice = notice_of(run); !notice.empty()) page.notices.push_back(notice);
  page.footer = made_by("tx-train") + " --report";
  page.styles = {"lib/page/parts/chart.css", "lib/report/page/report.css"};
  page.scripts = {"lib/page/parts/chart.js", "lib/report/page/runs.js",
                  "lib/report/page/report.js"};
  return html_page(page, to_text(report_data(runs)));
}

}  // namespace

Json report_data(const std::vector<RunLog>& runs) {
  Json out = {{"runs", Json::array()}, {"differing", Json::array()}, {"common", Json::object()}};
  for (const RunLog& run : runs)
    out["runs"].push_back({{"name", run.name},
                           {"command", run.command},
                           {"steps", run.steps},
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
  if (runs.empty()) throw UsageError("--report: name at least one run directory");
  if (out.empty()) throw UsageError("--report: name the page: -o page.html");
  std::vector<RunLog> logs;
  for (const std::string& run : runs) logs.push_back(read_run_log(run));
  write_page(out, page_of(logs));
}

}  // namespace tx
