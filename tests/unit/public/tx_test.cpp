// Uses the library as a user's program does: through lib/tx.h only, with a model from a file.
#include "lib/tx.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>
#include <thread>

#include "lib/base/split.h"
#include "lib/checkpoint/model_file.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx_test;

namespace {

struct ModelFile {
  TempFolder folder;
  std::string path = folder / "model.safetensors";
  explicit ModelFile(tx::ModelKind kind = tx::ModelKind::encoder_decoder) {
    tx::ModelConfig config = small_config();
    if (kind != tx::ModelKind::encoder_decoder) config.set_kind(kind);
    RandomModel model(config, tx::DType::f32, 10, 1, false);
    tx::save_model(path, model.parameters, {word_vocabulary(71), config.sides.size()},
                   tx::Json::object());
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
  wanted.precision = tx::Precision::fp32;
  const tx::Translator translator(wanted);
  const auto found = translator.translate(std::vector{tx::Source{{5, 6, 7}, 1, {}}})[0];
  BOOST_TEST(tx::Model(file.path, options).translate("w5 w6 w7") ==
             translator.models().target().decode(found[0].ids));
}

BOOST_AUTO_TEST_CASE(hypotheses_come_best_first_with_scores) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.nbest = 3;
  options.precision = "fp32";
  const tx::Model model(file.path, options);
  const std::vector<tx::Hypothesis> found = model.hypotheses("w5 w6 w7");
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].text == model.translate("w5 w6 w7"));
  for (size_t i = 1; i < found.size(); ++i) BOOST_TEST(found[i].score <= found[i - 1].score);
  BOOST_TEST(model.hypotheses("").front().text == "");
}

BOOST_AUTO_TEST_CASE(a_beginning_is_completed) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.nbest = 3;
  options.precision = "fp32";
  options.min_length = 5;
  options.no_repeat = 1;
  const tx::Model model(file.path, options);
  for (const tx::Hypothesis& h : model.complete("w5 w6 w7", "w9 w10 ")) {
    BOOST_TEST(h.text.starts_with("w9 w10 "));
    const auto spaces = std::ranges::count(h.text, ' ');
    BOOST_TEST(spaces >= 4);
    BOOST_TEST(h.log_p == model.score("w5 w6 w7", h.text).log_p);
  }
  BOOST_TEST(model.complete("w5", "").front().text == model.translate("w5"));
  BOOST_TEST(model.complete("", "w5").front().text == "");
}

BOOST_AUTO_TEST_CASE(outputs_keep_to_a_shortlist) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.max_extra = 3;
  options.nbest = 3;
  options.shortlist = file.folder / "list";
  tx::write_atomically(*options.shortlist, "\tw9\t0.5\nw5\tw8\t0.5\nw6\tw10\t0.5\n");
  const tx::Model model(file.path, options);
  for (const tx::Hypothesis& h : model.hypotheses("w5"))
    for (const std::string& word : tx::split_at(h.text, ' '))
      BOOST_TEST((word == "w8" || word == "w9" || word.empty()));
  BOOST_TEST(model.complete("w5", "w10")[0].text.find("w10") == 0u);
  // A given translation is scored over the whole vocabulary.
  options.shortlist.reset();
  BOOST_TEST(model.score("w5", "w20").log_p ==
             tx::Model(file.path, options).score("w5", "w20").log_p);
}

BOOST_AUTO_TEST_CASE(a_given_translation_has_the_score_that_the_search_gave_it) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.precision = "fp32";
  options.max_extra = 7;
  const tx::Model model(file.path, options);
  const tx::Hypothesis found = model.hypotheses("w5 w6 w7").front();
  const tx::Hypothesis scored = model.score("w5 w6 w7", found.text);
  BOOST_TEST(scored.text == found.text);
  const tx::Hypothesis other = model.score("w5 w6 w7", found.text + " w8");
  BOOST_TEST(other.log_p != scored.log_p);
  BOOST_TEST(model.score("", "").log_p == 0);
  BOOST_TEST(model.score("", "w5").log_p == -std::numeric_limits<double>::infinity());
}

