#include "lib/train/input/growth.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/transfer.h"
#include "lib/subword/languages.h"
#include "lib/subword/subword.h"
#include "lib/subword/token_table.h"

namespace tx {
namespace {

using Language = std::pair<std::string, std::string>;  // TAG, FROM

std::vector<Language> languages_of(const TrainOptions& options) {
  std::vector<Language> all;
  for (const std::string& text : options.add_language) {
    const size_t at = std::min(text.find('='), text.size());
    all.emplace_back(text.substr(0, at), at < text.size() ? text.substr(at + 1) : "");
  }
  return all;
}

bool has(const Vocabulary& v, const std::string& token) { return v.id_of(token) >= 0; }
bool on_any_side(const Vocabularies& v, const std::string& token) {
  return has(v.source(), token) || has(v.target(), token);
}

void check_tokens(const std::vector<std::string>& tokens, const Vocabularies& old,
                  const TrainOptions& options) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (has(old.source(), tokens[i]) && has(old.target(), tokens[i]))
      throw DataError(options.add_tokens + ":" + std::to_string(i + 1) + ": " + tokens[i] +
                      " is already a token of " + options.init);
}

void check_languages(const std::vector<Language>& languages, const Vocabularies& old,
                     const TrainOptions& options, std::vector<std::string> before) {
  for (const auto& [tag, from] : languages) {
    const std::string start = "--add-language " + tag + "=" + from + ": ";
    const std::string fault = from.empty() || tag.empty() ? "give TAG=FROM, such as \"<2nl>=<2de>\""
                                                          : fault_of_symbol(tag);
    if (!fault.empty()) throw UsageError(start + fault);
    if (on_any_side(old, tag))
      throw UsageError(start + tag + " is already a token of " + options.init);
    if (std::ranges::count(before, tag) > 0) throw UsageError(start + tag + " is added twice");
    if (!on_any_side(old, from)) throw UsageError(start + options.init + " has no token " + from);
    before.push_back(tag);
  }
}

Vocabularies::Pointer grown(Vocabularies::Pointer vocabulary,
                            const std::vector<std::string>& tokens,
                            const std::vector<Language>& languages) {
  std::vector<std::string> missing;
  for (const std::string& token : tokens)
    if (!has(*vocabulary, token)) missing.push_back(token);
  if (!missing.empty()) vocabulary = with_tokens(vocabulary, missing);
  std::vector<int> ids;
  for (const std::string& token : missing) {
    vocabulary->encode(token, ids);
    if (std::ranges::count(ids, vocabulary->id_of(token)) == 0)
      throw UsageError("--add-tokens: the vocabulary, of kind " + vocabulary->kind() +
                       ", does not find " + token + " in a text");
  }
  for (const auto& [tag, from] : languages)
    if (has(*vocabulary, from)) vocabulary = with_language(vocabulary, tag, from);
  return vocabulary;
}

// The old tokens whose mean is the first row of a new one.
std::vector<int> parents(const Vocabulary& old, const std::string& token,
                         const std::vector<Language>& languages) {
  for (const auto& [tag, from] : languages)
    if (tag == token) return {old.id_of(from)};
  std::vector<int> ids;
  old.encode(token, ids);
  ids.erase(ids.begin(), ids.begin() + std::min(ids.size(), opening_tokens(old).size()));
  std::erase_if(ids,
                [&](int id) { return id < Vocabulary::specials || old.token(id) == space_sign; });
  if (!ids.empty()) return ids;
  ids.resize(size_t(old.size()));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Fills the rows of an entry whose first rows are those of `old`.
void fill_rows(Parameters& p, const ParameterEntry& e, const Vocabulary& old, const Vocabulary& now,
               const std::vector<Language>& languages) {
  const Matrix block = p.fp32_weights(e);
  const std::string dtype = exact_dtype(block.dtype);
  const size_t width = size_t(e.per_token()), bytes = width * size_of(block.dtype);
  std::vector<char> row(bytes);
  const auto place = [&](int id) { return static_cast<char*>(block.data) + size_t(id) * bytes; };
  for (int id = old.size(); id < now.size(); ++id) {
    const std::vector<int> from = parents(old, now.token(id), languages);
    std::vector<double> mean(width), one(width);
    for (const int parent : from) {
      p.backend()->download(row.data(), place(parent), bytes);
      to_doubles(row.data(), dtype, int64_t(width), one.data());
      for (size_t i = 0; i < width; ++i) mean[i] += one[i] / double(from.size());
    }
    from_doubles(mean.data(), int64_t(width), dtype, row.data());
    p.backend()->upload(place(id), row.data(), bytes);
  }
}

}  // namespace

Vocabularies grown_vocabularies(const Vocabularies& old, const TrainOptions& options) {
  std::vector<std::string> tokens;
  if (!options.add_tokens.empty()) tokens = read_user_symbols(options.add_tokens);
  const std::vector<Language> languages = languages_of(options);
  check_tokens(tokens, old, options);
  check_languages(languages, old, options, tokens);
  std::vector<Vocabularies::Pointer> sides;
  for (size_t side = 0; side < old.size(); ++side) {
    const bool same = side > 0 && old.pointer(side) == old.pointer(0);
    sides.push_back(same ? sides[0] : grown(old.pointer(side), tokens, languages));
  }
  return sides;
}

void load_initial(const TrainOptions& options, const Vocabularies& vocabularies,
                  Parameters& parameters) {
  const ModelReader model(resolve_model(options.init));
  model.load(parameters);
  const std::vector<Language> languages = languages_of(options);
  for (const ParameterEntry& e : parameters.table())
    if (e.tokens >= 0)
      fill_rows(parameters, e, model.vocabularies()[size_t(e.tokens)],
                vocabularies[size_t(e.tokens)], languages);
  parameters.refresh_bf16_weights();
}

}  // namespace tx
