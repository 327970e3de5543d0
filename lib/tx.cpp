#include "lib/tx.h"

#include <algorithm>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/search/lines.h"

namespace tx {

namespace {

void check(const TranslateOptions& o) {
  const auto refuse = [](const std::string& what) {
    throw UsageError("TranslateOptions: " + what);
  };
  if (o.beam < 1) refuse("beam must be at least 1");
  if (!(o.alpha >= 0)) refuse("alpha must be at least 0");
  if (o.max_extra < 0) refuse("max_extra must be at least 0");
  if (o.max_source < 1) refuse("max_source must be at least 1");
  if (o.threads < 0) refuse("threads must be at least 0, which is all processors");
  if (o.precision != "auto" && o.precision != "bf16" && o.precision != "fp32") {
    refuse("precision must be auto, bf16 or fp32, not '" + o.precision + "'");
  }
}

TranslatorOptions translator_options(const std::string& path, const TranslateOptions& given) {
  check(given);
  TranslatorOptions o;
  o.models = {path};
  o.search.beam = given.beam;
  o.search.alpha = given.alpha;
  o.search.max_extra = given.max_extra;
  o.max_source = given.max_source;
  o.precision = given.precision;
  o.device = given.device;
  if (given.threads > 0) o.threads = given.threads;
  return o;
}

}  // namespace

std::string version() { return TX_VERSION; }

struct Model::State {
  Translator translator;
};

Model::Model(const std::string& path, const TranslateOptions& options)
    : state_(new State{Translator(translator_options(path, options))}) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::string Model::translate(const std::string& line) const {
  return translate(std::vector{line}).front();
}

std::vector<std::string> Model::translate(const std::vector<std::string>& lines) const {
  const Translator& translator = state_->translator;
  std::vector<Source> sources(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line = lines[i];
    std::replace(line.begin(), line.end(), '\n', ' ');
    repair_utf8(line);
    parse_line(line, {}, translator, sources[i].ids);
    sources[i].line = int64_t(i) + 1;
  }
  std::vector<std::string> out;
  for (const Translation& found : translator.translate(sources)) {
    out.push_back(translator.models().target().decode(found.front().ids));
  }
  return out;
}

}  // namespace tx
