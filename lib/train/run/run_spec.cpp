#include "lib/train/run/run_spec.h"

#include <filesystem>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/subword/mapped.h"
#include "lib/train/plan/resolve.h"
#include "lib/train/ranks/shards.h"
#include "lib/train/step/feed.h"

namespace tx {
namespace fs = std::filesystem;

int RunSpec::longest_sentence(const TrainOptions& options) const {
  int longest = 0;
  for (const PairLengths& text : corpora.lengths()) {
    const int times = &text.cache() == corpora.train.get() ? Feed::growth(options) : 1;
    for (int side = 0; side < text.sides(); ++side)
      longest = std::max(longest, times * text.longest(side) + 1);
  }
  return longest;
}

RunSpec make_run_spec(const TrainOptions& options, TrainingData data, const RunDirectory& directory,
                      const std::string& model, Json& config) {
  RunSpec spec;
  spec.vocabularies = std::move(data.vocabularies);
  spec.corpora = std::move(data.corpora);
  spec.model = options.model_config();
  spec.model.set_vocabularies(spec.vocabularies.sizes());
  if (!model.empty()) spec.model = ModelReader(model).config();
  spec.model.resolve();
  if (spec.model.shares_embeddings() && !spec.vocabularies.shared() &&
      !list_same_tokens(spec.vocabularies.source(), spec.vocabularies.target()))
    throw UsageError("--tie " + spec.model.tie.name +
                     " needs a joint vocabulary, but --vocab-src and --vocab-tgt differ: use "
                     "--tie target");
  const int longest = spec.longest_sentence(options);
  if (spec.model.learned_positions() &&
      longest > spec.model.max_positions - spec.model.position_offset)
    throw UsageError("--max-positions " + std::to_string(spec.model.max_positions) +
                     " is too small: the longest sentence has " + std::to_string(longest) +
                     " tokens, including </s>: give --max-positions " +
                     std::to_string(longest + spec.model.position_offset) +
                     ", or shorter text with " +
                     (options.one_text() ? "--context" : "--max-length"));
  spec.translations = read_translation_task(options, directory.path(), config);
  if (!spec.translations.metrics.empty())
    keep_translation_text(options, directory, model.empty(), config);
  spec.batch_tokens = config.value("batch_tokens_resolved", 0);
  spec.products = config.value("products", std::string());
  spec.frozen_tokens = config.value("frozen_tokens", spec.frozen_tokens);
  if (spec.frozen_tokens.size() != (options.freeze_old_tokens ? spec.model.sides.size() : 0))
    throw DataError(directory.file("config.json") + ": frozen_tokens does not fit the options");
  return spec;
}

namespace {

// A text cache, which every rank opens under this path.
Json describe_text(const std::unique_ptr<IdCache>& text) {
  if (!text) return nullptr;
  return {{"path", fs::absolute(text->path()).string()}, {"checksum", text->checksum()}};
}

std::unique_ptr<IdCache> open_text(const Json& described) {
  if (described.is_null()) return nullptr;
  const std::string path = described.at("path").get<std::string>();
  auto text = std::make_unique<IdCache>(path);
  if (text->checksum() != described.at("checksum").get<std::string>())
    throw DataError(path + " differs from the text of rank 0");
  return text;
}

}  // namespace

void send_run_spec(const RunSpec& spec, const TrainOptions& options, const Replicas& replicas) {
  if (!replicas.all()) return;
  replicas.agree(to_text(Json{{"options", options_json(options)},
                              {"threads", options.threads},
                              {"sentinels", spec.corpora.sentinels},
                              {"frozen_tokens", spec.frozen_tokens},
                              {"model", spec.model.to_json()},
                              {"text", describe_text(spec.corpora.train)},
                              {"valid_text", describe_text(spec.corpora.valid)},
                              {"translated", spec.translations.sources},
                              {"vocabularies", spec.vocabularies.size()}}));
  for (size_t side = 0; side < spec.vocabularies.size(); ++side)
    replicas.agree(spec.vocabularies[side].bytes());
}

ReceivedRun receive_run_spec(const TrainOptions& options, const Options& given,
                             const Replicas& replicas) {
  const std::string name = "the options of rank 0";
  const Json facts = parse_json(replicas.agree(""), name);
  // with_values() keeps options given here; rank 0 has replaced --preset auto by its choice.
  TrainOptions own = options;
  if (own.preset == Preset::automatic) own.preset.name = facts.at("options").at("preset");
  own = with_values(own, given, facts.at("options"), name);
  if (options_json(own) != facts.at("options")) throw Error("options differ from rank 0's");
  own.threads = facts.at("threads").get<int>();
  if (own.device == Device::cuda) choose_own_gpu(*replicas.all());
  RunSpec spec;
  std::vector<Vocabularies::Pointer> sides;
  for (size_t side = 0; side < facts.at("vocabularies").get<size_t>(); ++side)
    sides.push_back(parse_vocabulary(replicas.agree(""), "the vocabulary of rank 0"));
  spec.vocabularies = Vocabularies(sides);
  spec.corpora.train = open_text(facts.at("text"));
  spec.corpora.valid = open_text(facts.at("valid_text"));
  spec.corpora.sentinels = facts.at("sentinels").get<std::vector<int>>();
  spec.frozen_tokens = facts.at("frozen_tokens").get<std::vector<int64_t>>();
  spec.model = ModelConfig::from_json(facts.at("model"), "the model of rank 0");
  spec.translations.sources = facts.at("translated").get<std::vector<std::string>>();
  for (const std::string& metric : own.valid_metric)
    if (is_translated(metric)) spec.translations.metrics.push_back(metric);
  spec.translations.threads = own.threads;
  return {own, std::move(spec)};
}

}  // namespace tx
