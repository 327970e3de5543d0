// Durations as people write them.
#pragma once
#include <string>

namespace tx {

// "50 seconds", "66 minutes", "30 hours", "26 days".
std::string about(double seconds);
// Hours, minutes and seconds as "1:05:10"; from two days on as about().
std::string duration(double seconds);

}  // namespace tx
