#include "lib/subword/subword_nmt/codes.h"

#include <algorithm>
#include <locale>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/token_counts.h"

namespace tx {

namespace {

std::wstring wide(std::string_view text) {
  std::wstring out;
  for (size_t i = 0; i < text.size();) out += wchar_t(next_code_point(text, i));
  return out;
}

std::string narrow(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) append_code_point(out, char32_t(c));
  return out;
}

// Recognises letters beyond ASCII if the system has the locale.
std::locale unicode_locale() {
  try {
    return std::locale("C.UTF-8");
  } catch (const std::runtime_error&) {
    return std::locale::classic();
  }
}

std::wregex expression(const std::string& pattern) {
  std::wregex out;
  out.imbue(unicode_locale());
  out.assign(wide(pattern));
  return out;
}

void add(std::vector<std::string>& out, std::string part) {
  if (!part.empty()) out.push_back(std::move(part));
}

void isolate_text(std::string_view text, std::string_view word, std::vector<std::string>& out) {
  for (size_t at = 0;;) {
    const size_t hit = word.find(text, at);
    add(out, std::string(word.substr(at, hit - at)));
    if (hit == word.npos) return;
    out.emplace_back(text);
    at = hit + text.size();
  }
}

bool too_long(const std::wstring& word) { return word.size() > Glossary::max_word; }

constexpr std::string_view blanks = "\r ";

// The end of the first line of `text` according to Python's str.splitlines(), which subword-nmt
// uses: no word crosses these characters.
size_t end_of_python_line(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (c == '\v' || c == '\f' || c == '\r' || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
        c == 0x2028 || c == 0x2029)
      return i;
  }
  return text.size();
}

std::string_view strip_blanks(std::string_view text) {
  while (!text.empty() && blanks.find(text.front()) != blanks.npos) text.remove_prefix(1);
  while (!text.empty() && blanks.find(text.back()) != blanks.npos) text.remove_suffix(1);
  return text;
}

}  // namespace

Glossary::Glossary(const std::vector<std::string>& entries) {
  for (const std::string& pattern : entries) entries_.push_back(compile(pattern));
}

Glossary::Entry Glossary::compile(const std::string& pattern) {
  if (pattern.empty() || count_invalid_utf8(pattern) > 0)
    throw UsageError("--glossaries needs a text or a regular expression in UTF-8");
  if (pattern.find_first_of("\\^$.|?*+()[]{}") == pattern.npos) return {pattern, {}, {}, {}};
  if (pattern.size() > max_expression)
    throw UsageError("--glossaries: a regular expression must have at most " +
                     std::to_string(max_expression) + " bytes");
  try {
    Entry entry{"", expression(pattern), expression("^(?:" + pattern + ")$"),
                expression("^" + pattern + "$")};
    if (entry.expression.mark_count() > 0)
      throw UsageError("--glossaries '" + pattern +
                       "' has a capturing group, whose text subword-nmt writes twice: use (?:...)");
    if (std::regex_search(std::wstring(), entry.expression))
      throw UsageError("--glossaries '" + pattern + "' matches the empty text");
    return entry;
  } catch (const std::regex_error& error) {
    throw UsageError("--glossaries '" + pattern +
                     "' is not a regular expression (ECMAScript): " + error.what());
  }
}

bool Glossary::holds(std::string_view word) const {
  if (empty()) return false;
  const std::wstring text = wide(word);
  for (const Entry& entry : entries_) {
    if (!entry.text.empty() ? word == entry.text
                            : !too_long(text) && std::regex_match(text, entry.whole))
      return true;
  }
  return false;
}

void Glossary::isolate(const Entry& entry, const std::string& word, std::vector<std::string>& out) {
  if (!entry.text.empty()) return isolate_text(entry.text, word, out);
  const std::wstring text = wide(word);
  const auto at_begin = std::regex_constants::match_continuous;
  if (too_long(text) || std::regex_search(text, entry.loose, at_begin)) return out.push_back(word);
  auto rest = text.begin();
  for (std::wsregex_iterator hit(text.begin(), text.end(), entry.expression), end; hit != end;
       ++hit) {
    add(out, narrow(std::wstring(rest, (*hit)[0].first)));
    add(out, narrow(hit->str()));
    rest = (*hit)[0].second;
  }
  add(out, narrow(std::wstring(rest, text.end())));
}

std::vector<std::string> Glossary::isolate(std::string_view word) const {
  std::vector<std::string> parts = {std::string(word)};
  for (const Entry& entry : entries_) {
    std::vector<std::string> finer;
    for (const std::string& part : parts) isolate(entry, part, finer);
    parts = std::move(finer);
  }
  return parts;
}

