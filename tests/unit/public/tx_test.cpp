// Sees the library as a user's program does: through lib/tx.h alone, with a model from a file.
#include "lib/tx.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "lib/checkpoint/model_file.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx_test;

namespace {

struct ModelFile {
  TempFolder folder;
  std::string path = folder / "model.safetensors";
  ModelFile() {
    RandomModel model(small_config(), tx::DType::f32, 10, 1, false);
    const auto words = word_vocabulary(71);
    tx::save_model(path, model.parameters, words, words, tx::Json::object());
  }
};

std::string refusal(const tx::TranslateOptions& options) {
  return message_of<std::runtime_error>([&] { tx::Model("none", options); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_are_translated) {
  const ModelFile file;
  const tx::Model model(file.path);
  const std::vector<std::string> lines = {"w5 w6", "", " \t", "w7\nw8", "w9 \xff w9", "w7 w8"};
  const std::vector<std::string> out = model.translate(lines);
  BOOST_REQUIRE(out.size() == lines.size());
  BOOST_TEST(!out[0].empty());
  BOOST_TEST(out[1] == "");
  BOOST_TEST(out[2] == "");
  BOOST_TEST(out[3] == out[5]);
  for (size_t i = 0; i < lines.size(); ++i) BOOST_TEST(model.translate(lines[i]) == out[i]);
  BOOST_TEST(model.translate(std::vector<std::string>()).empty());
}

BOOST_AUTO_TEST_CASE(it_is_the_translation_of_the_tools) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.beam = 2;
  options.alpha = 0;
  options.max_extra = 3;
  options.precision = "fp32";
  tx::TranslatorOptions wanted;
  wanted.models = {file.path};
  wanted.search.beam = 2;
  wanted.search.alpha = 0;
  wanted.search.max_extra = 3;
  wanted.precision = "fp32";
  const tx::Translator translator(wanted);
  const auto found = translator.translate(std::vector{tx::Source{{5, 6, 7}, 1, {}}})[0];
  BOOST_TEST(tx::Model(file.path, options).translate("w5 w6 w7") ==
             translator.models().target().decode(found[0].ids));
}

BOOST_AUTO_TEST_CASE(threads_share_a_model) {
  const ModelFile file;
  const tx::Model model(file.path);
  const std::string wanted = model.translate("w5 w9 w20");
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& out : found) threads.emplace_back([&] { out = model.translate("w5 w9 w20"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& out : found) BOOST_TEST(out == wanted);
}

BOOST_AUTO_TEST_CASE(a_model_moves) {
  const ModelFile file;
  tx::Model first(file.path);
  const std::string wanted = first.translate("w5");
  tx::Model second(std::move(first));
  BOOST_TEST(second.translate("w5") == wanted);
  tx::Model third(file.path);
  third = std::move(second);
  BOOST_TEST(third.translate("w5") == wanted);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  BOOST_TEST(refusal({}).find("none: No such file or directory") != std::string::npos);
  tx::TranslateOptions beam, alpha, extra, source, threads, precision, device;
  beam.beam = 0;
  alpha.alpha = -1;
  extra.max_extra = -1;
  source.max_source = 0;
  threads.threads = -1;
  precision.precision = "fp16";
  device.device = "tpu";
  BOOST_TEST(refusal(beam) == "TranslateOptions: beam must be at least 1");
  BOOST_TEST(refusal(alpha).find("alpha") != std::string::npos);
  BOOST_TEST(refusal(extra).find("max_extra") != std::string::npos);
  BOOST_TEST(refusal(source).find("max_source") != std::string::npos);
  BOOST_TEST(refusal(threads).find("threads") != std::string::npos);
  BOOST_TEST(refusal(precision).find("'fp16'") != std::string::npos);
  BOOST_TEST(refusal(device).find("tpu") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_version_has_three_numbers) {
  int numbers[3];
  BOOST_TEST(std::sscanf(tx::version().c_str(), "%d.%d.%d", numbers, numbers + 1, numbers + 2) ==
             3);
}
