#include "lib/search/rules/rules.h"

#include <algorithm>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/search/rules/forbidden_phrases.h"
#include "lib/text/corpus.h"

namespace tx {

// A character of several byte tokens counts as one token, and is compared when it is complete.
bool NoRepeat::allows(const OpenOutput& output, int token) const {
  const std::span<const int> tokens = output.tokens;
  if (token == Vocabulary::eos) return true;
  const auto byte_at = [&](size_t i) {
    return int(byte_of_[size_t(i < tokens.size() ? tokens[i] : token)]);
  };
  const auto first_of = [&](size_t i) {  // of the character or token that ends at i
    while (i > 0 && byte_at(i) >= 0x80 && byte_at(i) < 0xC0) --i;
    return i;
  };
  size_t begin = first_of(tokens.size());
  if (tokens.size() - begin < size_t(continuation_bytes(byte_at(begin)))) return true;
  for (int i = 1; i < length_; ++i) {
    if (begin == 0) return true;
    begin = first_of(begin - 1);
  }
  const std::span<const int> tail = tokens.subspan(begin);
  const size_t before = tail.size();  // tokens of the n-gram before the current one
  for (size_t i = before; i < tokens.size(); ++i)
    if (tokens[i] == token && std::ranges::equal(tokens.subspan(i - before, before), tail))
      return false;
  return true;
}

std::vector<std::string> read_phrases(const std::string& path) {
  TextReader reader({path});
  std::vector<std::string> phrases;
  for (std::string line; reader.next(line);)
    if (!is_blank(line)) phrases.emplace_back(trimmed(line));
  return phrases;
}

RequiredPhrases::RequiredPhrases(const Vocabulary& vocabulary) {
  for (int id = 0; id < vocabulary.size(); ++id) texts_.push_back(tx::text_of(vocabulary, id));
}

std::string RequiredPhrases::text_of(std::span<const int> tokens) const {
  std::string text;
  text.reserve(8 * tokens.size());
  for (const int id : tokens) {
    const std::string& more = texts_[size_t(id)];
    text.append(more, text.ends_with(' ') && more.starts_with(' '));  // one space
  }
  return text;
}

// A phrase without text is compared by its tokens.
size_t RequiredPhrases::matched(std::string_view text, std::span<const int> tokens,
                                std::span<const int> phrase) const {
  const std::string given = text_of(phrase);
  const std::string_view words = trimmed(given);
  // std::ranges::search does not compile with clang 14.
  if (words.empty() &&
      std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end())
    return phrase.size();
  if (!words.empty() && contains_whole(text, words)) return phrase.size();
  size_t begun = std::min(tokens.size(), phrase.size() - 1);
  while (!std::ranges::equal(tokens.last(begun), phrase.first(begun))) --begun;
  return begun;
}

bool RequiredPhrases::allows(const OpenOutput& output, int token) const {
  if (token != Vocabulary::eos || !output.source) return true;
  const std::string text = text_of(output.tokens);
  return std::ranges::all_of(output.source->phrases, [&](const std::vector<int>& phrase) {
    return matched(text, output.tokens, phrase) == phrase.size();
  });
}

void RequiredPhrases::required_tokens(const OpenOutput& output, std::vector<int>& tokens) const {
  if (!output.source || output.source->phrases.empty()) return;
  const std::string text = text_of(output.tokens);
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = matched(text, output.tokens, phrase);
    if (at < phrase.size() && !std::ranges::count(tokens, phrase[at])) tokens.push_back(phrase[at]);
  }
}

// Of incomplete phrases only the one with the most tokens counts: an output continues only one.
int64_t RequiredPhrases::fulfilled(const OpenOutput& output) const {
  if (!output.source || output.source->phrases.empty()) return 0;
  const std::string text = text_of(output.tokens);
  size_t whole = 0, begun = 0;
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = matched(text, output.tokens, phrase);
    if (at == phrase.size())
      whole += at;
    else
      begun = std::max(begun, at);
  }
  return int64_t(whole + begun);
}

CompletePrefix::CompletePrefix(const Vocabulary& vocabulary) {
  for (int id = 0; id < vocabulary.size(); ++id) bytes_.push_back(vocabulary.token_bytes(id));
}

