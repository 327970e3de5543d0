#include "lib/base/temporary.h"

#include <limits.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace tx {

namespace {

// A handler can reach nothing but static memory, and may run at any moment.
struct Slot {
  std::atomic<bool> taken = false, filled = false;
  char name[PATH_MAX];
};
Slot slots[16];
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

std::string temporary_name(const std::string& folder) {
  unsigned long long random = 0;
  while (::getrandom(&random, sizeof random, 0) != ssize_t(sizeof random)) continue;
  char digits[40];
  std::snprintf(digits, sizeof digits, "/.tx-%016llx.tmp", random);
  return folder + digits;
}

TemporaryFile::TemporaryFile(const std::string& folder) : name_(temporary_name(folder)), slot_(-1) {
  if (name_.size() >= sizeof slots[0].name) return;
  for (int i = 0; i < int(std::size(slots)) && slot_ < 0; ++i)
    if (!slots[i].taken.exchange(true)) slot_ = i;
  if (slot_ < 0) return;
  std::strcpy(slots[slot_].name, name_.c_str());
  slots[slot_].filled = true;
}

TemporaryFile::~TemporaryFile() {
  if (slot_ < 0) return;
  slots[slot_].filled = false;
  slots[slot_].taken = false;
}

void remove_temporaries() {
  for (Slot& slot : slots)
    if (slot.filled) ::unlink(slot.name);
}

}  // namespace tx
