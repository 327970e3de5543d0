#include "tests/fuzz/samples.h"

#include <cstring>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/data/cache.h"
#include "lib/subword/subword.h"
#include "tests/support.h"

namespace tx_fuzz {

namespace {

tx::ModelConfig small_config(const std::string& tie) {
  tx::ModelConfig config;
  config.set_vocabularies(11);
  config.set_layers(1);
  config.d_model = 4;
  config.d_ff = 4;
  config.heads = 2;
  config.tie.name = tie;
  config.resolve();
  return config;
}

const tx_test::TempFolder& folder() {
  static const tx_test::TempFolder one;
  return one;
}

}  // namespace

std::shared_ptr<const tx::Vocabulary> word_list() {
  return tx::parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nw4\nw5\nw6\nw7\nw8\nw9\nw10\n",
                              "words");
}

std::string subword_bytes() {
  const tx::WordCounts counts = {{"the", 90},
                                 {"house", 20},
                                 {"houses", 9},
                                 {"Stra\xC3\x9F"
                                  "e",
                                  7},
                                 {"mouse", 8},
                                 {"there", 30},
                                 {"then", 12},
                                 {"\xE2\x96\x81", 1}};
  tx::SubwordTraining training;
  training.vocab_size = 300;
  training.character_coverage = 1;
  return tx::train_subword(counts, training);
}

std::string make_cache(const std::shared_ptr<const tx::Vocabulary>& words, bool links) {
  std::string source, target, linked;
  for (int i = 0; i < 40; ++i) {
    for (int word = 0; word <= i % 7; ++word) source += "w" + std::to_string(4 + i % 5) + " ";
    for (int word = 0; word <= i % 3; ++word) target += "w" + std::to_string(6 + i % 4) + " ";
    source += "\n";
    target += "\n";
    linked += "0-0 " + std::to_string(i % 7) + "-" + std::to_string(i % 3) + "\n";
  }
  source += "\n";  // dropped
  target += "w4\n";
  linked += "\n";
  const std::string path = folder() / "cache";
  tx::CacheOptions options;
  if (links) options.links = folder().file("l", linked);
  tx::build_cache(
      path,
      {{{folder().file("s", source)}, words.get()}, {{folder().file("t", target)}, words.get()}},
      options);
  return path;
}

std::string written(const std::function<void(const std::string& path)>& write) {
  write(folder() / "written");
  const std::string bytes = tx_test::bytes_of(folder() / "written");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string header = bytes.substr(8, length);
  const size_t at = header.find("\"xxh3\"");
  TX_ASSERT(at != header.npos);
  header[at + 1] = 'X';
  return bytes.substr(0, 8) + header + bytes.substr(8 + length);
}

std::string make_document_cache(const std::shared_ptr<const tx::Vocabulary>& words) {
  const std::string path = folder() / "documents";
  tx::CacheOptions options;
  options.context = 8;
  tx::build_cache(path, {{{folder().file("d", "w4 w5\n\nw6\n")}, words.get()}}, options);
  return path;
}

Sample::Sample(const std::string& tie)
    : backend(tx::make_backend(tx::Device::cpu, 1)),
      parameters(tx::Parameters::for_training(backend, small_config(tie), tx::DType::f32)) {
  parameters.initialise(1);
}

}  // namespace tx_fuzz
