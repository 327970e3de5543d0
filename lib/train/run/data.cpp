#include "lib/train/run/data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/checkpoint/judgement.h"
#include "lib/checkpoint/model_file.h"
#include "lib/ranks/communicator.h"
#include "lib/subword/languages.h"
#include "lib/subword/sentinels.h"
#include "lib/subword/word_count.h"
#include "lib/subword/words.h"

namespace tx {

namespace fs = std::filesystem;

namespace {

// `what` reads them a second time.
void check_regular(const std::vector<std::string>& files, const std::string& what) {
  for (const std::string& file : files) {
    struct stat info;
    if (::stat(file.c_str(), &info) != 0) throw IoError("read", file, errno);
    if (!S_ISREG(info.st_mode))
      throw UsageError(what + " reads the text twice, but " + file +
                       " is not a regular file: write it to a file first");
  }
}

std::shared_ptr<const Vocabulary> count_vocabulary(const TrainOptions& options) {
  std::vector<std::string> files = options.src;
  files.insert(files.end(), options.tgt.begin(), options.tgt.end());
  check_regular(files, "--vocab words");
  TextReader reader(files, options.strict);
  const WordCounts counts =
      count_words([&](std::string& line) { return reader.next(line); }, options.threads);
  return parse_words(train_words(counts), "--vocab words");
}

Vocabularies initial_vocabularies(const TrainOptions& options) {
  Vocabularies of_model = model_vocabularies(resolve_model(options.init));
  if (options.denoise && (!of_model.shared() || sentinels_of(of_model.source()).empty()))
    throw UsageError("--denoise needs one vocabulary for both sides with tokens " +
                     sentinel_text(0) + ", " + sentinel_text(1) + " and on, which --init " +
                     options.init + " does not have");
  check_trainable(of_model, "--init " + options.init);
  return of_model;
}

// Those of a model or its run directory, as many as there are sides.
Vocabularies borrowed_vocabularies(const TrainOptions& options, size_t sides) {
  const Vocabularies all = model_vocabularies(resolve_model(options.vocab));
  if (all.shared()) return {all.pointer(0), sides};
  if (all.size() == sides && !options.denoise) return all;
  throw UsageError("--vocab " + options.vocab +
                   " has a vocabulary for each side, but this training has one text: name one by "
                   "its file");
}

// What a cache is made of.
struct CacheText {
  std::vector<CacheSide> sides;
  std::string links;  // a file; "": none
};

// A file as it is now, without reading it.
std::string state_of(const std::string& file) {
  struct stat info;
  if (::stat(file.c_str(), &info) != 0) throw IoError("read", file, errno);
  if (!S_ISREG(info.st_mode))
    throw UsageError("--cache shares caches of regular files, but " + file + " is not one");
  return "\n" + fs::absolute(file).string() + " " + std::to_string(info.st_size) + " " +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

// The name of a shared cache: what makes two caches equal, without reading the text.
std::string shared_name(const CacheText& text, const TrainOptions& options) {
  std::string key = std::to_string(options.longest_text()) + (options.strict ? " strict" : "");
  if (options.one_text())
    key += " " + options.documents + (options.cross_documents ? " cross" : "");
  for (const CacheSide& side : text.sides) {
    key += "\n" + side.vocabulary->hash();
    for (const std::string& file : side.files) key += state_of(file);
  }
  if (!text.links.empty()) key += "\nlinks" + state_of(text.links);
  return "text-" + xxh3_hex(key.data(), key.size()) + ".ids";
}

std::string shared_path(const CacheText& text, const TrainOptions& options) {
  std::error_code error;
  fs::create_directories(options.cache, error);
  if (error) throw IoError("create", options.cache, error.value());
  return fs::absolute(options.cache).string() + "/" + shared_name(text, options);
}

void build(const std::string& path, const CacheText& text, const TrainOptions& options,
           const Log& log) {
  const int others = started_ranks() - 1;
  if (others > 0)
    log.info(counted(others, "other rank") + (others > 1 ? " wait" : " waits") +
             " until the text is read into " + path);
  CacheOptions cache;
  cache.links = text.links;
  if (options.one_text())
    cache.documents = {options.context, options.documents == "paragraphs", options.cross_documents};
  else
    cache.max_length = options.max_length;
  cache.strict = options.strict;
  cache.threads = options.threads;
  build_cache(path, text.sides, cache);
}

std::unique_ptr<IdCache> open_new(const CacheText& text, const TrainOptions& options,
                                  const std::string& own_path, const Log& log) {
  const bool shared = !options.cache.empty();
  const std::string path = shared ? shared_path(text, options) : own_path;
  if (!shared || !file_exists(path)) build(path, text, options, log);
  auto cache = std::make_unique<IdCache>(path);
  for (const std::string& warning : cache->report().warnings) log.warn(warning);
  const std::string dropped = describe_dropped(cache->report(), options.max_length);
  if (!dropped.empty()) log.warn(dropped);
  return cache;
}

// Where the ids of a run to resume lie: `noted` when it began, `own` in its directory, which may
// have moved since.
std::string find_again(const std::string& noted, const std::string& own) {
  if (file_exists(noted)) return noted;
  const bool folder = is_directory(fs::path(noted).parent_path().string());
  return folder && !file_exists(own) ? noted : own;
}

void build_again(const std::string& path, const CacheText& text, const TrainOptions& options,
                 const Log& log) try {
  log.info(path + " is missing; reading the text again");
  build(path, text, options, log);
} catch (const IoError& e) {
  throw DataError(std::string(e.what()) +
                  "; resume in the folder where the run began, or say where the text is now with "
                  "--src and --tgt, --valid-src and --valid-tgt" +
                  (text.links.empty() ? "" : ", --guided-alignment"));
}

std::unique_ptr<IdCache> open_again(const CacheText& text, const TrainOptions& options,
                                    const std::string& path, const std::string& checksum,
                                    const Log& log) {
  const bool missing = !file_exists(path);
  if (missing) build_again(path, text, options, log);
  auto cache = std::make_unique<IdCache>(path);
  if (cache->checksum() == checksum) return cache;
  const std::string other = " does not hold the text this run was started with";
  if (!missing) throw DataError(path + other + ": remove it, and it is made anew from the text");
  ::unlink(path.c_str());  // made here: under its name others would take it for the right one
  throw DataError(text.sides.front().files.front() + other);
}

// Standard input can be one of the inputs, once.
void check_standard_input(const TrainOptions& options) {
  int count = 0;
  for (const auto* files : {&options.src, &options.tgt, &options.valid_src, &options.valid_tgt})
    count += int(std::count(files->begin(), files->end(), "-"));
  count += options.guided_alignment == "-";
  if (count > 1)
    throw UsageError("standard input (-) can be read once, but is given " + std::to_string(count) +
                     " times");
}

}  // namespace

Vocabularies model_vocabularies(const std::string& model) {
  return ModelReader(model).vocabularies();
}

Vocabularies load_vocabularies(const TrainOptions& options) {
  const bool apart = !options.vocab_src.empty() || !options.vocab_tgt.empty();
  if (!options.init.empty() && (apart || !options.vocab.empty()))
    throw UsageError("--init takes the vocabulary from " + options.init + ": leave out " +
                     (apart ? "--vocab-src and --vocab-tgt" : "--vocab"));
  if (apart && !options.vocab.empty())
    throw UsageError("--vocab is for both sides: leave out --vocab-src and --vocab-tgt");
  if (apart && (options.vocab_src.empty() || options.vocab_tgt.empty()))
    throw UsageError("--vocab-src and --vocab-tgt go together; one for both sides is --vocab");
  if (!options.init.empty()) return initial_vocabularies(options);
  if (apart)
    return {{open_vocabulary(options.vocab_src, false), open_vocabulary(options.vocab_tgt, true)}};
  if (options.vocab.empty())
    throw UsageError("no vocabulary: give --vocab FILE (made by tx-bpe train) or --vocab words");
  const size_t sides = options.kind == ModelKind::encoder_decoder ? 2 : 1;
  Vocabularies all;
  if (options.vocab == "words")
    all = {count_vocabulary(options), sides};
  else if (names_model(options.vocab))
    all = borrowed_vocabularies(options, sides);
  else
    all = {load_vocabulary(options.vocab), sides};
  if (options.denoise) all = {with_sentinels(all.pointer(0)), sides};
  return all;
}

std::vector<PairLengths> Corpora::lengths() const {
  std::vector<PairLengths> all{train_lengths()};
  if (valid) all.emplace_back(*valid, sentinels.size());
  return all;
}

Corpora open_corpora(const TrainOptions& options, const Vocabularies& v, const RunDirectory& run,
                     bool resumed, Json& config, const Log& log) {
  Corpora c;
  if (options.denoise) c.sentinels = sentinels_of(v.source());
  check_standard_input(options);
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric))
      for (const auto* files : {&options.valid_src, &options.valid_tgt})
        check_regular(*files, "--valid-metric " + metric);
  const auto open = [&](const std::vector<std::string>& src, const std::vector<std::string>& tgt,
                        const std::string& links, const std::string& name, const std::string& key) {
    CacheText text{{{src, &v.source()}}, links};
    if (!options.one_text()) text.sides.push_back({tgt, &v.target()});
    const std::string own = run.file(name + ".ids");
    if (resumed)
      return open_again(text, options, find_again(config.value(key + "_cache", own), own),
                        json_value<std::string>(config, key.c_str(), run.file("config.json")), log);
    auto cache = open_new(text, options, own, log);
    config[key] = cache->checksum();
    if (!options.cache.empty()) config[key + "_cache"] = cache->path();
    return cache;
  };
  c.train = open(options.src, options.tgt, options.guided_alignment, "train", "data");
  if (!options.valid_src.empty())
    c.valid = open(options.valid_src, options.valid_tgt, "", "valid", "valid_data");
  return c;
}

TrainingData open_data(const TrainOptions& options, const RunDirectory& run, Json& config,
                       const Log& log) {
  TrainingData data{load_vocabularies(options), {}};
  data.corpora = open_corpora(options, data.vocabularies, run, false, config, log);
  return data;
}

TrainingData reopen_data(const TrainOptions& options, const RunDirectory& run, int64_t step,
                         Json& config, const Log& log) {
  TrainingData data{model_vocabularies(run.model(step)), {}};
  data.corpora = open_corpora(options, data.vocabularies, run, true, config, log);
  return data;
}

}  // namespace tx
