// The YAML of Marian.
#include "lib/convert/formats/directory.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  return {"type: transformer\ndim-vocabs:\n  - 60\n  - 60\nempty:\n  []\nlr: 0.003\nquiet: false\n",
          "</s>: 0\n\"\\x01\\u00e9\\N\": 1\n'it''s': 2\n---: 3\n", "a: [1, \"b\", 'c']  # d\n"};
}

void run(std::string_view bytes) {
  const tx::Json json = tx::parse_flat_yaml(bytes, "F");
  require(json.is_object(), "no object");
  for (const auto& [key, value] : json.items()) {
    require(!key.empty() && !value.is_object(), "not flat");
    for (const tx::Json& item : value) require(item.is_primitive(), "a list of lists");
  }
  tx::parse_json(tx::to_text(json), "F");
}

}  // namespace tx_fuzz
