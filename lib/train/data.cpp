#include "lib/train/data.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/text/word_count.h"
#include "lib/text/words.h"

namespace tx {

namespace {

void check_regular(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    struct stat info;
    if (::stat(file.c_str(), &info) != 0) throw IoError("open", file, errno);
    if (!S_ISREG(info.st_mode))
      throw UsageError("--vocab words reads the text twice, but " + file +
                       " is not a regular file: write it to a file first");
  }
}

std::shared_ptr<const Vocabulary> count_vocabulary(const TrainOptions& options) {
  std::vector<std::string> files = options.src;
  files.insert(files.end(), options.tgt.begin(), options.tgt.end());
  check_regular(files);
  TextReader reader(files, options.strict);
  const WordCounts counts =
      count_words([&](std::string& line) { return reader.next(line); }, options.threads);
  return parse_words(train_words(counts), "--vocab words");
}

// The name of a shared cache: what makes two caches equal, without reading the text.
std::string shared_name(const std::vector<CacheSide>& sides, int max_length) {
  std::string key = std::to_string(max_length);
  for (const CacheSide& side : sides) {
    key += "\n" + side.vocabulary->hash();
    for (const std::string& file : side.files) {
      struct stat info;
      if (::stat(file.c_str(), &info) != 0) throw IoError("open", file, errno);
      if (!S_ISREG(info.st_mode))
        throw UsageError("--cache shares caches of regular files, but " + file + " is none");
      key += "\n" + std::filesystem::absolute(file).string() + " " + std::to_string(info.st_size) +
             " " + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
    }
  }
  return "text-" + xxh3_hex(key.data(), key.size()) + ".ids";
}

std::unique_ptr<IdCache> open_one(const std::vector<CacheSide>& sides, const TrainOptions& options,
                                  const std::string& own_path, bool existing, const Log& log) {
  std::string path = own_path;
  if (!options.cache.empty()) {
    std::filesystem::create_directories(options.cache);
    path = options.cache + "/" + shared_name(sides, options.max_length);
    existing = existing || file_exists(path);
  }
  if (!existing) {
    CacheOptions cache;
    cache.max_length = options.max_length;
    cache.strict = options.strict;
    cache.threads = options.threads;
    const CacheReport report = build_cache(path, sides, cache);
    for (const std::string& warning : report.warnings) log.warn(warning);
    const std::string dropped = describe_dropped(report, options.max_length);
    if (!dropped.empty()) log.warn(dropped);
  }
  return std::make_unique<IdCache>(path);
}

}  // namespace

Vocabularies load_vocabularies(const TrainOptions& options) {
  Vocabularies v;
  const bool apart = !options.bpe_src.empty() || !options.bpe_tgt.empty();
  if (int(!options.bpe.empty()) + int(apart) + int(!options.vocab.empty()) > 1)
    throw UsageError("--bpe, --bpe-src with --bpe-tgt, and --vocab words exclude each other");
  if (apart && (options.bpe_src.empty() || options.bpe_tgt.empty()))
    throw UsageError("--bpe-src and --bpe-tgt go together; for one shared model use --bpe");
  if (apart) {
    v.source = load_vocabulary(options.bpe_src);
    v.target = load_vocabulary(options.bpe_tgt);
  } else if (!options.bpe.empty()) {
    v.source = v.target = load_vocabulary(options.bpe);
  } else if (!options.vocab.empty()) {
    v.source = v.target = count_vocabulary(options);
  } else {
    throw UsageError("no vocabulary: give --bpe FILE (made by tx-bpe train) or --vocab words");
  }
  return v;
}

Corpora open_corpora(const TrainOptions& options, const Vocabularies& v, const std::string& folder,
                     bool existing, const Log& log) {
  Corpora c;
  const auto sides = [&](const std::vector<std::string>& src, const std::vector<std::string>& tgt) {
    return std::vector<CacheSide>{{src, v.source.get()}, {tgt, v.target.get()}};
  };
  c.train = open_one(sides(options.src, options.tgt), options, folder + "/train.ids", existing, log);
  if (!options.valid_src.empty())
    c.valid = open_one(sides(options.valid_src, options.valid_tgt), options, folder + "/valid.ids",
                       existing, log);
  return c;
}

}  // namespace tx
