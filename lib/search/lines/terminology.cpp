#include "lib/search/lines/terminology.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/search/rules/forbidden_phrases.h"
#include "lib/subword/tokenizer/unicode.h"
#include "lib/text/corpus.h"

namespace tx {
namespace {

std::string mapped(std::string_view text, void (*append)(std::string&, char32_t)) {
  std::string out;
  for (size_t i = 0; i < text.size();) append(out, next_code_point(text, i));
  return out;
}
std::string lower(std::string_view text) { return mapped(text, append_lower); }
std::string upper(std::string_view text) { return mapped(text, append_upper); }
std::string capitalised(std::string_view text) {
  size_t first = 0;
  next_code_point(text, first);
  return upper(text.substr(0, first)) + std::string(text.substr(first));
}

// No other character is its capital.
bool is_lower(char32_t c) {
  std::string low, own;
  append_lower(low, c);
  append_code_point(own, c);
  return low == own;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != text.npos; text.remove_prefix(std::min(end, text.size() - 1) + 1)) {
    end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.npos) break;
  }
  return parts;
}

bool has_letter_or_digit(std::string_view text) {
  for (size_t i = 0; i < text.size();)
    if (is_letter_or_digit(next_code_point(text, i))) return true;
  return false;
}

// As outputs have it; "": the vocabulary lacks a word of it.
std::string normalised(const std::string& form, const Vocabulary& vocabulary) {
  std::vector<int> ids;
  vocabulary.encode(form, ids);
  if (std::ranges::count(ids, int(Vocabulary::unk)) > 0) return "";
  return std::string(trimmed(vocabulary.decode(ids)));
}

// Whether the characters are those of the term, or capitals of them.
bool is_written_as(std::string_view span, std::string_view term) {
  size_t i = 0, k = 0;
  while (i < span.size() && k < term.size()) {
    const char32_t c = next_code_point(span, i), wanted = next_code_point(term, k);
    if (c == wanted) continue;
    std::string low, own;
    append_lower(low, c);
    append_code_point(own, wanted);
    if (low != own) return false;
  }
  return i == span.size() && k == term.size();
}

}  // namespace

Terminology::Terminology(const std::string& path) {
  TextReader file({path});
  for (std::string line; file.next(line);) {
    if (is_blank(line)) continue;
    const auto columns = split(line, '\t');
    const auto refuse = [&](const std::string& why) {
      throw DataError(file.place(file.line_number()) + ": " + why);
    };
    if (columns.size() < 2) refuse("no tab: give TERM, a tab, TRANSLATION");
    if (columns.size() > 3) refuse("more than three columns: TERM, TRANSLATION, CONTEXT");
    Entry entry{std::string(columns[0]), columns.size() > 2 ? lower(columns[2]) : "", {}};
    for (const std::string_view form : split(columns[1], '|')) entry.forms.emplace_back(form);
    if (entry.term.empty() || std::ranges::count(entry.forms, "") > 0)
      refuse("a term or translation is empty");
    lengths_.push_back(lower(entry.term).size());
    std::vector<Entry>& same = entries_[lower(entry.term)];
    // Those with a context come first.
    const bool last = entry.context.empty();
    same.insert(last ? same.end() : std::ranges::find(same, "", &Entry::context), std::move(entry));
  }
  if (entries_.empty()) throw DataError(path + " has no term");
  std::sort(lengths_.rbegin(), lengths_.rend());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
}

// span: of the text, whose lower case is `key`.
const Terminology::Entry* Terminology::find(const std::string& key, std::string_view span,
                                            std::string_view lower_text) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  for (const bool exact : {true, false})
    for (const Entry& entry : found->second)
      if ((exact ? span == entry.term : is_written_as(span, entry.term)) &&
          (entry.context.empty() || contains_whole(lower_text, entry.context)))
        return &entry;
  return nullptr;
}

