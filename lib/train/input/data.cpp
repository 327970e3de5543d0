#include "lib/train/input/data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/split.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/ranks/communicator.h"
#include "lib/subword/languages.h"
#include "lib/subword/token_counts.h"
#include "lib/subword/words.h"
#include "lib/train/input/growth.h"

namespace tx {
namespace fs = std::filesystem;
namespace {

// The stat() of a file. UsageError, beginning with `why`, unless it is a regular file.
struct stat regular_file(const std::string& file, const std::string& why) {
  struct stat info = {};
  if (file != "-" && ::stat(file.c_str(), &info) != 0) throw IoError("read", file, errno);
  if (!S_ISREG(info.st_mode))
    throw UsageError(why + ", but " + (file == "-" ? "standard input" : file) +
                     " is not a regular file: save it to a file first");
  return info;
}

// `what`: the option that reads the files twice.
void check_regular(const std::vector<std::string>& files, const std::string& what) {
  for (const std::string& file : files) regular_file(file, what + " reads the text twice");
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
    throw UsageError("--denoise needs a joint vocabulary with the tokens " + sentinel_text(0) +
                     ", " + sentinel_text(1) + ", ..., which --init " + options.init + " lacks");
  check_trainable(of_model, "--init " + options.init);
  if (!options.guided_alignment.empty())
    refuse_languages(of_model, "--guided-alignment", "--init " + options.init);
  return options.adds_tokens() ? grown_vocabularies(of_model, options) : of_model;
}

// Those of a model or its run directory, one per side.
Vocabularies borrowed_vocabularies(const TrainOptions& options, size_t sides) {
  const Vocabularies all = model_vocabularies(resolve_model(options.vocab));
  if (all.shared()) return {all.pointer(0), sides};
  if (all.size() == sides && !options.denoise) return all;
  throw UsageError("--vocab " + options.vocab +
                   " has two vocabularies, but this run trains on one text: give one of them");
}

// The files that a cache is built from.
struct CacheText {
  std::vector<CacheSide> sides;
  std::string links;  // a file; "": none
};

// Path, inode, size and times: identify the content unread. The status time cannot be set.
std::string state_of(const std::string& file) {
  const struct stat info = regular_file(file, "--cache needs regular files");
  std::string state = "\n" + fs::absolute(file).string() + " " + std::to_string(info.st_ino) + " " +
                      std::to_string(info.st_size);
  for (const timespec& time : {info.st_mtim, info.st_ctim})
    state += " " + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  return state;
}

// The name of a shared cache: a hash of everything that determines its content.
std::string shared_name(const CacheText& text, const TrainOptions& options) {
  std::string key = std::to_string(options.longest_text()) + (options.strict ? " strict" : "");
  if (options.one_text())
    key += " " + options.documents.name + (options.cross_documents ? " cross" : "");
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
             " while the text is read into " + path);
  CacheOptions cache;
  cache.links = text.links;
  if (options.one_text()) {
    cache.context = options.context;
    cache.blank_lines = options.documents == DocumentUnit::paragraphs;
    cache.cross_documents = options.cross_documents;
  } else {
    cache.max_length = options.max_length;
  }
  cache.strict = options.strict;
  cache.threads = options.threads;
  std::error_code error;
  if (fs::is_symlink(path, error)) ::unlink(path.c_str());  // a run writes through no link
  build_cache(path, text.sides, cache);
}

std::unique_ptr<IdCache> open_new(const CacheText& text, const TrainOptions& options,
                                  const std::string& own_path, bool shared, const Log& log) {
  const std::string path = shared ? shared_path(text, options) : own_path;
  const bool found = shared && file_exists(path);
  if (!found) build(path, text, options, log);
  if (shared && !found && shared_path(text, options) != path) {
    ::unlink(path.c_str());
    throw DataError("the text changed while it was read into " + path + ": start again");
  }
  auto cache = std::make_unique<IdCache>(path);
  for (const std::string& warning : cache->report().warnings) log.warn(warning);
  const std::string dropped = describe_dropped(cache->report(), options.max_length);
  if (!dropped.empty()) log.warn(dropped);
  return cache;
}

void build_again(const std::string& path, const CacheText& text, const TrainOptions& options,
                 const Log& log) try {
  log.info(path + " is missing; reading the text again");
  build(path, text, options, log);
} catch (const IoError& e) {
  throw DataError(
      std::string(e.what()) +
      "; resume in the directory where the run began, or give the new path of the text with "
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
  const std::string other = " is not the text this run was started with";
  if (!missing) throw DataError(path + other + ": remove it to build it from the text again");
  ::unlink(path.c_str());  // built here from another text; no other run may find it
  throw DataError(text.sides.front().files.front() + other);
}

}  // namespace

Vocabularies model_vocabularies(const std::string& model) {
  return ModelReader(model).vocabularies();
}

Vocabularies load_vocabularies(const TrainOptions& options) {
  const bool apart = !options.vocab_src.empty() || !options.vocab_tgt.empty();
  if (!options.init.empty() && (apart || !options.vocab.empty()))
    throw UsageError("--init uses the vocabulary of " + options.init + ": leave out " +
                     (apart ? "--vocab-src and --vocab-tgt" : "--vocab"));
  if (apart && !options.vocab.empty())
    throw UsageError("--vocab is for both sides: leave out --vocab-src and --vocab-tgt");
  if (apart && (options.vocab_src.empty() || options.vocab_tgt.empty()))
    throw UsageError(
        "--vocab-src and --vocab-tgt go together; for a joint vocabulary give --vocab");
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
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric) && !config.contains("valid_text"))
      for (const auto* files : {&options.valid_src, &options.valid_tgt})
        check_regular(*files, "--valid-metric " + metric);
  const auto open = [&](const std::vector<std::string>& src, const std::vector<std::string>& tgt,
                        const std::string& links, const std::string& name, const std::string& key) {
    CacheText text{{{src, &v.source()}}, links};
    if (!options.one_text()) text.sides.push_back({tgt, &v.target()});
    const std::string own = run.file(name + ".ids");
    // A resumed run only reads a shared cache: its path may come from another user.
    const bool shared = !resumed && !options.cache.empty();
    const std::string recorded = config.value(key + "_cache", own);
    if (resumed && config.contains(key))  // validation may be added to a run
      return open_again(text, options, file_exists(recorded) ? recorded : own,
                        json_value<std::string>(config, key.c_str(), run.file("config.json")), log);
    auto cache = open_new(text, options, own, shared, log);
    config[key] = cache->checksum();
    if (shared) config[key + "_cache"] = cache->path();
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
  if (options.freeze_old_tokens)
    config["frozen_tokens"] = model_vocabularies(resolve_model(options.init)).sizes();
  data.corpora = open_corpora(options, data.vocabularies, run, false, config, log);
  return data;
}

