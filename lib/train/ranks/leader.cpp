#include "lib/train/ranks/leader.h"

#include <signal.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/checkpoint/judgement.h"
#include "lib/tensor/precision.h"
#include "lib/train/ranks/rank_mover.h"
#include "lib/train/run/parts.h"
#include "lib/train/run/time_budget.h"

namespace tx {

namespace {

// `text` of rank 0, on every rank.
std::string broadcast(Communicator& ranks, std::string text) {
  uint64_t size = text.size();
  ranks.broadcast(&size, sizeof size);
  text.resize(size);
  ranks.broadcast(text.data(), size);
  return text;
}

// The ids of a text, which every rank has in a file of this name.
Json describe_text(const IdCache& text) {
  return {{"path", std::filesystem::absolute(text.path()).string()}, {"checksum", text.checksum()}};
}

std::unique_ptr<IdCache> open_text(const Json& described) {
  const std::string path = described.at("path").get<std::string>();
  auto text = std::make_unique<IdCache>(path);
  if (text->checksum() != described.at("checksum").get<std::string>())
    throw DataError(path + " does not hold the text of rank 0");
  return text;
}

// What of the options cannot be had where layers lie on several ranks.
void check_parts(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel;
  if (parts == 1) return;
  const std::string option = "--tensor-parallel " + std::to_string(parts);
  if (ranks % parts != 0)
    throw UsageError(option + " needs a multiple of " + std::to_string(parts) +
                     " ranks, and there " + (ranks == 1 ? "is 1" : "are " + std::to_string(ranks)) +
                     ": start them with mpirun -n " + std::to_string(parts) +
                     ", or give --tensor-parallel 1");
  if (options.device != "cpu") throw UsageError(option + " is for processors: give --device cpu");
  if (!options.guided_alignment.empty())
    throw UsageError(option + " cannot be had with --guided-alignment");
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric))
      throw UsageError(option + " cannot be had with --valid-metric " + metric +
                       ": give --valid-command, which is handed the saved model");
}

void check_batches(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel, shares = ranks / parts;
  if (options.accumulate >= shares) return;
  throw UsageError("--accumulate " + std::to_string(options.accumulate) + " is less than the " +
                   std::to_string(shares) +
                   (parts == 1 ? " ranks" : " models that the ranks have") +
                   ", and each takes one of the batches of a step at least: give --accumulate " +
                   std::to_string(shares) + " or more, or start fewer ranks");
}

}  // namespace

void Leader::check(const TrainOptions& options) const {
  check_parts(options, ranks());
  if (!ranks_) return;
  check_batches(options, ranks());
  if (options.device != "cuda") return;
  choose_own_gpu(*ranks_);
  const std::string reason = no_mover_reason();
  if (!reason.empty()) throw UsageError(reason);
}

void Leader::begin(TrainingParts& parts, const TrainOptions& options, const Json& given) {
  if (!ranks_) return;
  Json facts{{"options", given},
             {"threads", options.threads},
             {"products", on(parts.backend, [](auto& k) { return k.tuning(); })},
             {"batch_tokens", parts.config.at("batch_tokens_resolved")},
             {"sentinels", parts.corpora.sentinels},
             {"model", parts.parameters->config().to_json()},
             {"longest", parts.transformer->longest()},
             {"text", describe_text(*parts.corpora.train)},
             {"vocabularies", parts.vocabularies.size()},
             {"resumed", parts.former.step >= 0},
             {"feed", parts.feed->state()}};
  if (parts.corpora.valid) facts["valid_text"] = describe_text(*parts.corpora.valid);
  if (parts.scorer) facts["translated"] = parts.translated;
  broadcast(*ranks_, to_text(facts));
  for (size_t side = 0; side < parts.vocabularies.size(); ++side)
    broadcast(*ranks_, parts.vocabularies[side].bytes());
  grid_->spread(parts.parameters.get(), parts.trained(), *parts.stepper, parts.former.step >= 0);
  on(parts.backend, [](auto& k) { k.wait(); });
}

void Leader::divide(int parts) {
  if (ranks_) grid_ = std::make_shared<RankGrid>(*ranks_, parts);
}

void Leader::tell(const RankOrder& order) {
  RankOrder sent = order;
  if (ranks_) ranks_->broadcast(&sent, sizeof sent);
}

constexpr int stop_number = 1;  // of World::tell()

void Leader::step(int64_t number, double rate, double loss_limit) {
  tell({RankOrder::What::step, number, rate, loss_limit});
}

void Leader::release() { tell({RankOrder::What::release}); }

void Leader::weights(TrainingParts& parts) {
  tell({RankOrder::What::weights});
  grid_->spread(parts.parameters.get(), parts.trained(), *parts.stepper, true);
  on(parts.backend, [](auto& k) { k.wait(); });
}

Moments Leader::moments(TrainingParts& parts) {
  tell({RankOrder::What::moments});
  grid_->collect(parts.parameters.get(), parts.trained(), *parts.stepper);
  return parts.whole_moments();
}

bool Leader::weights_finite(Stepper& stepper) {
  if (grid_->divided()) tell({RankOrder::What::finite});
  return stepper.weights_finite();
}

void Leader::gradients(Stepper& stepper) {
  tell({RankOrder::What::gradients});
  stepper.gather_gradients();
}

void Leader::share(Stepper& stepper) const {
  if (Communicator* sharers = grid_->sharers()) stepper.share(*sharers);
}

void Leader::forget_steps() { tell({RankOrder::What::forget}); }

void Leader::validate() { tell({RankOrder::What::validate}); }

void Leader::stop_translating() {
  if (ranks_) ranks_->tell(stop_number);
}

