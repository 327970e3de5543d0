#include "lib/search/lines/lines.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/subword/token_lines.h"

namespace tx {

namespace {

constexpr int64_t max_warnings = 10;

bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::vector<int> ids_of(std::string_view text, LineForm form, const Vocabulary& vocabulary) {
  std::vector<int> ids;
  if (is_blank(text)) return ids;
  if (form != LineForm::text) return split_tokens(vocabulary, text, form == LineForm::ids);
  vocabulary.encode(text, ids);
  return ids;
}

}  // namespace

bool is_blank(std::string_view line) {
  for (size_t i = 0; i < line.size();) {
    if (!is_white_space(next_code_point(line, i))) return false;
  }
  return true;
}

Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids) {
  Line line;
  const Vocabulary& source = translator.models().source();
  ids = ids_of(text, options.form, source);
  // What encode() does for text. A line of tokens may begin with a language of its own.
  if (options.form != LineForm::text && !ids.empty() && !is_language(source, ids.front())) {
    const std::vector<int> opening = opening_tokens(source);
    ids.insert(ids.begin(), opening.begin(), opening.end());
  }
  line.tokens = int64_t(ids.size());
  line.blank = ids.empty();
  line.cut = line.tokens > translator.max_source();
  if (line.cut && translator.continues())
    ids.erase(ids.begin(), ids.end() - translator.max_source());
  else if (line.cut)
    ids.resize(size_t(translator.max_source()));
  return line;
}

int64_t parse_target(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& labels, int64_t prompt) {
  labels = ids_of(text, options.form, translator.models().target());
  const int64_t tokens = int64_t(labels.size()), max = translator.models().longest() - 1 - prompt;
  if (tokens <= max)
    labels.push_back(Vocabulary::eos);
  else
    labels.resize(size_t(max));
  return tokens;
}

int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& ids) {
  if (options.form == LineForm::text) text = text.substr(0, text.find_last_not_of(" \r") + 1);
  ids = ids_of(text, options.form, translator.models().target());
  const int64_t tokens = int64_t(ids.size());
  ids.resize(size_t(std::min(tokens, translator.max_source())));
  return tokens;
}

std::vector<int> parse_phrase(std::string_view text, const LineOptions& options,
                              const Translator& translator) {
  std::vector<int> ids = ids_of(text, options.form, translator.models().target());
  const std::vector<int> never = translator.models().forbidden();
  for (const int id : ids)
    if (id == Vocabulary::eos || id == Vocabulary::unk || std::ranges::count(never, id))
      throw DataError("'" + std::string(text) +
                      "' cannot be required: a word of it is not in the vocabulary");
  return ids;
}

void CutWarnings::add(const TextReader& reader, int64_t tokens, int64_t left, const char* options,
                      const char* which) {
  if (++lines_ > max_warnings) return;
  log_.warn(reader.place(reader.line_number()) + ": " + counted(tokens, "token") + ", cut to the " +
            which + " " + std::to_string(left) + " (" + options + ")" + advice_);
}

void CutWarnings::at_end() const {
  if (lines_ > max_warnings) log_.warn(std::to_string(lines_) + " lines in all were cut");
}

Translation join_parts(const std::vector<Translation>& parts, double alpha) {
  if (parts.size() == 1) return parts.front();
  TokenHypothesis whole;
  int64_t labels = 0;
  for (const Translation& part : parts) {
    const TokenHypothesis& h = part.front();
    whole.log_p += h.log_p;
    whole.complete = whole.complete && h.complete;
    labels += int64_t(h.token_log_p.size());
    whole.ids.insert(whole.ids.end(), h.ids.begin(), h.ids.end());
    const auto& log_p = h.token_log_p;
    whole.token_log_p.insert(whole.token_log_p.end(), log_p.begin(),
                             log_p.begin() + ptrdiff_t(h.ids.size()));
    if (!h.complete) continue;
    if (&part == &parts.back() || whole.token_log_p.empty())
      whole.token_log_p.push_back(log_p.back());
    else
      whole.token_log_p.back() += log_p.back();
  }
  whole.score = whole.log_p / length_penalty(labels, alpha);
  return {whole};
}

}  // namespace tx
