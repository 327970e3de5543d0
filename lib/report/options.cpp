#include "lib/report/options.h"

namespace tx {

void ReportOptions::describe(Options& options) {
  options.group("Pages");
  options
      .flag("--report", report, "write a page about runs to -o: their courses side by side",
            "One HTML file that needs no network: loss, perplexity, rate, gradient norm, speed and "
            "validation over steps, tokens or minutes, spikes and checkpoints, and the options "
            "that differ. A run may still be going on.")
      .runtime()
      .is_mode("the page is about runs that there are");
  options.positional("RUN", runs, "run directories that --report is about")
      .runtime()
      .input()
      .goes_with({"--report"})
      .needs({"--report"});
  options
      .add("--html", html, "FILE", "write what --describe tells as a page",
           "One HTML file that needs no network: the learning rate for any width and warm-up, the "
           "positional encoding, the parameters by block.")
      .runtime()
      .output()
      .goes_with({"--resume"})
      .needs({"--describe"});
}

}  // namespace tx
