// A save on the GPU is written from a copy of the parameters while they change.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <future>
#include <vector>

#include "lib/train/run/checkpointer.h"
#include "tests/support.h"
#include "tests/unit/model/small_model.h"

using namespace tx;

namespace {

// The values of all blocks that a checkpoint contains.
std::vector<float> values_of(const Parameters& p) {
  std::vector<float> all;
  for (const Matrix& block : {p.fp32_weights(), p.moment1(), p.moment2()}) {
    std::vector<float> values(size_t(block.cols));
    p.backend()->download(values.data(), block.data, values.size() * 4);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Other weights, and optimizer state that copies them.
void change(Parameters& p, uint32_t seed) {
  p.initialise(seed);
  p.backend()->copy(p.moment1().data, p.fp32_weights().data, size_t(p.fp32_weights().cols) * 4);
  p.backend()->copy(p.moment2().data, p.fp32_weights().data, size_t(p.fp32_weights().cols) * 4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saver_gpu)

BOOST_AUTO_TEST_CASE(what_is_written_is_what_was_when_the_save_began) {
  Backend backend = make_backend(Device::cuda, 1);
  Parameters parameters = Parameters::for_training(backend, tx_test::small_config(), DType::bf16);
  Saver saver(parameters);
  BOOST_TEST(Saver::bytes(parameters) == size_t(parameters.fp32_weights().cols) * 12);
  for (uint32_t round = 1; round <= 3; ++round) {
    change(parameters, round);
    std::promise<void> changed;
    std::vector<float> written;
    saver.begin([&](const Parameters& copy, const OptimizerState&) {
      changed.get_future().wait();
      written = values_of(copy);
    });
    BOOST_TEST(!saver.done());  // the save is in progress while training continues
    const std::vector<float> then = values_of(parameters);
    change(parameters, round + 100);
    BOOST_TEST((values_of(parameters) != then));
    changed.set_value();
    saver.finish();
    BOOST_TEST(saver.done());
    BOOST_TEST((written == then));
  }
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_the_save_under_way) {
  Backend backend = make_backend(Device::cuda, 1);
  Parameters parameters = Parameters::for_training(backend, tx_test::small_config(), DType::f32);
  change(parameters, 7);
  std::vector<float> written;
  {
    Saver saver(parameters);
    saver.begin([&](const Parameters& copy, const OptimizerState&) { written = values_of(copy); });
  }
  BOOST_TEST((written == values_of(parameters)));
}

// A run fails during a save: its own error comes first, and the outcome of the save is appended.
// The state file of step 20 is a directory, so the save fails.
BOOST_AUTO_TEST_CASE(a_save_that_fails_behind_a_failed_run) {
  const tx_test::TempFolder folder;
  const RunDirectory run = RunDirectory::create(folder / "run");
  Backend backend = make_backend(Device::cuda, 1);
  Parameters parameters = Parameters::for_training(backend, tx_test::small_config(), DType::f32);
  std::string words = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  for (int64_t i = 4; i < parameters.config().target().vocabulary; ++i)
    words += "w" + std::to_string(i) + "\n";
  const Vocabularies vocabularies(parse_vocabulary(words, "words"), 2);
  TrainOptions options;
  options.save_every = 10;
  Checkpointer c(run, parameters, vocabularies, options, Json::object(), [](int64_t) {});
  const auto content = [](int64_t step) {
    return Checkpointer::Content{step, Json{{"step", step}}, Json{{"step", step}}, -1, 0};
  };
  c.save(content(10));
  BOOST_TEST(c.finish_failed() == "");
  BOOST_REQUIRE(::mkdir(run.state(20).c_str(), 0700) == 0);
  c.save(content(20));
  const std::string failed = c.finish_failed();
  BOOST_TEST(failed.starts_with("; saving the checkpoint failed too: cannot write "), failed);
  BOOST_TEST(c.finish_failed() == "");
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(c.resume_hint().starts_with("the checkpoint of step 10 is complete"));
}

BOOST_AUTO_TEST_SUITE_END()
