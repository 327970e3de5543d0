#include "lib/attention/dump.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "lib/attention/output.h"
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/safetensors.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

// A model file of words w4 .. w70 with random weights, and a place for files.
struct Setting {
  TempFolder folder;
  DumpOptions options;

  Setting() {
    RandomModel model(small_config(), DType::f32, 10, 1, false);
    save_model(folder / "model", model.parameters, {word_vocabulary(71), 2}, Json::object());
    options.translator.models = {folder / "model"};
    options.translator.search.max_extra = 5;
    options.translator.max_source = 20;
    options.translator.threads = 2;
    options.digits = 3;
  }
  std::string dump(const std::string& text) {
    options.files = {folder.file("in", text)};
    options.out = folder / "out";
    dump_attention(options, Log("test", true));
    return bytes_of(folder / "out");
  }
  std::vector<Json> records(const std::string& text) {
    std::vector<Json> out;
    const std::string bytes = dump(text);
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = bytes.find('\n', at);
      out.push_back(parse_json(bytes.substr(at, end - at), "record"));
      at = end + 1;
    }
    return out;
  }
};

using Words = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(tokens_and_maps_belong_together) {
  Setting setting;
  const auto records = setting.records("w5 w6\n\nw7 nothing w9 w9\n");
  BOOST_REQUIRE(records.size() == 3u);
  for (const size_t i : {0, 2}) {
    const Json& r = records[i];
    const auto source = r["source"].get<Words>(), input = r["input"].get<Words>();
    const auto target = r["target"].get<Words>();
    BOOST_TEST(r["line"].get<size_t>() == i + 1);
    BOOST_TEST(source.back() == "</s>");
    BOOST_TEST(input.front() == "<s>");
    BOOST_REQUIRE(input.size() == target.size());
    for (size_t k = 1; k < input.size(); ++k) BOOST_TEST(input[k] == target[k - 1]);
    BOOST_TEST(r["encoder"].size() == 2u);
    BOOST_TEST(r["cross"].size() == 3u);
    BOOST_TEST(r["cross"][0].size() == 4u);
    BOOST_TEST(r["encoder"][0][0].size() == source.size());
    BOOST_TEST(r["decoder"][2][3].size() == target.size());
    BOOST_TEST(r["cross"][2][3].size() == target.size());
    BOOST_TEST(r["cross"][2][3][0].size() == source.size());
  }
  BOOST_TEST(records[2]["source"].get<Words>() == Words({"w7", "<unk>", "w9", "w9", "</s>"}));
  BOOST_TEST(records[1]["source"].empty());
  BOOST_TEST(records[1]["cross"].empty());
}

BOOST_AUTO_TEST_CASE(its_own_translation_is_that_of_the_decoder) {
  Setting setting;
  const Translator translator(setting.options.translator);
  const Translation wanted = translator.translate(std::vector{Source{{5, 6, 7}, 1, {}}})[0];
  const auto record = setting.records("w5 w6 w7\n")[0];
  BOOST_TEST(record["translation"].get<std::string>() ==
             translator.models().target().decode(wanted[0].ids));
  BOOST_TEST((record["target"].back().get<std::string>() == "</s>") == wanted[0].complete);
  BOOST_TEST(!record["forced"].get<bool>());
}

// Forcing the output as the target gives the same records.
BOOST_AUTO_TEST_CASE(a_target_is_taken_as_given) {
  Setting setting;
  const std::string text = "w5 w6\n\nw8\n";
  const auto own = setting.records(text);
  std::string translations;
  for (const Json& r : own) translations += r["translation"].get<std::string>() + "\n";
  setting.options.target = setting.folder.file("target", translations);
  const auto forced = setting.records(text);
  BOOST_REQUIRE(forced.size() == own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    BOOST_TEST(forced[i]["forced"].get<bool>());
    BOOST_TEST(forced[i]["encoder"] == own[i]["encoder"]);
    if (i != 1) BOOST_TEST(forced[i]["target"].back().get<std::string>() == "</s>");
    if (own[i]["target"] == forced[i]["target"]) BOOST_TEST(forced[i]["cross"] == own[i]["cross"]);
  }
  setting.options.target = setting.folder.file("target", "\nw4\nw9 w10\n");
  const auto other = setting.records(text);
  BOOST_TEST(other[0]["target"].get<Words>() == Words({"</s>"}));
  BOOST_TEST(other[1]["target"].empty());
  BOOST_TEST(other[2]["input"].get<Words>() == Words({"<s>", "w9", "w10"}));
  BOOST_TEST(other[2]["translation"].get<std::string>() == "w9 w10");
}

BOOST_AUTO_TEST_CASE(records_do_not_depend_on_the_threads) {
  Setting setting;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    for (int w = 0; w <= i % 7; ++w) text += "w" + std::to_string(4 + (i * 31 + w * 7) % 67) + " ";
    text += "\n";
  }
  setting.options.translator.threads = 1;
  const std::string wanted = setting.dump(text);
  for (const int threads : {2, 3, 7}) {
    setting.options.translator.threads = threads;
    BOOST_TEST((setting.dump(text) == wanted));
  }
}

BOOST_AUTO_TEST_CASE(long_lines_are_cut) {
  Setting setting;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "w5 ";
  const std::string line = text + "\n";
  const auto own = setting.records(line)[0];
  BOOST_TEST(own["source"].size() == 21u);
  setting.options.target = setting.folder.file("target", line);
  const auto forced = setting.records(line)[0];
  BOOST_TEST(forced["target"].size() == 25u);
  BOOST_TEST(forced["target"].back().get<std::string>() == "w5");
}

