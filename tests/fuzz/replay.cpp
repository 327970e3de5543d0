// A fuzz target as a test: its seeds must be accepted; thousands of changed seeds must do no harm.
// Arguments are files to run instead, such as those that libFuzzer leaves for a crash.
#include <cstdio>
#include <exception>

#include "lib/base/io.h"
#include "lib/base/philox.h"
#include "tests/fuzz/target.h"

namespace {

constexpr int changed_inputs = 3000;

// One to four changes: a byte, a bit, a cut, a range repeated or taken from another seed.
std::string changed(std::string bytes, const std::vector<std::string>& seeds,
                    tx::PhiloxStream& random) {
  for (uint32_t changes = 1 + random.next() % 4; changes > 0; --changes) {
    const size_t at = bytes.empty() ? 0 : random.next() % bytes.size();
    const size_t length = bytes.empty() ? 0 : random.next() % std::min<size_t>(64, bytes.size());
    switch (bytes.empty() ? 4 : random.next() % 6) {
      case 0:
        bytes[at] = char(random.next());
        break;
      case 1:
        bytes[at] = char(bytes[at] ^ 1 << random.next() % 8);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(bytes.size() - length));
        break;
      case 4: {
        const std::string& other = seeds[random.next() % seeds.size()];
        bytes.insert(at, other.substr(other.size() / 2, 1 + length));
        break;
      }
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

void run_all() {
  const std::vector<std::string> seeds = tx_fuzz::seeds();
  for (const std::string& seed : seeds) tx_fuzz::run(seed);
  tx::PhiloxStream random(1, 0);
  for (int i = 0; i < changed_inputs; ++i) {
    const std::string bytes = changed(seeds[size_t(i) % seeds.size()], seeds, random);
    try {
      tx_fuzz::run_guarded(bytes);
    } catch (const std::exception&) {
      tx::write_atomically("fuzz-finding", bytes);
      std::fprintf(stderr, "input %d does harm; it is saved as fuzz-finding\n", i);
      throw;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 1) run_all();
    for (int i = 1; i < argc; ++i) tx_fuzz::run_guarded(tx::read_file(argv[i]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "finding: %s\n", e.what());
    return 1;
  }
  return 0;
}
