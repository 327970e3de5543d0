// The preset of a run without --preset, and the models that options describe.
#include "lib/train/plan/settle.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "lib/base/error.h"
#include "lib/train/plan/resolve.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

Preset chosen(int64_t target, Device device, bool fits_toy = true, bool muon = true) {
  return choose_preset({{target, target}, fits_toy}, device, muon).preset;
}

bool open_for(std::vector<const char*> words) {
  TrainOptions settings;
  Options options("tx-train", "");
  settings.describe(options);
  words.insert(words.begin(), "tx-train");
  BOOST_TEST(options.parse(int(words.size()), words.data()));
  return preset_is_open(settings, options);
}

// The cells of a row of the table in tx-train(1), ".It lr Ta 1 Ta 2", without the name.
std::vector<std::string> cells(std::string row) {
  std::vector<std::string> found;
  for (size_t at; (at = row.rfind(" Ta ")) != std::string::npos; row.resize(at))
    found.insert(found.begin(), row.substr(at + 4));
  return found;
}

// The value of an option in the format of the page.
std::string setting_of(const std::string& preset, const std::string& name) {
  TrainOptions settings;
  settings.apply_preset(value_of_name<Preset>(preset));
  Options options("", "");
  settings.describe(options);
  const Json values = options.to_json();
  const auto found = values.find(name);
  if (found == values.end()) return "no option";
  const std::string text = found->is_string() ? found->get<std::string>() : to_text(*found);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preset)

BOOST_AUTO_TEST_CASE(the_page_tells_what_each_is) {
  std::ifstream page(TX_SOURCE_DIR "/man/tx-train.1.in");
  std::vector<std::string> presets;
  int compared = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(".It Em preset Ta ")) presets = cells(line);
    if (presets.empty() || !line.starts_with(".It ")) continue;
    if (line.starts_with(".It Em ")) continue;
    std::string name = line.substr(4, line.find(" Ta ") - 4);
    if (name == "layers") name = "encoder-layers";
    const std::vector<std::string> row = cells(line);
    BOOST_REQUIRE_EQUAL(row.size(), presets.size());
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i] != "\\(em") {
        BOOST_TEST_CONTEXT(presets[i] << " --" << name)
        BOOST_TEST(setting_of(presets[i], name) == row[i]);
        ++compared;
      }
    if (name == "keep") break;
  }
  BOOST_TEST(compared > 60);
}

BOOST_AUTO_TEST_CASE(by_the_size_of_the_text_and_the_device) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    BOOST_TEST((chosen(toy_tokens - 1, device) == Preset::toy));
    BOOST_TEST((chosen(toy_tokens - 1, device, false) == Preset::modern));
    BOOST_TEST((chosen(toy_tokens, device) == Preset::modern));
    BOOST_TEST((chosen(base_tokens - 1, device) == Preset::modern));
    BOOST_TEST((chosen(toy_tokens, device, true, false) == Preset::tiny));
  }
  BOOST_TEST((chosen(base_tokens, Device::cpu) == Preset::modern));
  BOOST_TEST((chosen(base_tokens, Device::cuda) == Preset::base));
}

BOOST_AUTO_TEST_CASE(the_reason_tells_the_rule_and_what_base_would_cost) {
  BOOST_TEST(choose_preset({{500000, 452331}, true}, Device::cpu).why ==
             "for fewer than 25,000,000 target tokens; this text has 452,331");
  // Weights used per source and target token (tx-paper(7), Table 2, vocabulary 8,000): base 22.0
  // and 26.1 million in 100,000 x 25,000 tokens, modern 0.655 and 1.75 million in 12,000 x 2,048.
  BOOST_TEST(choose_preset({{base_tokens, base_tokens}, true}, Device::cpu).why ==
             "as there is no GPU; this text has 25,000,000, but --preset base needs about 2,000 "
             "times the arithmetic");
}

