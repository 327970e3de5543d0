// Tensor parallelism over ranks, which are threads here, against the whole model on one rank: loss
// and gradients, with all dropout masks, for every kind of block.
#include "lib/model/tensor_parallel.h"

#include "tests/thread_ranks.h"
#include "tests/unit/model/small_model.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr double smoothing = .1;

// The results of one step: sums of the record, gradients in the block's layout.
struct Step {
  StepRecord record;
  std::vector<double> gradients;
};

std::vector<Sentence> text() {
  return {sentence_of(5, 9, 12), sentence_of(6, 1, 1), sentence_of(7, 30, 21)};
}

DropoutRates masks(const StepRecord* record) { return {.1, .2, .3, 17, record}; }

StepRecord third_step() {
  StepRecord r;
  r.step = 3;
  r.loss_scale = .01;
  return r;
}

// The sentences with the token ids of a shard; labels are those of the whole model.
std::vector<Sentence> as_known(std::vector<Sentence> sentences, const Parameters& part) {
  const ModelConfig& whole = part.whole();
  const auto own = [&](size_t side, std::vector<int32_t>& ids) {
    ids = shard_ids(part.shard().of(whole.sides[side].vocabulary), ids);
  };
  for (Sentence& s : sentences) {
    own(0, s.source);
    own(whole.sides.size() - 1, s.target);
  }
  return sentences;
}

Step step_of(Backend& backend, Parameters& parameters, bool recompute) {
  const Transformer model(backend, parameters, 80);
  const ModelShard& part = parameters.shard();
  const size_t sides = parameters.config().sides.size();
  Record record(backend);
  record.set(third_step());
  const PackedBatch batch(backend, as_known(text(), parameters), sides);
  parameters.begin_step();
  const auto run = [&](Context& context) {
    context.recording = true;
    context.recompute = recompute;
    const Tensor logits = model.forward(context, batch.sides, masks(record.data));
    const int64_t tokens = parameters.whole().target().vocabulary;
    if (part.whole()) {
      cross_entropy(context, logits, batch.label_ids, tokens, smoothing, record.data);
    } else {
      const ElementRange own = part.of(tokens);
      split_cross_entropy(context, logits, batch.label_ids, {own.first, own.count, tokens},
                          smoothing, record.data, *part.ranks);
    }
    context.backward();
  };
  Arena arena(backend, peak_of(backend, parameters.dtype(), run));
  parameters.begin_step();
  Context context(backend, arena, parameters.dtype());
  run(context);
  parameters.finish_gradients();
  return {record.get(), to_host(backend, parameters.gradients())};
}

// The results of all shards, their gradients joined by gather_shards(), and each shard's own
// gradients of the replicated parameters.
struct Found {
  std::vector<Step> parts;
  std::vector<double> whole;             // joined
  std::vector<std::vector<double>> own;  // by shard: replicated parameters
};

