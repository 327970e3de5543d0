#include "lib/tx.h"

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/model_file.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/lines/lines.h"
#include "lib/search/lines/open_end.h"

namespace tx {

namespace {

// What is given, by the names of the tool.
Json named(const TranslateOptions& given) {
  Json json = Json::object();
  const auto give = [&](const char* name, const auto& value) {
    if (!value) return;
    json[name] = *value;
    if (json[name] == "")
      throw UsageError(std::string("TranslateOptions: --") + name + " has an empty value");
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
  give("shortlist", given.shortlist);
  give("max-new", given.max_new);
  if (!given.stop.empty()) json["stop"] = given.stop;
  give("sample", given.sample);
  give("temperature", given.temperature);
  give("top-k", given.top_k);
  give("top-p", given.top_p);
  give("min-p", given.min_p);
  give("seed", given.seed);
  give("source-language", given.source_language);
  give("target-language", given.target_language);
  if (given.threads != 0) give("threads", given.threads);
  return json;
}

// For the tool --nbest also says how often a mask is filled, which nothing here does.
void check_given(Options& options, ModelKind kind, const std::string& path) {
  options.at("nbest").needs(of_kinds({ModelKind::encoder_decoder, ModelKind::decoder}));
  try {
    check_kind(options, kind, path);
  } catch (const UsageError& error) {
    throw UsageError(std::string("TranslateOptions: ") + error.what());
  }
}

TranslatorOptions translator_options(const std::vector<std::string>& paths,
                                     const TranslateOptions& given) {
  if (paths.empty()) throw UsageError("Model: give at least one path");
  TranslatorOptions o;
  o.models = paths;
  Options options("tx-decode", "");
  o.search.describe(options);
  o.describe_length(options);
  o.describe_languages(options);
  o.describe_machine(options);
  const Json json = named(given);
  options.from_json(json, "TranslateOptions");
  for (const auto& [name, value] : json.items()) options.at(name).given = true;
  const auto check = [&] {
    for (const char* name : {"beam", "diversity"})
      if (o.search.sample && options.given(name)) throw UsageError("--sample");
  };
  o.search.set_defaults(options, defaults_of_model(paths.front()), paths.front(), check);
  o.search.check();
  const bool samples = o.search.sample;
  for (const char* name : {"temperature", "top-k", "top-p", "min-p", "seed"})
    if (json.contains(name) && !samples)
      throw UsageError(std::string("TranslateOptions: --") + name + " needs --sample");
  const ModelKind kind = kind_of_model(paths.front());
  check_given(options, kind, paths.front());
  if (kind == ModelKind::encoder && paths.size() > 1)
    throw UsageError("Model: encoders have no predictions to average: give one path");
  o.search.prefix = kind == ModelKind::encoder_decoder;
  return o;
}

std::string valid_line(const std::string& text) {
  std::string line = one_line(text);
  repair_utf8(line);
  return line;
}

Hypothesis worded(const TokenHypothesis& h, const Vocabulary& vocabulary) {
  return {vocabulary.decode(h.ids), h.score, h.log_p};
}

// Outputs as texts; those of a language model continue the prompt.
std::vector<Hypothesis> worded(Translation found, const Translator& translator,
                               std::span<const int> prompt = {}) {
  const Vocabulary& vocabulary = translator.models().target();
  const SearchOptions& search = translator.options().search;
  if (!search.sample) drop_repeated_texts(found, vocabulary, prompt, search.stops);
  std::vector<Hypothesis> out;
  for (const TokenHypothesis& h : found) {
    out.push_back(worded(h, vocabulary));
    if (translator.continues())
      out.back().text =
          before_stop(continuation_text(vocabulary, prompt, h.ids, h.repeats), search.stops);
  }
  return out;
}

// Another object has taken the state of one that was moved from.
template <class State>
State& held(const std::unique_ptr<State>& state) {
  if (state) return *state;
  throw UsageError("this object was moved from: use the one that it was moved to");
}

std::vector<Source> read_lines(const std::vector<std::string>& lines,
                               const Translator& translator) {
  std::vector<Source> sources(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line = lines[i];  // a prompt keeps its line feeds if they have a token
    const bool keeps = translator.continues() && translator.models().source().id_of("<0x0A>") >= 0;
    if (keeps)
      repair_utf8(line);
    else
      line = valid_line(line);
    parse_line(line, {}, translator, sources[i].ids);
    if (translator.continues()) open_prompt(line, translator, sources[i]);
    sources[i].line = int64_t(i) + 1;
  }
  return sources;
}

std::vector<std::string> first_texts(const std::vector<std::vector<Hypothesis>>& all) {
  std::vector<std::string> out;
  for (const std::vector<Hypothesis>& found : all) out.push_back(found.front().text);
  return out;
}

}  // namespace

std::string version() { return TX_VERSION; }

struct Model::State {
  Translator translator;

