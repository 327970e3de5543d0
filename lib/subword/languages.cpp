#include "lib/subword/languages.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

// Empty for a vocabulary of tx.
const MappedTokens& content_of(const Vocabulary& vocabulary) {
  static const MappedTokens none;
  return vocabulary.mapped() ? *vocabulary.mapped() : none;
}

// "de" of "__de__".
std::string name_of(const std::string& token) {
  const bool framed = token.size() > 4 && token.starts_with("__") && token.ends_with("__");
  return framed ? token.substr(2, token.size() - 4) : token;
}

// "a, b and c"; of more than ten names the first ten, "and 5 more".
std::string first_ten(const std::vector<std::string>& names) {
  const size_t shown = std::min<size_t>(names.size(), 10);
  std::string text;
  for (size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() == shown) return text;
  return text + " and " + with_commas(int64_t(names.size() - shown)) + " more";
}

int find(const MappedTokens& content, const std::string& name, const char* option,
         const std::string& where) {
  std::vector<std::string> names;
  for (const int id : content.languages) {
    const std::string& token = content.tokens[size_t(id)];
    if (name == token || name == name_of(token)) return id;
    names.push_back(name_of(token));
  }
  throw UsageError(std::string(option) + " " + name + " is not among the " +
                   std::to_string(names.size()) + " languages of " + where + ": " +
                   first_ten(names) + "; tx-decode -m FILE --describe lists those of a model");
}

Vocabularies::Pointer chosen(const Vocabularies::Pointer& given, const std::string& name,
                             bool is_source, const std::string& where) {
  const std::string option = is_source ? "--source-language" : "--target-language";
  if (name.empty()) return given;
  MappedTokens set = content_of(*given);
  if (set.languages.empty())
    throw UsageError(option + " " + name + ": " + where + " is not a multilingual model");
  if (is_source)
    set_source_language(set, name, where);
  else
    set_target_language(set, name, where);
  return parse_vocabulary(mapped_bytes(set), where);
}

}  // namespace

std::vector<std::string> language_names(const Vocabulary& vocabulary) {
  std::vector<std::string> names;
  const MappedTokens& content = content_of(vocabulary);
  for (const int id : content.languages) names.push_back(name_of(content.tokens[size_t(id)]));
  return names;
}

bool has_languages(const Vocabulary& vocabulary) {
  return !content_of(vocabulary).languages.empty();
}

bool is_language(const Vocabulary& vocabulary, int id) {
  return std::ranges::count(content_of(vocabulary).languages, id) > 0;
}

std::string source_language(const Vocabulary& source) {
  if (!has_languages(source)) return "";
  const MappedTokens& c = content_of(source);
  const std::vector<int>& at = c.language_last ? c.closing : c.prefix;
  return at.empty() ? "" : name_of(c.tokens[size_t(at.back())]);
}

std::string target_language(const Vocabulary& target) {
  const MappedTokens& c = content_of(target);
  return c.first < 0 ? "" : name_of(c.tokens[size_t(c.first)]);
}

void set_source_language(MappedTokens& source, const std::string& name, const std::string& where) {
  const int id = find(source, name, "--source-language", where);
  if (source.language_last)
    source.closing = {Vocabulary::eos, id};
  else
    source.prefix = {id};
}

void set_target_language(MappedTokens& target, const std::string& name, const std::string& where) {
  target.first = find(target, name, "--target-language", where);
}

Vocabularies stated_languages(const Vocabularies& all, const LanguageChoice& choice,
                              const std::string& where) {
  std::vector<Vocabularies::Pointer> sides;
  for (size_t side = 0; side < all.size(); ++side)
    sides.push_back(
        chosen(all.pointer(side), side == 0 ? choice.source : choice.target, side == 0, where));
  return sides;
}

Vocabularies with_languages(const Vocabularies& all, const LanguageChoice& choice,
                            const std::string& where) {
  const Vocabularies set = stated_languages(all, choice, where);
  const std::vector<std::string> names = language_names(set.source());
  if (names.empty() || !choice.needed) return set;
  const bool no_source = source_language(set.source()).empty();
  if (no_source || target_language(set.target()).empty())
    throw UsageError(where + " has " + std::to_string(names.size()) + " languages: give " +
                     (no_source ? "--source-language" : "--target-language") + ", one of " +
                     first_ten(names) + "; tx-decode -m FILE --describe lists them");
  return set;
}