std::vector<Terminology::Term> Terminology::terms_of(std::string_view text,
                                                     const Vocabulary& source,
                                                     const Vocabulary& target) const {
  std::string low;
  std::vector<size_t> origin;  // of each byte of `low`, and the end
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    append_lower(low, next_code_point(text, i));
    origin.resize(low.size(), begin);
  }
  origin.push_back(text.size());
  std::vector<int> ids;
  const auto tokens_in = [&](size_t end) {
    const std::string_view before = trimmed(text.substr(0, end));
    ids.clear();
    if (!before.empty()) source.encode(before, ids);
    return int64_t(ids.size());
  };
  std::vector<Term> terms;
  for (size_t at = 0, next; at < low.size(); at = next) {
    next = at + 1;
    if (is_continuation(low[at]) || low[at] == ' ') continue;
    for (const size_t length : lengths_) {
      const size_t end = at + length;
      if (end > low.size() || !is_whole(low, at, end)) continue;
      const std::string_view span = text.substr(origin[at], origin[end] - origin[at]);
      const Entry* entry = find(low.substr(at, length), span, low);
      if (!entry) continue;
      Term term{tokens_in(origin[at]), tokens_in(origin[end]), {}};
      term.first = std::min(term.first, term.last - 1);  // within a token
      const bool capitals = span == upper(span) && entry->term != span && length > 1;
      for (const std::string& form : entry->forms) {
        std::string written = normalised(capitals ? upper(form) : form, target);
        if (!written.empty()) term.forms.push_back(std::move(written));
      }
      terms.push_back(std::move(term));
      next = end;
      break;
    }
  }
  return terms;
}

bool contains(std::string_view output, const Terminology::Term& term) {
  return std::ranges::any_of(term.forms, [&](const std::string& form) {
    return contains_whole(output, form) || contains_whole(output, capitalised(form));
  });
}

namespace {

// Where the words that the tokens [first, last) are aligned to begin; else behind those that the
// tokens before are aligned to, or before those after. Not before `kept`.
size_t place_of(const Terminology::Term& term, std::string_view output,
                std::span<const Markup::Token> tokens, size_t kept) {
  size_t own = output.size() + 1, behind = kept, next = own;
  int64_t nearest = -1;
  for (const Markup::Token& token : tokens) {
    const std::string_view word = trimmed(output.substr(token.begin, token.end - token.begin));
    const auto begin = size_t(word.data() - output.data());
    if (begin < kept || token.source < 0 || !has_letter_or_digit(word)) continue;
    if (token.source >= term.first && token.source < term.last) own = std::min(own, begin);
    if (token.source < term.first && token.source >= nearest) {
      behind = token.source > nearest ? token.end : std::max(behind, token.end);
      nearest = token.source;
    }
    if (token.source >= term.last) next = std::min(next, begin);
  }
  size_t at = own <= output.size() ? own : nearest >= 0 ? behind : next;
  if (at > output.size()) at = kept;
  const size_t begin = outside_words(output, at, true);
  return begin >= kept ? begin : outside_words(output, kept, false);
}

}  // namespace

std::string corrected_prefix(std::string_view output, std::span<const Terminology::Term> terms,
                             std::span<const Markup::Token> tokens, size_t kept) {
  std::string prefix;
  kept = std::min(kept, output.size());
  size_t first = output.size() + 1;
  for (const Terminology::Term& term : terms) {
    if (term.forms.empty() || contains(output, term)) continue;
    const size_t at = place_of(term, output, tokens, kept);
    if (at >= first) continue;
    first = at;
    const std::string_view after = output.substr(at);
    const bool capital = at == 0 && !after.empty() && !is_lower(first_code_point(after));
    const std::string& form = term.forms.front();
    prefix = output.substr(0, at);
    if (!prefix.ends_with(' ') && (after.starts_with(' ') || is_inside_word(prefix + form, at)))
      prefix += ' ';
    prefix += capital ? capitalised(form) : form;
  }
  return std::string(trimmed(prefix));
}

}  // namespace tx
