#include "lib/tx.h"

#include <algorithm>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/search/lines.h"

namespace tx {

namespace {

TranslatorOptions translator_options(const std::vector<std::string>& paths,
                                     const TranslateOptions& given) {
  if (paths.empty()) throw UsageError("Model: give at least one path");
  TranslatorOptions o;
  o.models = paths;
  Options options("tx-decode", "");
  o.search.describe(options);
  o.describe_length(options);
  o.describe_machine(options);
  Json json = Json::object();
  const auto give = [&](const char* name, const auto& value) {
    if (value) json[name] = *value;
  };
  give("beam", given.beam);
  give("alpha", given.alpha);
  give("max-extra", given.max_extra);
  give("max-length", given.max_length);
  give("nbest", given.nbest);
  give("precision", given.precision);
  give("device", given.device);
  give("min-length", given.min_length);
  give("no-repeat", given.no_repeat);
  give("forbid", given.forbid);
  if (given.threads != 0) give("threads", given.threads);
  options.from_json(json, "TranslateOptions");
  o.search.check();
  o.search.prefix = true;
  return o;
}

Translator make_translator(const std::vector<std::string>& paths, const TranslateOptions& given) {
  Translator translator(translator_options(paths, given));
  if (translator.continues())
    throw DataError(translator.models().name() +
                    " is a model of kind decoder; translating needs one of kind encoder-decoder");
  return translator;
}

std::string one_line(std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  repair_utf8(line);
  return line;
}

Hypothesis worded(const PieceHypothesis& h, const Vocabulary& vocabulary) {
  return {vocabulary.decode(h.ids), h.score, h.log_p};
}

}  // namespace

std::string version() { return TX_VERSION; }

struct Model::State {
  Translator translator;
};

Model::Model(const std::string& path, const TranslateOptions& options)
    : Model(std::vector{path}, options) {}
Model::Model(const std::vector<std::string>& paths, const TranslateOptions& options)
    : state_(new State{make_translator(paths, options)}) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::vector<std::vector<Hypothesis>> Model::hypotheses(
    const std::vector<std::string>& lines) const {
  const Translator& translator = state_->translator;
  std::vector<Source> sources(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    parse_line(one_line(lines[i]), {}, translator, sources[i].ids);
    sources[i].line = int64_t(i) + 1;
  }
  std::vector<std::vector<Hypothesis>> out;
  for (const Translation& found : translator.translate(sources)) {
    out.emplace_back();
    for (const PieceHypothesis& h : found)
      out.back().push_back(worded(h, translator.models().target()));
  }
  return out;
}

std::vector<Hypothesis> Model::hypotheses(const std::string& line) const {
  return hypotheses(std::vector{line}).front();
}

std::vector<Hypothesis> Model::complete(const std::string& line,
                                        const std::string& beginning) const {
  const Translator& translator = state_->translator;
  Source one;
  parse_line(one_line(line), {}, translator, one.ids);
  parse_prefix(one_line(beginning), {}, translator, one.prefix);
  const std::vector<Translation> found = translator.translate({&one, 1});
  std::vector<Hypothesis> out;
  for (const PieceHypothesis& h : found.front())
    out.push_back(worded(h, translator.models().target()));
  return out;
}

std::vector<std::string> Model::translate(const std::vector<std::string>& lines) const {
  std::vector<std::string> out;
  for (const std::vector<Hypothesis>& found : hypotheses(lines)) out.push_back(found.front().text);
  return out;
}

std::string Model::translate(const std::string& line) const {
  return translate(std::vector{line}).front();
}

Hypothesis Model::score(const std::string& source, const std::string& target) const {
  const Translator& translator = state_->translator;
  Source one;
  parse_line(one_line(source), {}, translator, one.ids);
  parse_target(one_line(target), {}, translator, one.target);
  const Vocabulary& vocabulary = translator.models().target();
  if (one.ids.empty()) return worded(answer_blank(one).front(), vocabulary);
  TranslatorOptions options = translator.options();
  options.search.forced_target = true;
  TranslationWorker worker(translator.models(), options, translator.rules());
  const Source* const batch[] = {&one};
  return worded(worker.translate(batch, options.threads).front().front(), vocabulary);
}

struct Subwords::State {
  std::unique_ptr<Vocabulary> vocabulary;
};

Subwords::Subwords(const std::string& path) : state_(new State{load_vocabulary(path)}) {}
Subwords::~Subwords() = default;
Subwords::Subwords(Subwords&&) noexcept = default;
Subwords& Subwords::operator=(Subwords&&) noexcept = default;

int Subwords::size() const { return state_->vocabulary->size(); }

std::vector<int> Subwords::ids(const std::string& line) const {
  std::vector<int> ids;
  state_->vocabulary->encode(one_line(line), ids);
  return ids;
}

std::vector<std::string> Subwords::pieces(const std::string& line) const {
  return state_->vocabulary->pieces(ids(line));
}

std::string Subwords::text(const std::vector<int>& ids) const {
  return state_->vocabulary->decode(ids);
}

std::string Subwords::text(const std::vector<std::string>& pieces) const {
  std::vector<int> ids;
  for (const std::string& piece : pieces) {
    ids.push_back(state_->vocabulary->id_of(piece));
    if (ids.back() < 0) throw DataError("'" + piece + "' is not a piece of the vocabulary");
  }
  return text(ids);
}

}  // namespace tx
