// Training states: the file, and the packer's position in it.
#include "lib/checkpoint/state_file.h"
#include "lib/data/packing.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

const char* const model = "0123456789abcdef";

// A corpus of a few pairs to continue with.
struct Corpus {
  std::shared_ptr<const tx::Vocabulary> words = word_list();
  tx::IdCache cache{make_cache(words)};
  tx::Packer packer{cache, options()};

  static tx::PackerOptions options() {
    tx::PackerOptions o;
    o.batch_tokens = 32;
    o.capacities = {64, 32};
    o.window = 8;
    return o;
  }
};

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  Corpus corpus;
  tx::Batch batch;
  for (int batches = 0; batches < 3; ++batches) {
    const Sample sample("all");
    const tx::Json state{
        {"step", batches}, {"best_score", nullptr}, {"packer", corpus.packer.state()}};
    out.push_back(written([&](const std::string& path) {
      tx::save_state(path, sample.parameters, sample.parameters.optimizer_state(), state, model);
    }));
    corpus.packer.next(batch);
  }
  return out;
}

void run(std::string_view bytes) {
  static MemoryFile file;
  static Sample sample("all");
  const tx::Json state = tx::load_state(file.fill(bytes), sample.parameters,
                                        sample.parameters.optimizer_state(), model);
  static Corpus corpus;
  const auto packer = state.is_object() ? state.find("packer") : state.end();
  if (packer == state.end()) return;
  tx::Packer go_on(corpus.cache, Corpus::options());
  go_on.restore(*packer);
  tx::Batch batch;
  for (int i = 0; i < 3; ++i) {
    require(go_on.next(batch), "an endless packer has a next batch");
    require(batch.sentences > 0, "a batch holds sentences");
  }
}

}  // namespace tx_fuzz