void Leader::end() { tell({RankOrder::What::end}); }

namespace {

// What of a training every rank has.
class Follower {
 public:
  Follower(World& ranks, RankGrid& grid, const TrainOptions& options, const Json& facts,
           const MakeTranslationScorer& scorer)
      : ranks_(ranks), grid_(grid), backend_(make_backend(options.device, options.threads)) {
    if (const auto products = facts.at("products").get<std::string>(); !products.empty())
      on(backend_, [&](auto& k) { k.set_tuning(products); });
    text_ = open_text(facts.at("text"));
    std::vector<Vocabularies::Pointer> sides;
    for (size_t side = 0; side < facts.at("vocabularies").get<size_t>(); ++side)
      sides.push_back(parse_vocabulary(broadcast(ranks, ""), "the vocabulary of rank 0"));
    vocabularies_ = Vocabularies(sides);
    parameters_ = std::make_unique<Parameters>(
        backend_, ModelConfig::from_json(facts.at("model"), "the model of rank 0"),
        precision_dtype(options.precision), true, grid.share(), grid.part());
    transformer_ =
        std::make_unique<Transformer>(backend_, *parameters_, facts.at("longest").get<int>());
    if (facts.contains("translated")) make_scorer(options, facts.at("translated"), scorer);
    const auto sentinels = facts.at("sentinels").get<std::vector<int>>();
    feed_ = std::make_unique<Feed>(*text_, vocabularies_, options,
                                   facts.at("batch_tokens").get<int>(), sentinels);
    start_ = facts.at("feed");
    feed_->restore(start_);
    if (facts.contains("valid_text")) {
      valid_text_ = open_text(facts.at("valid_text"));
      valid_pass_ = std::make_unique<ValidPass>(*valid_text_, feed_->capacities(),
                                                options.kind == ModelKind::encoder, sentinels);
    }
    const size_t arena =
        Stepper::plan(backend_, *parameters_, *transformer_, options, feed_->capacities());
    stepper_ = std::make_unique<Stepper>(backend_, *parameters_, *transformer_, options);
    if (scorer_) scorer_->reserve();
    if (Communicator* sharers = grid.sharers()) stepper_->share(*sharers);
    stepper_->reserve(arena, options.accumulate);
    grid.spread(nullptr, *parameters_, *stepper_, facts.at("resumed").get<bool>());
    stepper_->rehearse(worst_batch(feed_->lengths(), feed_->capacities(), feed_->growth()));
  }

  // What was told is done, and its faults are known, before the next is heard.
  void obey() {
    StepRecord record;
    for (;;) {
      on(backend_, [](auto& k) { k.wait(); });
      RankOrder order;
      ranks_.broadcast(&order, sizeof order);
      switch (order.what) {
        case RankOrder::What::step:
          stepper_->launch(feed_->next(), order.number, order.rate, order.loss_limit);
          stepper_->prepare(feed_->read_ahead());
          record = stepper_->finish();
          break;
        case RankOrder::What::release:
          record = stepper_->release(record);
          break;
        case RankOrder::What::weights:
          grid_.spread(nullptr, *parameters_, *stepper_, true);
          break;
        case RankOrder::What::moments:
          grid_.collect(nullptr, *parameters_, *stepper_);
          break;
        case RankOrder::What::finite:
          stepper_->weights_finite();
          break;
        case RankOrder::What::gradients:
          stepper_->gather_gradients();
          break;
        case RankOrder::What::validate:
          validate();
          break;
        case RankOrder::What::forget:
          forget_steps(*feed_, start_, *parameters_);
          break;
        case RankOrder::What::end:
          return;
      }
    }
  }

 private:
  void make_scorer(const TrainOptions& options, const Json& lines,
                   const MakeTranslationScorer& make) {
    TranslationTask task;
    for (const std::string& metric : options.valid_metric)
      if (is_translated(metric)) task.metrics.push_back(metric);
    task.sources = lines.get<std::vector<std::string>>();
    task.vocabularies = vocabularies_;
    task.threads = options.threads;
    task.rank = ranks_.rank();
    task.ranks = ranks_.size();
    scorer_ = make(*parameters_, std::move(task));
  }

  void validate() {
    valid_pass_->run(grid_.sharers(), [this](const Batch& batch, StepRecord& sums) {
      stepper_->evaluate(batch, sums);
    });
    if (scorer_) scorer_->score([this] { return ranks_.told() == stop_number; }, &ranks_);
  }

  World& ranks_;
  RankGrid& grid_;
  Backend backend_;
  std::unique_ptr<IdCache> text_, valid_text_;
  Vocabularies vocabularies_;
  std::unique_ptr<Parameters> parameters_;
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<TranslationScorer> scorer_;  // null: no metric translates
  std::unique_ptr<ValidPass> valid_pass_;      // null: there is no validation text
  Json start_;                                 // of the feed
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace

int follow(World& ranks, TrainOptions& options, Options& given,
           const MakeTranslationScorer& scorer) {
  RankGrid grid(ranks, options.tensor_parallel);
  const Json facts = parse_json(broadcast(ranks, ""), "the options of rank 0");
  // From here on rank 0 heeds signals, and ends the others.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::signal(signal, SIG_IGN);
  given.from_json(facts.at("options"), "the options of rank 0");
  if (given.to_json() != facts.at("options")) throw Error("other options than those of rank 0");
  options.threads = facts.at("threads").get<int>();
  if (options.device == "cuda") choose_own_gpu(ranks);
  Follower(ranks, grid, options, facts, scorer).obey();
  return 0;
}

}  // namespace tx