TrainingData reopen_data(const TrainOptions& options, const RunDirectory& run, int64_t step,
                         Json& config, const Log& log) {
  TrainingData data{model_vocabularies(run.model(step)), {}};
  data.corpora = open_corpora(options, data.vocabularies, run, true, config, log);
  return data;
}

namespace {

constexpr int64_t max_lines = 1000;
constexpr double max_share = 0.05;

struct FitSide {
  const char* name;      // for messages
  const char* question;  // the likely mistake
  std::vector<std::string> files;
  std::string vocabulary;  // its file; "" if it has none
};

TokenShares count_shares(const IdCache& cache, int side, const Vocabulary& vocabulary) {
  TokenShares shares;
  for (int64_t pair = 0; pair < std::min(cache.pairs(), max_lines); ++pair)
    shares.add(cache.ids(pair, side), vocabulary);
  return shares;
}

std::string first_pairs(const TokenShares& shares) {
  const int64_t n = shares.lines;
  return n == 1 ? "first pair" : "first " + grouped(double(n)) + " pairs";
}

std::string how_to_make_one(const TrainOptions& o, const Vocabulary& vocabulary) {
  std::string texts;
  for (const auto* files : {&o.src, &o.tgt})
    for (const std::string& file : *files) texts += " " + shell_word(file);
  const bool words = vocabulary.kind() == "words";
  return (words ? " It is a list of whole words; to train subwords, which cover every word: "
                : " To train one on this text: ") +
         ("tx-bpe train -o new.model" + texts);
}

// The possible mistakes, the most likely first.
std::string likely_cause(const TrainOptions& o, const FitSide& side, const Vocabulary& vocabulary) {
  const std::string swapped = side.question;
  if (o.vocab == "words") return "The vocabulary is the words of the training text; " + swapped;
  if (!o.init.empty()) return "Is " + o.init + " a model of other languages, or " + swapped;
  std::string out = "Is " + side.vocabulary + " of another language, or ";
  if (!o.vocab_src.empty()) out += "are --vocab-src and --vocab-tgt swapped, or ";
  return out + swapped + how_to_make_one(o, vocabulary);
}

void warn_of(const TrainOptions& options, const FitSide& side, const TokenShares& shares,
             const Vocabulary& vocabulary, const Log& log) {
  if (std::max(shares.unknown_share(), shares.byte_share()) <= max_share) return;
  log.warn(std::string(side.name) + " (" + side.files.front() +
           "): " + describe(shares, vocabulary) + " in the " + first_pairs(shares) +
           ": the vocabulary does not fit this text. " + likely_cause(options, side, vocabulary));
}

}  // namespace

void check_vocabulary_fit(const TrainOptions& o, const Vocabularies& v, const Corpora& corpora,
                          const Log& log) {
  const std::string source_file = o.vocab.empty() ? o.vocab_src : o.vocab;
  const std::string target_file = o.vocab.empty() ? o.vocab_tgt : o.vocab;
  const char* const texts = "are --src and --tgt swapped?";
  const char* const valid_texts = "are --valid-src and --valid-tgt swapped?";
  std::vector<FitSide> sides[2] = {
      {{"source", texts, o.src, source_file}, {"target", texts, o.tgt, target_file}},
      {{"validation source", valid_texts, o.valid_src, source_file},
       {"validation target", valid_texts, o.valid_tgt, target_file}}};
  if (o.one_text()) {
    sides[0] = {{"text", "is --src the right text?", o.src, source_file}};
    sides[1] = {{"validation text", "is --valid-src the right text?", o.valid_src, source_file}};
  }
  for (const bool valid : {false, true}) {
    const IdCache* cache = valid ? corpora.valid.get() : corpora.train.get();
    if (!cache) continue;
    std::string line;
    std::vector<TokenShares> all;
    for (size_t s = 0; s < sides[valid].size(); ++s) {
      const FitSide& side = sides[valid][s];
      const TokenShares& shares = all.emplace_back(count_shares(*cache, int(s), v[s]));
      const std::string found = std::string(side.name) + " " + describe(shares, v[s]);
      line += s == 0 ? first_pairs(shares) + ": " + found : "; " + found;
      if (!valid && s + 1 == sides[valid].size()) log.info(line);
    }
    for (size_t s = 0; s < sides[valid].size(); ++s) warn_of(o, sides[valid][s], all[s], v[s], log);
  }
}

}  // namespace tx
