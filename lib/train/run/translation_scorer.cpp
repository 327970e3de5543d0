#include "lib/train/run/translation_scorer.h"

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/judgement.h"
#include "lib/text/corpus.h"

namespace tx {

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

}  // namespace

TranslationTask read_translation_task(const TrainOptions& options, Json& config) {
  TranslationTask task;
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric)) task.metrics.push_back(metric);
  if (task.metrics.empty()) return task;
  task.threads = options.threads;
  task.sources = first_lines(options.valid_src, options.valid_lines, options.strict);
  task.references = first_lines(options.valid_tgt, options.valid_lines, options.strict);
  const std::string first = options.valid_src.front();
  if (task.sources.size() != task.references.size() || task.sources.empty())
    throw DataError(first + " has " + std::to_string(task.sources.size()) + " lines, " +
                    options.valid_tgt.front() + " " + std::to_string(task.references.size()) +
                    ": --valid-metric " + task.metrics.front() + " needs pairs");
  const Json text{{"lines", options.valid_lines}, {"xxh3", hash_of(task)}};
  const Json before = config.value("valid_text", Json());
  if (before.is_object() && before.at("lines") == text.at("lines") && before != text)
    throw DataError("the first lines of " + first + " or " + options.valid_tgt.front() +
                    " are not those this run was started with: its scores would say nothing");
  config["valid_text"] = text;
  return task;
}

}  // namespace tx