  // DataError if the models are not of that kind.
  const Translator& of_kind(ModelKind kind, const std::string& what) const {
    const ModelSet& models = translator.models();
    if (models.kind() == kind) return translator;
    throw DataError(models.name() + " is a model of kind " + name_of_value(models.kind()) + "; " +
                    what + " needs one of kind " + name_of_value(kind));
  }
};

Model::Model(const std::string& path, const TranslateOptions& options)
    : Model(std::vector{path}, options) {}
Model::Model(const std::vector<std::string>& paths, const TranslateOptions& options)
    : state_(new State{Translator(translator_options(paths, options))}) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::vector<std::vector<Hypothesis>> Model::hypotheses(
    const std::vector<std::string>& lines) const {
  const Translator& translator = held(state_).of_kind(ModelKind::encoder_decoder, "translating");
  std::vector<std::vector<Hypothesis>> out;
  for (Translation& found : translator.translate(read_lines(lines, translator)))
    out.push_back(worded(std::move(found), translator));
  return out;
}

std::vector<Hypothesis> Model::hypotheses(const std::string& line) const {
  return hypotheses(std::vector{line}).front();
}

std::vector<Hypothesis> Model::complete(const std::string& line,
                                        const std::string& beginning) const {
  const Translator& translator = held(state_).of_kind(ModelKind::encoder_decoder, "translating");
  Source one;
  parse_line(valid_line(line), {}, translator, one.ids);
  parse_prefix(valid_line(beginning), {}, translator, one);
  return worded(translator.translate({&one, 1}).front(), translator);
}

std::vector<std::string> Model::translate(const std::vector<std::string>& lines) const {
  return first_texts(hypotheses(lines));
}

std::string Model::translate(const std::string& line) const {
  return translate(std::vector{line}).front();
}

Hypothesis Model::score(const std::string& source, const std::string& target) const {
  const Model::State& state = held(state_);
  if (state.translator.encodes()) state.of_kind(ModelKind::encoder_decoder, "scoring");
  const Translator& translator = state.translator;
  Source one;
  std::string given = valid_line(target);
  parse_line(valid_line(source), {}, translator, one.ids);
  if (translator.continues()) {
    if (given.starts_with(' ')) given.erase(0, 1);  // each word that is encoded brings its own
    if (one.ids.empty() && !translator.options().search.bos)
      throw DataError(translator.models().name() +
                      " has no token that begins a text: give a source");
    one.opens = one.ids.empty() && !is_blank(given);
    parse_target(given, {}, translator, one.target, int64_t(one.ids.size()));
  } else {
    parse_target(given, {}, translator, one.target);
  }
  const Vocabulary& vocabulary = translator.models().target();
  if (one.blank()) return worded(blank_translation(one).front(), vocabulary);
  const Source* const batch[] = {&one};
  const int threads = translator.options().threads;
  return worded(translator.scorer()->translate(batch, threads).front().front(), vocabulary);
}

std::vector<std::vector<Hypothesis>> Model::continued(
    const std::vector<std::string>& prompts) const {
  const Translator& translator = held(state_).of_kind(ModelKind::decoder, "continuing");
  const std::vector<Source> sources = read_lines(prompts, translator);
  std::vector<Translation> found = translator.translate(sources);
  std::vector<std::vector<Hypothesis>> out;
  for (size_t i = 0; i < found.size(); ++i)
    out.push_back(worded(std::move(found[i]), translator, sources[i].ids));
  return out;
}

std::vector<Hypothesis> Model::continued(const std::string& prompt) const {
  return continued(std::vector{prompt}).front();
}

std::vector<std::string> Model::continuations(const std::vector<std::string>& prompts) const {
  return first_texts(continued(prompts));
}

std::string Model::continuation(const std::string& prompt) const {
  return continuations(std::vector{prompt}).front();
}

std::vector<std::vector<float>> Model::embed(const std::vector<std::string>& lines,
                                             Pooling pooling) const {
  const Translator& translator = held(state_).of_kind(ModelKind::encoder, "a vector");
  std::vector<Source> sources = read_lines(lines, translator);
  for (Source& source : sources)
    source.encoding = pooling == Pooling::mean ? Encoding::mean : Encoding::first;
  std::vector<std::vector<float>> out;
  for (Translation& found : translator.translate(sources)) {
    out.push_back(std::move(found.front().vector));
    const ModelSet& models = translator.models();
    out.back().resize(size_t(models.transformers().front()->config().d_model));  // blank: zeros
  }
  return out;
}

std::vector<float> Model::embed(const std::string& line, Pooling pooling) const {
  return embed(std::vector{line}, pooling).front();
}

struct Subwords::State {
  std::unique_ptr<Vocabulary> vocabulary;
};

Subwords::Subwords(const std::string& path) : state_(new State{load_vocabulary(path)}) {}
Subwords::~Subwords() = default;
Subwords::Subwords(Subwords&&) noexcept = default;
Subwords& Subwords::operator=(Subwords&&) noexcept = default;

int Subwords::size() const { return held(state_).vocabulary->size(); }

std::vector<int> Subwords::ids(const std::string& line) const {
  std::vector<int> ids;
  held(state_).vocabulary->encode(valid_line(line), ids);
  return ids;
}

std::vector<std::string> Subwords::tokens(const std::string& line) const {
  return held(state_).vocabulary->tokens(ids(line));
}

std::string Subwords::text(const std::vector<int>& ids) const {
  return held(state_).vocabulary->decode(ids);
}

std::string Subwords::text(const std::vector<std::string>& tokens) const {
  std::vector<int> ids;
  for (const std::string& token : tokens) {
    ids.push_back(held(state_).vocabulary->id_of(token));
    if (ids.back() < 0) throw DataError("'" + token + "' is not a token of the vocabulary");
  }
  return text(ids);
}

}  // namespace tx
