#include "lib/train/run/run_spec.h"

#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/subword/mapped.h"
#include "lib/text/corpus.h"
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

namespace {

// In the run directory: the validation text if it is translated, an object for each line.
std::string kept_text(const std::string& run) { return run + "/valid.jsonl"; }

// Relative names were given in `directory`.
std::vector<std::string> files_in(const std::string& directory, std::vector<std::string> files) {
  for (std::string& file : files) file = (fs::path(directory) / file).string();
  return files;
}

void keep_text(const TrainOptions& options, const std::string& directory, const std::string& path) {
  TextReader sources(files_in(directory, options.valid_src), options.strict);
  TextReader references(files_in(directory, options.valid_tgt), options.strict);
  write_atomically(path, [&](Writer& out) {
    for (std::string source, reference; sources.next(source) && references.next(reference);)
      out.write(to_text(Json{{"source", source}, {"reference", reference}}) + "\n");
  });
}

}  // namespace

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
  const std::string kept = kept_text(directory.path());
  if (!spec.translations.metrics.empty() && (model.empty() || !file_exists(kept))) {
    directory.claim(kept);
    keep_text(options, config["valid_text"]["directory"].get<std::string>(), kept);
  }
  spec.batch_tokens = config.value("batch_tokens_resolved", 0);
  spec.products = config.value("products", std::string());
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

void send_run_spec(const RunSpec& spec, const TrainOptions& options, const Options& given,
                   const Replicas& replicas) {
  if (!replicas.all()) return;
  replicas.agree(to_text(Json{{"options", given.to_json()},
                              {"threads", options.threads},
                              {"sentinels", spec.corpora.sentinels},
                              {"model", spec.model.to_json()},
                              {"text", describe_text(spec.corpora.train)},
                              {"valid_text", describe_text(spec.corpora.valid)},
                              {"translated", spec.translations.sources},
                              {"vocabularies", spec.vocabularies.size()}}));
  for (size_t side = 0; side < spec.vocabularies.size(); ++side)
    replicas.agree(spec.vocabularies[side].bytes());
}

RunSpec receive_run_spec(TrainOptions& options, Options& given, const Replicas& replicas) {
  const std::string name = "the options of rank 0";
  const Json facts = parse_json(replicas.agree(""), name);
  // from_json() keeps options given here, and rank 0 has replaced a given --preset auto by its
  // choice.
  if (options.preset == "auto") options.preset = facts.at("options").at("preset");
  given.from_json(facts.at("options"), name);
  if (given.to_json() != facts.at("options")) throw Error("options differ from rank 0's");
  options.threads = facts.at("threads").get<int>();
  if (options.device == "cuda") choose_own_gpu(*replicas.all());
  RunSpec spec;
  std::vector<Vocabularies::Pointer> sides;
  for (size_t side = 0; side < facts.at("vocabularies").get<size_t>(); ++side)
    sides.push_back(parse_vocabulary(replicas.agree(""), "the vocabulary of rank 0"));
  spec.vocabularies = Vocabularies(sides);
  spec.corpora.train = open_text(facts.at("text"));
  spec.corpora.valid = open_text(facts.at("valid_text"));
  spec.corpora.sentinels = facts.at("sentinels").get<std::vector<int>>();
  spec.model = ModelConfig::from_json(facts.at("model"), "the model of rank 0");
  spec.translations.sources = facts.at("translated").get<std::vector<std::string>>();
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric)) spec.translations.metrics.push_back(metric);
  spec.translations.threads = options.threads;
  return spec;
}

namespace {

std::vector<std::string> first_lines(const std::vector<std::string>& files, int64_t max,
                                     bool strict) {
  TextReader reader(files, strict);
  std::vector<std::string> lines;
  for (std::string line; (max == 0 || int64_t(lines.size()) < max) && reader.next(line);)
    lines.push_back(line);
  return lines;
}

std::string hash_of(const TranslationTask& task) {
  std::string all;
  for (const auto* lines : {&task.sources, &task.references})
    for (const std::string& line : *lines) all += line + "\n";
  return xxh3_hex(all.data(), all.size());
}

// From the files of the options, whose relative names were given in `directory`.
void read_text(const TrainOptions& options, const std::string& directory, TranslationTask& task) {
  const auto first = [&](const std::vector<std::string>& files) {
    return first_lines(files_in(directory, files), options.valid_lines, options.strict);
  };
  task.sources = first(options.valid_src);
  task.references = first(options.valid_tgt);
  if (task.sources.size() == task.references.size() && !task.sources.empty()) return;
  throw DataError("--valid-metric " + task.metrics.front() +
                  " needs as many target as source lines: " + options.valid_src.front() + " has " +
                  counted(int64_t(task.sources.size()), "line") + ", " + options.valid_tgt.front() +
                  " has " + std::to_string(task.references.size()));
}

void read_kept_text(const std::string& path, int64_t max, TranslationTask& task) {
  LineReader reader(path);
  for (std::string line; (max == 0 || reader.line_number() < max) && reader.next(line);) {
    const std::string where = path + ":" + std::to_string(reader.line_number());
    const Json pair = parse_json(line, where);
    task.sources.push_back(json_value<std::string>(pair, "source", where));
    task.references.push_back(json_value<std::string>(pair, "reference", where));
  }
}

}  // namespace

TranslationTask read_translation_task(const TrainOptions& options, const std::string& run,
                                      Json& config) {
  TranslationTask task;
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric)) task.metrics.push_back(metric);
  if (task.metrics.empty()) return task;
  task.threads = options.threads;
  const Json before = config.contains("valid_text") ? config["valid_text"] : Json::object();
  const auto directory = json_value<std::string>(before, "directory", "valid_text", "");
  const bool kept = !directory.empty() && file_exists(kept_text(run));
  bool there = true;
  for (const auto* files : {&options.valid_src, &options.valid_tgt})
    there = there && std::ranges::all_of(files_in(directory, *files), file_exists);
  if (kept && !there)
    read_kept_text(kept_text(run), options.valid_lines, task);
  else
    read_text(options, directory, task);
  Json text{{"lines", options.valid_lines}, {"xxh3", hash_of(task)}};
  if (before.contains("xxh3") && before.value("lines", Json()) == text["lines"] &&
      before["xxh3"] != text["xxh3"])
    throw DataError("the first lines of " + options.valid_src.front() + " or " +
                    options.valid_tgt.front() +
                    " changed since this run was started: scores would not be comparable");
  text["directory"] = directory.empty() ? fs::current_path().string() : directory;
  config["valid_text"] = text;
  return task;
}

}  // namespace tx