BOOST_AUTO_TEST_CASE(what_tells_the_size_of_the_model_settles_it) {
  BOOST_TEST(open_for({}));
  BOOST_TEST(
      open_for({"--preset", "auto", "--norm-position", "pre", "--steps", "9", "--tie", "none"}));
  BOOST_TEST(!open_for({"--preset", "base"}));
  for (const char* size : {"--layers", "--encoder-layers", "--decoder-layers", "--d-model",
                           "--d-ff", "--heads", "--d-k", "--d-v"})
    BOOST_TEST(!open_for({size, "4"}), size);
  BOOST_TEST(!open_for({"--resume", "run"}));
  // --init sets the shape, but leaves the training settings to the preset.
  BOOST_TEST(open_for({"--init", "model"}));
  BOOST_TEST(!open_for({"--init", "model", "--preset", "tiny"}));
}

// The command line or --config: what names no size leaves the preset open.
BOOST_AUTO_TEST_CASE(so_does_a_file_that_tells_it) {
  const auto open_with = [](const char* json) {
    TrainOptions settings;
    Options options("tx-train", "");
    settings.describe(options);
    const char* words[] = {"tx-train", "--config", "file"};
    BOOST_TEST(options.parse(3, words));
    options.from_json(parse_json(json, "file"), "file");
    return preset_is_open(settings, options);
  };
  for (const char* json : {"{}", R"({"steps": 9, "dropout": 0.1})", R"({"preset": "auto"})"})
    BOOST_TEST(open_with(json), json);
  for (const char* json : {R"({"d-model": 32})", R"({"layers": 2})", R"({"preset": "toy"})"})
    BOOST_TEST(!open_with(json), json);
}

BOOST_AUTO_TEST_SUITE_END()

// Settling makes new options; the steps are counted once the preset's batch is fixed.
BOOST_FIXTURE_TEST_CASE(the_batch_is_fixed_before_the_length, PackingFixture) {
  TrainOptions settings;
  Options given("tx-train", "");
  settings.describe(given);
  const char* words[] = {"tx-train", "--epochs", "3", "--lr", "0.5"};
  BOOST_TEST(given.parse(5, words, [] { return std::vector<std::string>{"schedule"}; }));
  const Log log("", true);
  const TrainOptions start = resolve_run(settings, given, log);
  const Json before = options_json(start), chosen_before = given.to_json();
  Corpora corpora;
  corpora.train.reset(new IdCache(make(captions(60))));
  int batch = 0;
  const auto fix_batch = [&](const TrainOptions& chosen) -> CountSteps {
    batch = chosen.batch_tokens.number();
    return [&](int64_t epochs, int64_t) { return batch == 448 ? 7 * epochs : 0; };
  };
  const TrainOptions settled = settle(start, given, corpora, fix_batch, log);
  BOOST_TEST((settled.preset == Preset::toy));
  BOOST_TEST(settled.steps == 21);
  BOOST_TEST(settled.warmup == 3);
  BOOST_TEST(settled.save_every == 5);
  BOOST_TEST(settled.lr == 0.5);
  BOOST_TEST(options_json(start) == before);
  BOOST_TEST(given.to_json() == chosen_before);
}

// The options describe an encoder and a decoder; a model of one stack takes only its own side.
BOOST_AUTO_TEST_CASE(options_of_both_sides_make_models_of_every_kind) {
  TrainOptions options;
  options.model.sides = {{10, 2}, {10, 3}};
  for (const auto& [kind, layers] :
       {std::pair(ModelKind::decoder, 3), std::pair(ModelKind::encoder, 2)}) {
    options.kind = kind;
    const ModelConfig one = options.model_config();
    BOOST_TEST(one.sides.size() == 1u);
    BOOST_TEST(one.sides.front().layers == layers);
    TrainOptions other;
    other.take_model(one);
    BOOST_TEST(to_text(other.model_config().to_json()) == to_text(one.to_json()));
  }
}