Codes::Codes(const std::string& path, const CodesOptions& options)
    : table_(path, options.merges), separator_(options.separator), glossary_(options.glossaries) {
  if (options.vocabulary.empty()) return;
  for (std::string& token : read_tokens(options.vocabulary, options.threshold))
    vocabulary_.insert(std::move(token));
}

bool Codes::known(const std::string& token, bool last) const {
  return vocabulary_.count(last ? token : token + separator_) > 0;
}

// Undoes merges until the parts are in the vocabulary or cannot be split.
void Codes::split(std::string token, bool last, std::vector<std::string>& tokens) const {
  const std::string_view end = CodesTable::end_sign;
  // An empty token is a right half that was only </w>: splitting it would not terminate.
  const auto* halves =
      token.empty() ? nullptr : table_.halves(last ? token + std::string(end) : token);
  if (halves == nullptr) return tokens.push_back(std::move(token));
  std::string right = halves->second;
  if (last) right.resize(right.size() - std::min(right.size(), end.size()));
  append_known(halves->first, false, tokens);
  append_known(std::move(right), last, tokens);
}

void Codes::append_known(std::string token, bool last, std::vector<std::string>& tokens) const {
  if (known(token, last))
    tokens.push_back(std::move(token));
  else
    split(std::move(token), last, tokens);
}

// A word, or a part of it outside the glossary.
void Codes::cut(std::string_view part, MergeDraws* draws, std::vector<std::string>& tokens) const {
  if (glossary_.holds(part) || first_character_bytes(part) == part.size()) {
    tokens.emplace_back(part);
    return;
  }
  std::vector<std::string> cut = cut_word(table_, part, draws);
  for (size_t i = 0; i < cut.size(); ++i) {
    if (vocabulary_.empty())
      tokens.push_back(std::move(cut[i]));
    else
      append_known(std::move(cut[i]), i + 1 == cut.size(), tokens);
  }
}

// Collapses runs of spaces inside the text, not at its ends.
void Codes::apply_part(std::string_view text, MergeDraws* draws, LineCounts& counts,
                       std::string& out) const {
  const std::string_view inner = strip_blanks(text);
  out += text.substr(0, inner.empty() ? text.size() : size_t(inner.data() - text.data()));
  if (inner.empty()) return;
  std::vector<std::string> tokens;
  bool first = true;
  for (size_t at = 0; at < inner.size();) {
    const size_t end = std::min(inner.find(' ', at), inner.size());
    const std::string_view word = inner.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    tokens.clear();
    if (glossary_.empty()) cut(word, draws, tokens);
    if (!glossary_.empty())
      for (const std::string& part : glossary_.isolate(word)) cut(part, draws, tokens);
    ++counts.words;
    counts.tokens += int64_t(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (!first) out += ' ';
      first = false;
      out += tokens[i];
      if (i + 1 < tokens.size()) out += separator_;
    }
  }
  out += text.substr(size_t(inner.data() - text.data()) + inner.size());
}

std::string Codes::apply(std::string_view line, MergeDraws* draws, LineCounts& counts) const {
  std::string out;
  while (!line.empty()) {
    const size_t end = end_of_python_line(line);
    apply_part(line.substr(0, end), draws, counts, out);
    line.remove_prefix(end);
  }
  return out;
}

LineTokenizer line_tokenizer(Codes codes, const MergeDropout& dropout) {
  const auto shared = std::make_shared<const Codes>(std::move(codes));
  return [shared, dropout](std::string& line, int64_t number) {
    LineCounts counts;
    MergeDraws draws(dropout, number);
    line = shared->apply(line, dropout.probability > 0 ? &draws : nullptr, counts);
    return counts;
  };
}

std::string join_separated(std::string_view line, std::string_view separator) {
  const std::string mark = std::string(separator) + ' ';
  std::string out;
  size_t at = 0;
  for (size_t hit; (hit = line.find(mark, at)) != line.npos; at = hit + mark.size())
    out += line.substr(at, hit - at);
  std::string_view rest = line.substr(at);
  if (rest.ends_with(separator)) rest.remove_suffix(separator.size());
  return out.append(rest);
}

void join_lines(TextReader& in, const std::string& separator, int threads, Writer& out) {
  map_lines(in, threads, out,
            [&](std::string& line, int64_t) { line = join_separated(line, separator); });
}

}  // namespace tx
