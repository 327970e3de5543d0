#include "lib/train/leader.h"

#include <signal.h>

#include <filesystem>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/tensor/precision.h"
#include "lib/train/parts.h"
#include "lib/train/settings.h"

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

void broadcast(Communicator& ranks, Matrix block) {
  ranks.broadcast(block.data, size_t(block.cols) * size_of(block.dtype));
}

void broadcast_weights(Communicator& ranks, const Parameters& of) {
  for (const Matrix& block : {of.master(), of.moment1(), of.moment2()}) broadcast(ranks, block);
}

std::string own_version() { return TX_VERSION " (commit " TX_COMMIT ")"; }

}  // namespace

void Leader::check(const TrainOptions& options) const {
  if (!ranks_) return;
  if (options.accumulate < ranks())
    throw UsageError("--accumulate " + std::to_string(options.accumulate) + " is less than the " +
                     std::to_string(ranks()) +
                     " ranks, and each takes one of the batches of a step at least: give "
                     "--accumulate " +
                     std::to_string(ranks()) + " or more, or start fewer ranks");
  if (options.device != "cpu")
    throw UsageError("several ranks train on processors: give --device cpu, or start one rank");
}

void Leader::begin(TrainingParts& parts, const TrainOptions& options, const Json& given) {
  if (!ranks_) return;
  broadcast(*ranks_, own_version());
  const IdCache& text = *parts.corpora.train;
  const Json facts{{"options", given},
                   {"threads", options.threads},
                   {"batch_tokens", parts.config.at("batch_tokens_resolved")},
                   {"sentinels", parts.corpora.sentinels},
                   {"model", parts.parameters->config().to_json()},
                   {"longest", parts.transformer->longest()},
                   {"text", std::filesystem::absolute(text.path()).string()},
                   {"checksum", text.checksum()},
                   {"vocabularies", parts.vocabularies.size()},
                   {"feed", parts.feed->state()}};
  broadcast(*ranks_, to_text(facts));
  for (size_t side = 0; side < parts.vocabularies.size(); ++side)
    broadcast(*ranks_, parts.vocabularies[side].bytes());
  broadcast_weights(*ranks_, *parts.parameters);
  parts.stepper->share(*ranks_);
}

void Leader::tell(const RankOrder& order) {
  RankOrder sent = order;
  if (ranks_) ranks_->broadcast(&sent, sizeof sent);
}

void Leader::step(int64_t number, double rate, double loss_limit) {
  tell({RankOrder::What::step, number, rate, loss_limit});
}

void Leader::release() { tell({RankOrder::What::release}); }

void Leader::weights(const Parameters& from) {
  tell({RankOrder::What::weights});
  if (ranks_) broadcast_weights(*ranks_, from);
}

void Leader::end() { tell({RankOrder::What::end}); }

namespace {

// What of a training every rank has.
class Follower {
 public:
  Follower(Communicator& ranks, const TrainOptions& options, const Json& facts)
      : ranks_(ranks), backend_(make_backend(options.device, options.threads)) {
    const std::string path = facts.at("text").get<std::string>();
    text_ = std::make_unique<IdCache>(path);
    if (text_->checksum() != facts.at("checksum").get<std::string>())
      throw DataError(path + " does not hold the text that rank 0 trains on");
    std::vector<Vocabularies::Pointer> sides;
    for (size_t side = 0; side < facts.at("vocabularies").get<size_t>(); ++side)
      sides.push_back(parse_vocabulary(broadcast(ranks, ""), "the vocabulary of rank 0"));
    vocabularies_ = Vocabularies(sides);
    parameters_ = std::make_unique<Parameters>(
        backend_, ModelConfig::from_json(facts.at("model"), "the model of rank 0"),
        precision_dtype(options.precision), true);
    receive_weights();
    transformer_ =
        std::make_unique<Transformer>(backend_, *parameters_, facts.at("longest").get<int>());
    FeedSettings feed = feed_settings(options);
    feed.sentinels = facts.at("sentinels").get<std::vector<int>>();
    feed.batch_tokens = facts.at("batch_tokens").get<int>();
    feed_ = std::make_unique<Feed>(*text_, vocabularies_, feed);
    feed_->restore(facts.at("feed"));
    const StepSettings settings = step_settings(options);
    const size_t arena =
        Stepper::plan(backend_, *parameters_, *transformer_, settings, feed_->capacities());
    stepper_ = std::make_unique<Stepper>(backend_, *parameters_, *transformer_, settings);
    stepper_->reserve(arena);
    stepper_->share(ranks);
    stepper_->rehearse(worst_batch(feed_->lengths(), feed_->capacities(), feed_->growth()));
  }

  void obey() {
    StepRecord record;
    for (;;) {
      RankOrder order;
      ranks_.broadcast(&order, sizeof order);
      switch (order.what) {
        case RankOrder::What::step:
          record = stepper_->step(feed_->next(), order.number, order.rate, order.loss_limit);
          break;
        case RankOrder::What::release:
          record = stepper_->release(record);
          break;
        case RankOrder::What::weights:
          receive_weights();
          break;
        case RankOrder::What::end:
          return;
      }
    }
  }

 private:
  void receive_weights() {
    broadcast_weights(ranks_, *parameters_);
    parameters_->refresh_copy();
  }

  Communicator& ranks_;
  Backend backend_;
  std::unique_ptr<IdCache> text_;
  Vocabularies vocabularies_;
  std::unique_ptr<Parameters> parameters_;
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace

int follow(Communicator& ranks, TrainOptions& options, Options& given) try {
  // Rank 0 heeds signals, and ends the others.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::signal(signal, SIG_IGN);
  const std::string version = broadcast(ranks, "");
  if (version != own_version())
    throw Error("tx " + own_version() + ", but rank 0 has tx " + version);
  const Json facts = parse_json(broadcast(ranks, ""), "the options of rank 0");
  given.from_json(facts.at("options"), "the options of rank 0");
  if (given.to_json() != facts.at("options")) throw Error("other options than those of rank 0");
  options.threads = facts.at("threads").get<int>();
  Follower(ranks, options, facts).obey();
  return 0;
} catch (const Error& e) {
  throw Error("rank " + std::to_string(ranks.rank()) + " on " + ranks.host() + ": " + e.what());
}

}  // namespace tx
