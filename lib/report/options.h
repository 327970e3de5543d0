// What a user chooses about pages of trainings.
#pragma once
#include <string>
#include <vector>

#include "lib/cli/options.h"

namespace tx {

struct ReportOptions {
  bool report = false;
  std::vector<std::string> runs;
  std::string html;  // of --describe
  void describe(Options& options);
};

}  // namespace tx
