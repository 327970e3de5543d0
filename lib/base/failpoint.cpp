#include "lib/base/failpoint.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tx {

namespace {

struct Failpoint {
  std::string place;
  std::atomic<long> left = 1;  // kills when this reaches 0

  Failpoint() {
    const char* text = std::getenv("TX_FAILPOINT");
    if (text == nullptr) return;
    const char* colon = std::strchr(text, ':');
    place = colon ? std::string(text, colon) : text;
    if (colon) left = std::atol(colon + 1);
  }
};

}  // namespace

void failpoint(const char* place) {
  static Failpoint chosen;
  if (chosen.place.empty() || chosen.place != place) return;
  if (--chosen.left == 0) std::raise(SIGKILL);
}

}  // namespace tx
