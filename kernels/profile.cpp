#include "kernels/profile.h"

#include <cstdio>
#include <utility>
#include <vector>

namespace tx {

double GroupTimes::seconds() const {
  double sum = 0;
  for (const auto& [name, group] : groups_) sum += group.seconds;
  return sum;
}

std::string GroupTimes::lines(const Rates& rates, double whole) const {
  std::vector<std::pair<std::string, Group>> all(groups_.begin(), groups_.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  std::string text;
  char line[200];
  for (const auto& [name, g] : all) {
    const double products = name.find("fp32") == std::string::npos ? rates.bf16 : rates.f32;
    const double min = min_seconds(g.calls, rates, products);
    int64_t calls = 0;
    for (const auto& [work, count] : g.calls) calls += count;
    std::snprintf(line, sizeof line, "%-24s %9lld calls %12.3f ms, floor %12.3f ms, %3.0f %%\n",
                  name.c_str(), static_cast<long long>(calls), 1e3 * g.seconds, 1e3 * min,
                  g.seconds > 0 ? 100 * min / g.seconds : 0);
    text += line;
  }
  if (whole == 0) return text;
  std::snprintf(line, sizeof line, "%-24s %15s %12.3f ms\n%-24s %15s %12.3f ms\n", "other", "",
                1e3 * std::max(0.0, whole - seconds()), "total", "", 1e3 * whole);
  return text + line;
}

}  // namespace tx
