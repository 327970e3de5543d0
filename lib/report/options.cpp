#include "lib/report/options.h"

namespace tx {

void ReportOptions::describe(Options& options) {
  options.group("Diagnostics and reports");
  options
      .flag("--report", report, "write an HTML page about runs to -o", "See PROGRESS AND REPORTS.")
      .runtime()
      .is_mode("the page is about runs that there are");
  options.positional("RUN", runs, "run directories for --report")
      .runtime()
      .input()
      .goes_with({"--report"})
      .needs({"--report"});
  options
      .add("--html", html, "FILE", "write --describe as an HTML page", "See PROGRESS AND REPORTS.")
      .runtime()
      .output()
      .goes_with({"--resume"})
      .needs({"--describe"});
}

}  // namespace tx