BOOST_AUTO_TEST_CASE(line_counts_that_differ) {
  Setting setting;
  const auto refusal = [&](const std::string& source, const std::string& target) {
    setting.options.target = setting.folder.file("target", target);
    const std::string message = message_of<DataError>([&] { setting.dump(source); });
    std::string out = message;
    for (size_t at; (at = out.find(setting.folder.path() + "/")) != out.npos;) {
      out.erase(at, setting.folder.path().size() + 1);
    }
    return out;
  };
  BOOST_TEST(refusal("w5\nw6\n", "w5\nw6\nw7\nw8\n") ==
             "in has 2 lines, target has 4 lines: line 3 of target has no counterpart; give files "
             "with the same number of lines");
  BOOST_TEST(refusal("w5\nw6\nw8\n", "w5\n") ==
             "target has 1 line, in has 3 lines: line 2 of in has no counterpart; give files with "
             "the same number of lines");
  const std::string written = bytes_of(setting.folder / "out");
  BOOST_TEST(std::count(written.begin(), written.end(), '\n') == 1);
}

BOOST_AUTO_TEST_CASE(a_failing_input_leaves_the_lines_before_it) {
  Setting setting;
  setting.options.strict = true;
  BOOST_CHECK_THROW(setting.dump("w5\n\nw6\n\xff\nw7\n"), DataError);
  const std::string written = bytes_of(setting.folder / "out");
  BOOST_TEST(std::count(written.begin(), written.end(), '\n') == 3);
  setting.options.strict = false;
  BOOST_TEST(setting.records("w5\n\xff\nw7").size() == 3u);
}

// A file of arrays holds the numbers of the records, rounded to its type.
BOOST_AUTO_TEST_CASE(arrays_hold_what_records_hold) {
  for (const char* dtype : {"f32", "f16"}) {
    Setting setting;
    setting.options.digits = 9;
    setting.options.selection.what = "weights,masked,output,log_p";
    const std::string text = "w5 w6\n\nw7 w9 w9 w11\n";
    const auto records = setting.records(text);
    setting.options.format = "safetensors";
    setting.options.dtype = dtype;
    setting.dump(text);
    const SafetensorsReader file(setting.folder / "out");
    BOOST_TEST(file.verified_hash() == *file.metadata("xxh3"));
    BOOST_TEST(file.tensors().size() == 2u * (2 + 3 * 3) + 3);
    for (const TensorInfo& t : file.tensors()) BOOST_TEST(t.begin % element_size(t.dtype) == 0);
    for (const size_t i : {0, 2}) {
      const std::string line = std::to_string(i + 1) + ".";
      const TensorInfo* cross = file.find(line + "weights.cross");
      BOOST_REQUIRE(cross);
      const Json& wanted = records[i]["cross"];
      BOOST_TEST(cross->shape == (std::vector<int64_t>{3, 4, int64_t(records[i]["target"].size()),
                                                       int64_t(records[i]["source"].size())}));
      const TensorInfo* output = file.find(line + "output.decoder");
      BOOST_TEST(output->shape ==
                 (std::vector<int64_t>{3, int64_t(records[i]["target"].size()), 48}));
      if (dtype == std::string("f32")) {
        const float* values = reinterpret_cast<const float*>(file.data(*cross));
        for (const Json& layer : wanted)
          for (const Json& head : layer)
            for (const Json& row : head)
              for (const Json& weight : row)
                BOOST_TEST(std::abs(double(*values++) - weight.get<double>()) < 1e-9);
      } else {
        const uint16_t* halves = reinterpret_cast<const uint16_t*>(file.data(*cross));
        BOOST_TEST(*halves == to_half(wanted[0][0][0][0].get<float>()));
      }
      const TensorInfo* head = file.find(line + "record");
      const Json record = parse_json({file.data(*head), size_t(head->bytes())}, "record");
      BOOST_TEST(record["target"] == records[i]["target"]);
      const auto* ranks = reinterpret_cast<const int32_t*>(file.data(*file.find(line + "rank")));
      BOOST_TEST(ranks[0] == records[i]["rank"][0].get<int>());
    }
    BOOST_TEST(file.find("2.record"));
    BOOST_TEST(!file.find("2.weights.cross"));
  }
}

BOOST_AUTO_TEST_CASE(the_largest_of_each_row_alone) {
  Setting setting;
  const std::string text = "w5 w6 w8\n";
  const Json whole = setting.records(text)[0];
  setting.options.selection.top = 2;
  const Json record = setting.records(text)[0];
  const Json &indices = record["encoder"]["indices"], &values = record["encoder"]["values"];
  for (size_t row = 0; row < 4; ++row) {
    BOOST_REQUIRE(indices[1][3][row].size() == 2u);
    for (size_t i = 0; i < 2; ++i)
      BOOST_TEST(values[1][3][row][i] ==
                 whole["encoder"][1][3][row][indices[1][3][row][i].get<size_t>()]);
  }
  setting.options.format = "safetensors";
  setting.dump(text);
  const SafetensorsReader file(setting.folder / "out");
  BOOST_TEST(shape_text(file.find("1.weights.encoder.indices")->shape) == "[2, 4, 4, 2]");
  BOOST_TEST(file.find("1.weights.encoder.values")->dtype == "F32");
}

BOOST_AUTO_TEST_CASE(drawings_in_place_of_records) {
  Setting setting;
  setting.options.heatmap = true;
  setting.options.width = 70;
  const std::string out = setting.dump("w5 w6\n\nw7\n");
  BOOST_TEST(out.find("line 1: cross, layer 2, mean of 4 heads; ") == 0u);
  BOOST_TEST(out.find("\n\nline 2: blank\n\nline 3: cross") != out.npos);
}
