// tx-train --report: a page about one or several runs.
#pragma once
#include <string>
#include <vector>

#include "lib/report/run_log.h"

namespace tx {

// The page's data: the runs, the options that differ between them, and those that they share.
Json report_data(const std::vector<RunLog>& runs);

// Reads the runs and writes the page to `out`, "-" being standard output. UsageError without runs
// or without `out`.
void write_report(const std::vector<std::string>& runs, const std::string& out);

}  // namespace tx