std::vector<double> common(const Parameters& p) {
  std::vector<double> all;
  for (const ParameterEntry& e : p.table()) {
    if (e.split != Split::none) continue;
    const std::vector<double> values = to_host(p.backend(), p.entry_of(p.gradients(), e));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

Found run_parts(Parameters& whole, int count, bool recompute) {
  Found found;
  found.parts.resize(size_t(count));
  found.own.resize(size_t(count));
  on_ranks(count, [&](Communicator& ranks) {
    Backend backend = make_backend(Device::cpu, 1);
    const int me = ranks.rank();
    Parameters part =
        Parameters::for_training(backend, whole.whole(), whole.dtype(), {}, {me, count, &ranks});
    scatter_shards(part, me == 0 ? whole.fp32_weights() : Matrix{}, part.fp32_weights());
    part.refresh_bf16_weights();
    found.parts[size_t(me)] = step_of(backend, part, recompute);
    found.own[size_t(me)] = common(part);
    // The whole model's unused optimizer state holds the result.
    gather_shards(part, part.gradients(), me == 0 ? whole.optimizer_state().first : Matrix{});
  });
  found.whole = to_host(whole.backend(), whole.optimizer_state().first);
  return found;
}

void check_close(const std::vector<double>& got, const std::vector<double>& wanted, double within) {
  double off = 0, largest = 0;
  BOOST_REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    off = std::max(off, std::isnan(got[i]) ? INFINITY : std::abs(got[i] - wanted[i]));
    largest = std::max(largest, std::abs(wanted[i]));
  }
  BOOST_TEST(largest > 0);
  BOOST_TEST(off < within * largest);
}

void check(const ModelConfig& config, int count, DType dtype, double within,
           bool recompute = false) {
  Backend backend = make_backend(Device::cpu, 1);
  Parameters whole = Parameters::for_training(backend, config, dtype);
  fill_weights(backend, whole);
  const Step one = step_of(backend, whole, recompute);
  const Found split = run_parts(whole, count, recompute);
  const StepRecord& first = split.parts.front().record;
  BOOST_TEST(std::abs(first.loss - one.record.loss) < within * one.record.loss);
  BOOST_TEST(std::abs(first.nll - one.record.nll) < within * one.record.nll);
  BOOST_TEST(first.correct == one.record.correct);
  for (const Step& step : split.parts)
    BOOST_TEST((step.record.loss == first.loss && step.record.nll == first.nll));
  check_close(split.whole, one.gradients, 10 * within);
  for (const std::vector<double>& own : split.own) BOOST_TEST((own == split.own.front()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_parallel)

BOOST_AUTO_TEST_CASE(shares) {
  for (const int64_t n : {4, 37, 300})
    for (int count = 1; count <= 4; ++count) {
      int64_t end = 0;
      for (int i = 0; i < count; ++i) {
        const ElementRange share = ModelShard{i, count, nullptr}.of(n);
        BOOST_TEST(share.first == end);
        BOOST_TEST((share.count == n / count || share.count == n / count + 1));
        end = share.first + share.count;
      }
      BOOST_TEST(end == n);
    }
  const std::vector<int32_t> ids{3, 4, 7, 8, 0}, own = shard_ids({4, 4}, ids);
  BOOST_TEST(own == (std::vector<int32_t>{-1, 0, 3, -1, -1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_divided) {
  ModelConfig c = small_config();
  check_shards(c, 4);
  BOOST_CHECK_THROW(check_shards(c, 3), UsageError);
  c.kv_heads = 2;
  BOOST_CHECK_THROW(check_shards(c, 4), UsageError);
  c.kv_heads = 4, c.head_norm = true;
  BOOST_CHECK_THROW(check_shards(c, 4), UsageError);
  c.head_norm = false, c.d_ff = 70;
  BOOST_CHECK_THROW(check_shards(c, 4), UsageError);
}

BOOST_AUTO_TEST_CASE(the_papers_model) {
  for (const int count : {2, 4}) {
    check(small_config(), count, DType::f64, 1e-14);
    check(small_config(), count, DType::f32, 1e-6);
  }
  check(small_config(), 2, DType::bf16, 1e-2);
}

BOOST_AUTO_TEST_CASE(other_blocks) {
  check(small_config("pre", "learned"), 2, DType::f64, 1e-14);
  for (const ModelConfig& c : later_configs())
    if (c.key_heads() % 2 == 0 && !c.exotic()) check(c, 2, DType::f64, 1e-14);
  for (const Tie tie : {Tie::target, Tie::none}) {
    ModelConfig c = small_config();
    c.tie = tie;
    c.set_vocabularies({41, 37});
    check(c, 4, DType::f64, 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(one_stack) {
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder}) {
    check(small_config("pre", "rotary", kind), 4, DType::f64, 1e-14);
    check(small_config("post", "alibi", kind), 4, DType::f64, 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(computed_again_in_backward) {
  check(small_config(), 2, DType::f64, 1e-14, true);
}

BOOST_AUTO_TEST_SUITE_END()