BOOST_AUTO_TEST_CASE(an_ensemble_of_a_model_with_itself_is_that_model) {
  const ModelFile file;
  tx::TranslateOptions options;
  options.precision = "fp32";
  const tx::Model one(file.path, options), two(std::vector{file.path, file.path}, options);
  BOOST_TEST(one.translate("w5 w9") == two.translate("w5 w9"));
  BOOST_CHECK_THROW(tx::Model(std::vector<std::string>{}), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(subwords_cut_and_join) {
  const TempFolder folder;
  const std::string path = folder.file("words", word_vocabulary(10)->bytes());
  const tx::Subwords words(path);
  BOOST_TEST(words.size() == 10);
  BOOST_TEST(words.tokens("w5 w7") == (std::vector<std::string>{"w5", "w7"}),
             boost::test_tools::per_element());
  BOOST_TEST(words.text(words.ids("w5 w7")) == "w5 w7");
  BOOST_TEST(words.text(words.tokens("w5 w7")) == "w5 w7");
  BOOST_CHECK_THROW(words.text(std::vector<std::string>{"no token"}), std::runtime_error);
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
  const std::vector<std::string> lines = {"w5"};
  const std::vector<std::function<void()>> calls = {
      [&] { first.translate("w5"); },
      [&] { first.translate(lines); },
      [&] { first.hypotheses("w5"); },
      [&] { first.complete("w5", "w6"); },
      [&] { first.score("w5", "w6"); },
      [&] { first.continuation("w5"); },
      [&] { first.continuations(lines); },
      [&] { first.continued("w5"); },
      [&] { first.embed("w5"); },
      [&] { first.embed(lines); },
      [&] { first.translate(std::vector<std::string>()); }};
  for (const auto& call : calls)
    BOOST_TEST(message_of<std::runtime_error>(call).find("moved from") != std::string::npos);
  first = tx::Model(file.path);
  BOOST_TEST(first.translate("w5") == wanted);
  tx::write_atomically(file.folder / "words", word_vocabulary(20)->bytes());
  tx::Subwords one(file.folder / "words"), two(std::move(one));
  BOOST_TEST(two.size() == 20);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)one.size(); }, [&] { one.ids("w5"); }, [&] { one.tokens("w5"); },
           [&] { one.text(std::vector<int>{5}); }, [&] { one.text(lines); }})
    BOOST_TEST(message_of<std::runtime_error>(call).find("moved from") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  BOOST_TEST(refusal({}).find("none: No such file or directory") != std::string::npos);
  tx::TranslateOptions beam, alpha, extra, length, nbest, threads, precision, device;
  beam.beam = 0;
  alpha.alpha = -1;
  extra.max_extra = -1;
  length.max_length = 0;
  nbest.nbest = 5;
  threads.threads = -1;
  precision.precision = "fp16";
  device.device = "tpu";
  BOOST_TEST(refusal(beam) == "TranslateOptions: --beam 0: must be from 1 to 1,000");
  BOOST_TEST(refusal(alpha).find("--alpha") != std::string::npos);
  BOOST_TEST(refusal(extra).find("--max-extra") != std::string::npos);
  BOOST_TEST(refusal(length).find("--max-length") != std::string::npos);
  const ModelFile file;  // may have a default of its own for the beam
  BOOST_TEST(message_of<std::runtime_error>([&] { tx::Model(file.path, nbest); }) ==
             "--nbest 5 needs a beam at least as wide: give --beam 5 or --nbest 4");
  BOOST_TEST(refusal(threads).find("--threads") != std::string::npos);
  BOOST_TEST(refusal(precision).find("--precision fp16: must be one of") != std::string::npos);
  BOOST_TEST(refusal(device).find("tpu") != std::string::npos);
  const auto refused = [](auto field, auto value) {
    tx::TranslateOptions options;
    options.*field = value;
    return refusal(options);
  };
  using O = tx::TranslateOptions;
  for (const auto field : {&O::precision, &O::device, &O::forbid, &O::shortlist,
                           &O::source_language, &O::target_language})
    BOOST_TEST(refused(field, "").ends_with(" has an empty value"));
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    for (const auto field : {&O::alpha, &O::temperature, &O::top_p, &O::min_p})
      BOOST_TEST(refused(field, value).ends_with(" must be a number"));
  BOOST_TEST(refused(&O::stop, std::vector<std::string>{"a", ""}) ==
             "TranslateOptions: \"stop\" must be a list of strings that are not empty");
  BOOST_TEST(message_of<std::runtime_error>([] { tx::Model(""); }) != "");
  BOOST_TEST(message_of<std::runtime_error>([] { tx::Subwords(""); }) != "");
}