bool CompletePrefix::allows(const OpenOutput& output, int token) const {
  if (!output.source || !output.source->ends_word || token == Vocabulary::eos) return true;
  const size_t rest = output.source->rest.size();
  size_t at = output.source->prefix.size(), used = 0;
  while (at < output.tokens.size() && used < rest)
    used += bytes_[size_t(output.tokens[at++])].size();
  if (at != output.tokens.size() || used > rest) return true;
  const std::string_view bytes = bytes_[size_t(token)];
  if (bytes.size() <= rest - used) return true;
  const std::string_view more = bytes.substr(rest - used);
  return count_invalid_utf8(more) == 0 && is_boundary(first_code_point(more));
}

std::vector<int16_t> byte_values(const Vocabulary& vocabulary) {
  std::vector<int16_t> values(size_t(vocabulary.size()), -1);
  for (int byte = 0; byte < 256; ++byte) {
    const int id = vocabulary.id_of(formatted("<0x%02X>", byte));
    if (id >= 0 && vocabulary.is_byte(id)) values[size_t(id)] = int16_t(byte);
  }
  return values;
}

Utf8Guard::Utf8Guard(const Vocabulary& vocabulary)
    : byte_of_(byte_values(vocabulary)),
      needed_(std::ranges::any_of(byte_of_, [](int byte) { return byte >= 0x80; })) {}

Utf8Guard::State Utf8Guard::after(const State& state, int token) const {
  if (state.lacking > 0) return {uint8_t(state.lacking - 1), 0x80, 0xBF};
  const int byte = byte_of_[size_t(token)];
  if (byte < 0x80) return {};
  State next{uint8_t(continuation_bytes(byte)), 0x80, 0xBF};
  if (byte == 0xE0) next.low = 0xA0;   // below: overlong encoding
  if (byte == 0xED) next.high = 0x9F;  // above: surrogates
  if (byte == 0xF0) next.low = 0x90;   // below: overlong encoding
  if (byte == 0xF4) next.high = 0x8F;  // above: beyond U+10FFFF
  return next;
}

// A sequence has at most four bytes: the first byte is at most four back.
Utf8Guard::State Utf8Guard::state_of(std::span<const int> tokens) const {
  const auto byte_at = [&](size_t i) { return int(byte_of_[size_t(tokens[i])]); };
  size_t first = tokens.size();
  while (first > 0 && tokens.size() - first < 3 && byte_at(first - 1) >= 0x80 &&
         byte_at(first - 1) < 0xC0)
    --first;
  if (first > 0 && continuation_bytes(byte_at(first - 1)) > 0) --first;
  State state;
  for (size_t i = first; i < tokens.size(); ++i) state = after(state, tokens[i]);
  return state;
}

bool Rules::forced(const OpenOutput& output, std::vector<int>& tokens) const {
  tokens.clear();
  if (!output.source) return false;
  const Source& source = *output.source;
  if (output.tokens.size() < source.prefix.size()) {
    tokens.push_back(source.prefix[output.tokens.size()]);
    return true;
  }
  if (source.rest.empty() || !texts_) return false;
  size_t used = 0;
  for (size_t i = source.prefix.size(); i < output.tokens.size() && used < source.rest.size(); ++i)
    used += texts_->bytes(output.tokens[i]);
  if (used >= source.rest.size()) return false;
  const std::string_view rest = std::string_view(source.rest).substr(used);
  texts_->choices(rest, tokens);
  std::erase_if(tokens, [&](int token) {
    return texts_->bytes(token) > rest.size() && !allows(output, token);
  });
  // The space after a complete word may be the end of the output.
  if (rest == " " && allows(output, Vocabulary::eos))
    tokens.insert(std::ranges::lower_bound(tokens, int(Vocabulary::eos)), Vocabulary::eos);
  return true;
}

Rules make_rules(const SearchOptions& options, const Vocabulary& vocabulary) {
  Rules rules;
  if (options.prefix || options.continues)
    rules.begin_with(std::make_shared<TokenTexts>(vocabulary));
  if (options.prefix) rules.add(std::make_shared<CompletePrefix>(vocabulary));
  const auto guard = std::make_shared<Utf8Guard>(vocabulary);
  if (guard->needed()) rules.add(guard);
  if (options.min_length > 0) rules.add(std::make_shared<MinimumLength>(options.min_length));
  if (options.no_repeat > 0) rules.add(std::make_shared<NoRepeat>(options.no_repeat, vocabulary));
  if (!options.forbid.empty())
    rules.add(std::make_shared<ForbiddenPhrases>(read_phrases(options.forbid), vocabulary,
                                                 options.continues));
  if (options.constraints) rules.add(std::make_shared<RequiredPhrases>(vocabulary));
  return rules;
}

}  // namespace tx
