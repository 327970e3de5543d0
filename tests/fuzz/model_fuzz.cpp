// A model file: configuration, weights, vocabulary, provenance; what is accepted loads and encodes.
#include "lib/checkpoint/model_file.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

// Without a checksum, so that changed files are parsed at all.
std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const char* tie : {"all", "none"}) {
    const Sample sample(tie);
    const tx::Json provenance{{"command", "tx-train -o RUN"}, {"step", 10}};
    out.push_back(written([&](const std::string& path) {
      tx::save_model(path, sample.parameters, {sample.words, 2}, provenance, tx::DType::bf16);
    }));
  }
  return out;
}

void run(std::string_view bytes) {
  static MemoryFile file;
  const tx::ModelReader reader(file.fill(bytes));
  std::vector<int> ids;
  reader.vocabularies().source().encode("a b <s> \xE2\x96\x81 c", ids);
  reader.vocabularies().target().decode(ids);
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Parameters parameters =
      tx::Parameters::only_weights(backend, reader.config(), tx::DType::f32);
  reader.load(parameters);
}

}  // namespace tx_fuzz