BOOST_AUTO_TEST_CASE(a_decoder_continues_texts) {
  const ModelFile file(tx::ModelKind::decoder);
  tx::TranslateOptions options;
  options.precision = "fp32";
  options.max_new = 5;
  options.nbest = 2;
  const tx::Model model(file.path, options);
  const std::vector<std::string> prompts = {"w5 w6", "", "w9 w8 w7"};
  const std::vector<std::string> out = model.continuations(prompts);
  BOOST_TEST(out[1] == "");
  BOOST_TEST(std::ranges::count(out[0], ' ') <= 5);
  for (size_t i = 0; i < prompts.size(); ++i) BOOST_TEST(model.continuation(prompts[i]) == out[i]);
  const std::vector<tx::Hypothesis> found = model.continued("w5 w6");
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].text == out[0]);
  for (const tx::Hypothesis& h : found)
    if (std::ranges::count(h.text, ' ') < 5)  // not cut at the maximum length
      BOOST_TEST(model.score("w5 w6", h.text).log_p == h.log_p);
  BOOST_TEST(model.score("", "w5 w6").log_p < 0);
  BOOST_TEST(model.score("", "").log_p == 0);
  tx::TranslateOptions stopped = options;
  BOOST_REQUIRE(out[0].size() > 4);
  stopped.nbest = 1;
  stopped.stop = {out[0].substr(1, 2)};
  BOOST_TEST(tx::Model(file.path, stopped).continuation("w5 w6").find(stopped.stop[0]) ==
             std::string::npos);
  tx::TranslateOptions drawn = options;
  drawn.sample = true;
  drawn.seed = 3;
  BOOST_TEST(tx::Model(file.path, drawn).continuation("w5") ==
             tx::Model(file.path, drawn).continuation("w5"));
  BOOST_TEST(message_of<std::runtime_error>([&] {
               model.translate("w5");
             }).find("is a model of kind decoder; translating needs one of kind encoder-decoder") !=
             std::string::npos);
  options.max_extra = 3;
  BOOST_TEST(message_of<std::runtime_error>([&] {
               tx::Model(file.path, options);
             }).find("--max-extra needs a model of kind encoder-decoder") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_encoder_gives_vectors) {
  const ModelFile file(tx::ModelKind::encoder);
  tx::TranslateOptions options;
  options.precision = "fp32";
  const tx::Model model(file.path, options);
  std::vector<std::string> lines = {"w5 w6", " ", "w9"};
  for (int i = 0; i < 500; ++i) lines.push_back("w7 w8 w9 w10 w11");  // more than one batch
  const auto all = model.embed(lines);
  BOOST_REQUIRE(all.size() == lines.size());
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(model.embed(lines[i]) == all[i]);
  BOOST_TEST(all[3] == all.back());
  BOOST_TEST(all[0] != all[2]);
  BOOST_TEST(all[1] == std::vector<float>(all[0].size(), 0.0f));
  BOOST_TEST(model.embed("w5 w6", tx::Pooling::first) != all[0]);
  for (const auto& f : std::vector<std::function<void()>>{[&] { model.translate("w5"); },
                                                          [&] { model.continuation("w5"); },
                                                          [&] { model.score("w5", "w6"); }})
    BOOST_TEST(message_of<std::runtime_error>(f).find("is a model of kind encoder") !=
               std::string::npos);
  BOOST_TEST(message_of<std::runtime_error>([] {
               tx::Model(ModelFile().path).embed("w5");
             }).find("a vector needs one of kind encoder") != std::string::npos);
  options.beam = 2;
  BOOST_TEST(message_of<std::runtime_error>([&] {
               tx::Model(file.path, options);
             }).find("--beam needs a model of kind encoder-decoder or decoder") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_version_has_three_numbers) {
  int numbers[3];
  BOOST_TEST(std::sscanf(tx::version().c_str(), "%d.%d.%d", numbers, numbers + 1, numbers + 2) ==
             3);
}
