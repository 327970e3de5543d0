#include "lib/subword/subword_nmt/codes.h"

#include <algorithm>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/token_counts.h"

namespace tx {

namespace {

// The end of the first line by Python's str.splitlines(): no word of subword-nmt crosses it.
size_t end_of_python_line(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (c == '\v' || c == '\f' || c == '\r' || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
        c == 0x2028 || c == 0x2029)
      return i;
  }
  return text.size();
}

}  // namespace

Codes::Codes(const std::string& path, const CodesOptions& options)
    : table_(path, options.merges), separator_(options.separator), glossary_(options.glossaries) {
  if (options.vocabulary.empty()) return;
  bool all_known = true, any_separated = false;
  const auto known = [&](const std::string& token) {
    const bool separated = !separator_.empty() && token.ends_with(separator_);
    const std::string text = token.substr(0, token.size() - (separated ? separator_.size() : 0));
    const bool found = options.merges >= 0 || first_character_bytes(text) >= text.size() ||
                       table_.find(text) >= 0 ||
                       table_.find(text + std::string(CodesTable::end_sign)) >= 0;
    any_separated = any_separated || separated;
    all_known = all_known && found;
    return found;
  };
  for (std::string& token : read_tokens(options.vocabulary, options.threshold, known))
    vocabulary_.insert(std::move(token));
  if (!all_known && !any_separated && !separator_.empty())
    throw DataError(options.vocabulary + ": no entry ends in " + separator_ +
                    "; give the --separator that its tokens have");
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
