#include "lib/checkpoint/state_file.h"

#include <boost/test/unit_test.hpp>

#include "lib/checkpoint/safetensors.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

void fill_moments(Parameters& p, float start) {
  for (const Matrix& block : {p.moment1(), p.moment2()})
    for (const ParameterEntry& e : p.table()) {
      float* values = p.entry_of(block, e).row<float>(0);
      for (int64_t i = 0; i < e.rows * e.cols; ++i) values[i] = start += 0.001f;
    }
}

const Json sample_state = {
    {"step", 10}, {"loss", 0.1}, {"packer", {{"cursor", {1, 2}}, {"x", nullptr}}}};

struct Saved {
  SampleModel model;
  TempFolder folder;
  std::string path = folder / "state-10.safetensors";
  Saved() {
    fill_moments(model.parameters, 0.5f);
    save_state(path, model.parameters, model.parameters.optimizer_state(), sample_state,
               "0123456789abcdef");
  }
  std::string message(const std::string& file, const std::string& checksum = "0123456789abcdef") {
    const std::string text = message_of<DataError>(
        [&] { load_state(file, model.parameters, model.parameters.optimizer_state(), checksum); });
    return text.starts_with(file) ? text.substr(file.size()) : "not the file's name: " + text;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(state_and_optimizer_state_are_read_back_bit_for_bit) {
  const Saved saved;
  SampleModel other(2);
  const Json state = load_state(saved.path, other.parameters, other.parameters.optimizer_state(),
                                "0123456789abcdef");
  BOOST_TEST(to_text(state) == to_text(sample_state));
  const Parameters &a = saved.model.parameters, &b = other.parameters;
  BOOST_TEST(block_bytes(a.moment1()) == block_bytes(b.moment1()));
  BOOST_TEST(block_bytes(a.moment2()) == block_bytes(b.moment2()));
  BOOST_TEST(block_bytes(a.moment1()) != block_bytes(a.moment2()));
  save_state(saved.folder / "again", b, b.optimizer_state(), state, "0123456789abcdef");
  BOOST_TEST(bytes_of(saved.folder / "again") == bytes_of(saved.path));
}

BOOST_AUTO_TEST_CASE(an_unusable_state_is_refused) {
  Saved saved;
  const std::string good = bytes_of(saved.path);
  const auto changed = [&](const std::string& from, const std::string& to) {
    return saved.message(saved.folder.file("x", with_header(good, from, to)));
  };
  BOOST_TEST(saved.message(saved.path, "fedcba9876543210") ==
             " does not belong to the model of the same step (checksum 0123456789abcdef "
             "instead of fedcba9876543210): one of the two files was replaced");
  BOOST_TEST(changed(R"(version":"1")", R"(version":"2")") ==
             ": format version 2 is newer than this tx reads (1): use a newer tx");
  const std::string expected = "; expected the state-STEP.safetensors of a run";
  BOOST_TEST(changed("tx-state", "tx") == " is not a training state" + expected);
  BOOST_TEST(changed("model_xxh3", "other") == " is not a training state" + expected);
  saved.model.save(saved.folder / "model");
  BOOST_TEST(saved.message(saved.folder / "model") == " is not a training state" + expected);
  BOOST_TEST(saved.message(saved.folder.file("x", "")) == " is empty" + expected);
  BOOST_TEST(changed(R"("m/embedding.weight")", R"("m/embedding.weighs")")
                 .starts_with(": the tensor m/embedding.weight is missing or has the wrong shape"));
  BOOST_TEST(changed(R"("state":{)", R"("stale":{)").starts_with(": its tensors do not match"));
  BOOST_TEST(saved.message(saved.folder.file("x", replaced(good, "\"step\":10", "\"step\":11")))
                 .starts_with(" is damaged: its data does not match the stored checksum"));
  for (size_t size = 0; size < good.size(); size += 101)
    BOOST_TEST(!saved.message(saved.folder.file("x", good.substr(0, size))).starts_with("not"));
}

BOOST_AUTO_TEST_CASE(a_state_of_another_shape_is_refused) {
  Saved saved;
  ModelConfig config = small_config();
  config.d_ff = 12;
  SampleModel other(1, DType::f32, config);
  BOOST_TEST(message_of<DataError>([&] {
               load_state(saved.path, other.parameters, other.parameters.optimizer_state(),
                          "0123456789abcdef");
             }).find("m/encoder.layers.0.ffn.in_proj.weight is missing or has the wrong shape") !=
             std::string::npos);
}
