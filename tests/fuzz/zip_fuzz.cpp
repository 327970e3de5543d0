// A zip archive, as written by torch.save and numpy.savez.
#include "lib/convert/formats/zip.h"
#include "tests/fuzz/target.h"
#include "tests/unit/convert/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  return {tx_test::zip_bytes({}), tx_test::zip_bytes({{"a", "plain"}, {"b", ""}}, 3),
          tx_test::zip_bytes({{"a", std::string(10, 'a'), std::string("\x4B\x84\x03\x00", 4)}})};
}

void run(std::string_view bytes) {
  const tx::ZipArchive zip(bytes, "F");
  for (const auto& e : zip.entries()) {
    require(zip.find(e.name) == &e, "an entry is found by its name");
    std::string unpacked;
    require(zip.content(e, unpacked).size() == e.size, "an entry has its size");
  }
}

}  // namespace tx_fuzz
