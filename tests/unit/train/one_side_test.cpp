// Models of one stack in training: packed batches of one side through the steps of a run.
#include "lib/checkpoint/model_file.h"
#include "lib/train/run/data.h"
#include "lib/train/step/step.h"
#include "tests/unit/checkpoint/samples.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;

namespace {

ModelConfig config_of(ModelKind kind) {
  ModelConfig c;
  c.set_kind(kind);
  c.set_vocabularies(1004);
  c.set_layers(2);
  c.d_model = 32;
  c.d_ff = 64;
  c.heads = 4;
  c.norm = NormPosition::pre;
  c.resolve();
  return c;
}

struct Run {
  const TrainOptions options = tx_test::plain_options();
  Backend backend = make_backend("cpu", 1);
  Parameters parameters;
  Transformer model;

  explicit Run(ModelKind kind)
      : parameters(backend, config_of(kind), DType::f32, true), model(backend, parameters, 80) {
    parameters.initialise(1);
  }
};

}  // namespace

// Word n is followed by word n + 1, in lines that begin anywhere: all but the first is learned.
BOOST_FIXTURE_TEST_CASE(one_stack_learns_what_follows, PackingFixture) {
  const IdCache cache = make(captions(60, 1));
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder}) {
    PackerOptions packing;
    packing.batch_tokens = 256;
    Packer packer(cache, packing);
    Run run(kind);
    Stepper stepper(run.backend, run.parameters, run.model, run.options);
    stepper.reserve(
        Stepper::plan(run.backend, run.parameters, run.model, run.options, packer.capacities()));
    const auto step = [&](int64_t number) {
      std::vector<Batch> batches(1);
      packer.next(batches.front());
      BOOST_TEST(batches.front().sides.size() == 1u);
      const StepRecord record = stepper.step(batches, number, 0.01, 0);
      return record.loss * record.loss_scale;
    };
    const double first = step(1);
    for (int64_t number = 2; number < 80; ++number) step(number);
    BOOST_TEST(first > 6.5);
    BOOST_TEST(step(80) < 0.6 * first);
  }
}

BOOST_AUTO_TEST_CASE(a_model_of_one_stack_has_one_vocabulary) {
  const tx_test::TempFolder folder;
  ModelConfig config = tx_test::small_config();
  config.set_kind(ModelKind::decoder);
  const std::string path = folder / "decoder";
  tx_test::SampleModel(1, DType::f32, config).save(path);
  BOOST_TEST(model_vocabularies(path).size() == 1u);
}

// Options have both sides; of a kind of one stack the model has the stack that its option names.
BOOST_AUTO_TEST_CASE(options_of_both_sides_make_models_of_every_kind) {
  TrainOptions options;
  options.model.config.sides = {{10, 2}, {10, 3}};
  for (const auto& [kind, layers] :
       {std::pair(ModelKind::decoder, 3), std::pair(ModelKind::encoder, 2)}) {
    options.kind = kind;
    const ModelConfig one = options.model_config();
    BOOST_TEST(one.sides.size() == 1u);
    BOOST_TEST(one.sides.front().layers == layers);
    TrainOptions other;
    const int* const field = &other.model.config.sides.back().layers;
    other.take_model(one);
    BOOST_TEST(field == &other.model.config.sides.back().layers);
    BOOST_TEST(to_text(other.model_config().to_json()) == to_text(one.to_json()));
  }
}
