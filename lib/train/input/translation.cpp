#include "lib/train/input/translation.h"

#include <algorithm>
#include <filesystem>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/text/corpus.h"

namespace tx {
namespace fs = std::filesystem;
namespace {

// In the run directory: the validation text if it is translated, an object for each line.
std::string kept_text(const std::string& run) { return run + "/valid.jsonl"; }

// Relative names were given in `directory`.
std::vector<std::string> files_in(const std::string& directory, std::vector<std::string> files) {
  for (std::string& file : files) file = (fs::path(directory) / file).string();
  return files;
}

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

void keep_translation_text(const TrainOptions& options, const RunDirectory& run, bool fresh,
                           const Json& config) {
  const std::string path = kept_text(run.path());
  if (!fresh && file_exists(path)) return;
  run.claim(path);
  const auto directory = config.at("valid_text").at("directory").get<std::string>();
  TextReader sources(files_in(directory, options.valid_src), options.strict);
  TextReader references(files_in(directory, options.valid_tgt), options.strict);
  write_atomically(path, [&](Writer& out) {
    for (std::string source, reference; sources.next(source) && references.next(reference);)
      out.write(to_text(Json{{"source", source}, {"reference", reference}}) + "\n");
  });
}

}  // namespace tx