Vocabularies::Pointer with_language(const Vocabularies::Pointer& vocabulary, const std::string& tag,
                                    const std::string& from) {
  MappedTokens content = content_of(*vocabulary);
  const int id = int(content.tokens.size()), old = vocabulary->id_of(from);
  const auto is_tag = [&](const std::string& t) {
    return content.tags && t.starts_with(">>") && t.ends_with("<<");
  };
  // Neither the model nor the tokenizer sees such tokens.
  if (!is_language(*vocabulary, old) && !(is_tag(from) && is_tag(tag)))
    return with_tokens(vocabulary, {tag});
  content.tokens.push_back(tag);
  for (std::vector<int>* list : {&content.controls, &content.forbidden, &content.languages})
    if (std::ranges::count(*list, old) > 0) list->push_back(id);
  for (std::vector<int>* list : {&content.prefix, &content.closing})
    std::ranges::replace(*list, old, id);
  if (content.first == old) content.first = id;
  return parse_vocabulary(mapped_bytes(content), "the vocabulary with " + tag);
}

bool sets_language(const Vocabularies& all) {
  return has_languages(all.source()) || first_token(all.target()) >= 0;
}

void refuse_languages(const Vocabularies& all, const std::string& what, const std::string& where) {
  if (!sets_language(all)) return;
  throw DataError(what + " cannot be used with " + where +
                  (has_languages(all.source()) ? ", a multilingual model"
                                               : ", whose outputs begin with a set token"));
}

void check_trainable(const Vocabularies& all, const std::string& where) {
  if (!has_languages(all.source()) && !content_of(all.source()).closing.empty())
    throw UsageError(where + " cannot be trained further: its texts end with a special token");
  if (!has_languages(all.source())) return;
  if (source_language(all.source()).empty() || target_language(all.target()).empty())
    throw UsageError(
        where + " is a multilingual model whose languages are not set: convert it again with " +
        "--source-language and --target-language");
  if (content_of(all.source()).language_last)
    throw UsageError(where + " cannot be trained further: its sources end with a language token");
}

int first_token(const Vocabulary& target) { return content_of(target).first; }

std::vector<int> opening_tokens(const Vocabulary& source) { return content_of(source).prefix; }

std::vector<int> closing_tokens(const Vocabulary& source) {
  const std::vector<int>& closing = content_of(source).closing;
  return closing.empty() ? std::vector<int>{Vocabulary::eos} : closing;
}

std::vector<int> encoder_closing(const Vocabulary& vocabulary) {
  return content_of(vocabulary).closing;
}

size_t skip_tags(const Vocabulary& vocabulary, std::string_view line) {
  constexpr std::pair<std::string_view, std::string_view> frames[] = {
      {">>", "<<"}, {"<", ">"}, {"__", "__"}};
  std::vector<int> ids;
  for (const auto& [open, close] : frames) {
    const size_t at = line.starts_with(open) ? line.find(close, 2) : line.npos;
    if (at == line.npos) continue;
    const std::string_view tag = line.substr(0, at + close.size()), rest = line.substr(tag.size());
    const std::string_view text = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    vocabulary.encode(tag, ids);
    const bool known =
        !ids.empty() && ids.back() >= Vocabulary::specials && ids.back() == vocabulary.id_of(tag);
    const bool apart = open == ">>" || text.size() < rest.size();
    if (known && apart) return size_t(text.data() - line.data()) + skip_tags(vocabulary, text);
  }
  return 0;
}

std::string describe_unknown(const std::string& text, const Vocabulary& vocabulary) {
  if (text == "<unk>") return "the line has the token <unk>";
  if (!text.starts_with(">>") || !text.ends_with("<<"))
    return "'" + text + "' is not in the vocabulary and becomes <unk>";
  std::vector<std::string> tags;
  for (int id = 0; id < vocabulary.size(); ++id) {
    const std::string token = vocabulary.token(id);
    if (token.size() > 4 && token.starts_with(">>") && token.ends_with("<<")) tags.push_back(token);
  }
  return "'" + text + "' is not a language tag of the model, which has " +
         (tags.empty() ? "none" : first_ten(tags));
}

}  // namespace tx
