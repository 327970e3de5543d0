#include "lib/search/lines/lines.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/lines/open_end.h"
#include "lib/subword/mapped.h"
#include "lib/subword/token_lines.h"
#include "lib/subword/word_groups.h"

namespace tx {
namespace {

constexpr int64_t max_warnings = 10;

std::vector<int> ids_of(std::string_view text, LineForm form, const Vocabulary& vocabulary) {
  std::vector<int> ids;
  if (is_blank(text)) return ids;
  if (form != LineForm::text) return split_tokens(vocabulary, text, form == LineForm::ids);
  vocabulary.encode(text, ids);
  return ids;
}

std::string with_masks_as(std::string_view name, std::string text) {
  for (size_t at = 0; (at = text.find(mask_text, at)) != text.npos; at += name.size())
    text.replace(at, sizeof mask_text - 1, name);
  return text;
}

// The same for a text with masks, each of which is mask_token. In training a mask replaces a token
// with its space, so the white space around it is no token. A tokenizer of another toolkit finds
// its own name of it.
std::vector<int> masked_ids(std::string_view text, const Vocabulary& vocabulary) {
  std::vector<int> ids, part;
  if (vocabulary.mapped() && has_tokenizer(*vocabulary.mapped())) {
    if (is_blank(text)) return ids;
    vocabulary.encode(with_masks_as(vocabulary.token(mask_token), std::string(text)), ids);
    return ids;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t mask = std::min(text.find(mask_text, begin), text.size());
    std::string_view between = text.substr(begin, mask - begin);
    if (!is_blank(between)) {
      const std::string_view words = trimmed(between);
      if (begin > 0) between.remove_prefix(size_t(words.data() - between.data()));
      if (mask < text.size()) between.remove_suffix(size_t(between.end() - words.end()));
      vocabulary.encode(between, part);
      ids.insert(ids.end(), part.begin(), part.end());
    }
    if (mask == text.size()) break;
    ids.push_back(mask_token);
    begin = mask + sizeof mask_text - 1;
  }
  return ids;
}

// The tokens of a prefix or phrase of the output.
std::vector<int> phrase_ids(std::string_view text, LineForm form, const Translator& translator) {
  if (form == LineForm::text) text = trimmed(text);
  return ids_of(text, form, translator.models().target());
}

}  // namespace

Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids) {
  Line line;
  const Vocabulary& source = translator.models().source();
  const bool masks = translator.encodes();
  ids = masks ? masked_ids(text, source) : ids_of(text, options.form, source);
  // Adds the opening tokens, as encode() does for text, unless the line begins with a language.
  if (options.form != LineForm::text && !ids.empty() && !is_language(source, ids.front())) {
    const std::vector<int> opening = opening_tokens(source);
    ids.insert(ids.begin(), opening.begin(), opening.end());
  }
  line.unknown =
      masks ? unknown_text(with_masks_as(" ", std::string(text)), ids, options.form, source)
            : unknown_text(text, ids, options.form, source);
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

std::string unknown_text(std::string_view text, std::span<const int> ids, LineForm form,
                         const Vocabulary& vocabulary) {
  const bool unknown = std::ranges::count(ids, int(Vocabulary::unk)) > 0;
  if (form != LineForm::text) return unknown ? vocabulary.token(Vocabulary::unk) : "";
  return unknown || text.starts_with(">>") ? vocabulary.first_unknown(text) : "";
}

int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, Source& source) {
  source.prefix = phrase_ids(text, options.form, translator);
  const int64_t tokens = int64_t(source.prefix.size()), max = translator.max_source();
  if (tokens > max)
    source.prefix.resize(size_t(max));
  else if (tokens > 0 && options.form == LineForm::text && translator.rules().texts() &&
           translator.options().search.alternatives == 0)
    open_prefix(text, *translator.rules().texts(), source);
  return tokens;
}

std::vector<int> parse_phrase(std::string_view text, const LineOptions& options,
                              const Translator& translator) {
  std::vector<int> ids = phrase_ids(text, options.form, translator);
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

void UnknownText::add(const TextReader& reader, const std::string& unknown) {
  if (unknown.empty()) return;
  if (lines_ == 0)
    first_ = reader.place(reader.line_number()) + ": " + describe_unknown(unknown, vocabulary_);
  if (reader.strict()) throw DataError(first_ + "; correct it, or omit --strict");
  ++lines_;
}

void UnknownText::at_end() const {
  if (lines_ == 0) return;
  const std::string more = " (the first of " + with_commas(lines_) + " such lines)";
  log_.warn(first_ + (lines_ == 1 ? "" : more));
}

Translation join_parts(const std::vector<Translation>& parts, double alpha) {
  if (parts.size() == 1) return parts.front();
  TokenHypothesis whole;
  int64_t labels = 0;
  float ends = 0;  // of parts without tokens, added to the next token or end
  for (const Translation& part : parts) {
    const TokenHypothesis& h = part.front();
    whole.log_p += h.log_p;
    whole.complete = whole.complete && h.complete;
    labels += int64_t(h.token_log_p.size());
    whole.ids.insert(whole.ids.end(), h.ids.begin(), h.ids.end());
    const auto& log_p = h.token_log_p;
    const size_t first = whole.token_log_p.size();
    whole.token_log_p.insert(whole.token_log_p.end(), log_p.begin(),
                             log_p.begin() + ptrdiff_t(h.ids.size()));
    if (whole.token_log_p.size() > first) whole.token_log_p[first] += std::exchange(ends, 0.0f);
    if (!h.complete) continue;
    if (&part == &parts.back())
      whole.token_log_p.push_back(ends + log_p.back());
    else
      (whole.token_log_p.empty() ? ends : whole.token_log_p.back()) += log_p.back();
  }
  whole.score = whole.log_p / length_penalty(labels, alpha);
  return {whole};
}

std::string join_texts(std::span<const Source> parts, const std::vector<Translation>& found,
                       const Vocabulary& vocabulary) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = vocabulary.decode(found[i].front().ids);
    if (!text.empty() && !part.empty()) {
      const bool wide = last_code_point(text) >= 0x2E80;
      text += !parts[i].gap.empty() ? parts[i].gap : wide ? "" : " ";
    }
    text += part;
  }
  return text;
}

void drop_repeated_texts(Translation& outputs, const Vocabulary& vocabulary,
                         std::span<const int> prompt, const std::vector<std::string>& stops) {
  std::vector<std::string> seen;
  std::erase_if(outputs, [&](const TokenHypothesis& h) {
    const std::string text = prompt.empty()
                                 ? vocabulary.decode(h.ids)
                                 : continuation_text(vocabulary, prompt, h.ids, h.repeats);
    seen.push_back(one_line(before_stop(text, stops)));
    return std::count(seen.begin(), seen.end(), seen.back()) > 1;
  });
}

namespace {

std::string six_decimals(double x) { return formatted("%.6f", x == 0 ? 0.0 : x); }

std::string output(const Line& line, const TokenHypothesis& h, const LineOptions& options,
                   const Vocabulary& vocabulary, std::span<const int> prompt) {
  if (options.form != LineForm::text) {
    std::vector<int> ids;
    if (options.echo) ids.assign(prompt.begin(), prompt.end());
    ids.insert(ids.end(), h.ids.begin(), h.ids.end());
    return join_tokens(vocabulary, ids, options.form == LineForm::ids);
  }
  if (!h.text.empty()) return h.text;
  std::string text = continuation_text(vocabulary, prompt, h.ids, h.repeats);
  if (prompt.empty() && (!options.json || text.find('\n') == text.npos))
    return vocabulary.decode(h.ids);
  text = before_stop(std::move(text), options.stops);
  if (options.echo) text.insert(0, line.prompt);
  return options.json ? text : one_line(std::move(text));
}

std::string six_digits(double x) { return formatted("%.6g", x); }

std::string joined(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : " ") + six_decimals(value);
  return out;
}

Json links(const std::string& text) {
  Json out = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t dash = text.find('-', at), end = std::min(text.find(' ', at), text.size());
    TX_ASSERT(dash < end);
    out.push_back({std::stoi(text.substr(at, dash - at)), std::stoi(text.substr(dash + 1))});
    at = end + 1;
  }
  return out;
}

void describe(Json& json, const Line& line, const TokenHypothesis& h, const LineOptions& options,
              const Vocabulary& vocabulary, std::span<const int> prompt) {
  json["text"] = output(line, h, options, vocabulary, prompt);
  json["score"] = finite_or_null(h.score);
  json["log_p"] = finite_or_null(h.log_p);  // minus infinity is possible for a forced target
  json["complete"] = h.complete;
  const WordScores tokens = words_of(h, LineForm::tokens, vocabulary);
  json["pieces"] = tokens.words;
  json["piece_log_p"] = tokens.log_p;
  if (!options.word_scores) return;
  const WordScores words = words_of(h, LineForm::text, vocabulary);
  json["words"] = words.words;
  json["word_log_p"] = words.log_p;
}

}  // namespace

WordScores words_of(const TokenHypothesis& h, LineForm form, const Vocabulary& vocabulary) {
  WordScores out;
  std::vector<double> log_p(h.token_log_p.begin(), h.token_log_p.end());
  if (form != LineForm::text) {
    out.words = vocabulary.tokens(h.ids);
    out.log_p = std::move(log_p);
    return out;
  }
  const WordGroups groups = group_words(vocabulary, h.ids);
  out.words = groups.words;
  if (log_p.size() < h.ids.size()) return out;  // the output of a blank line
  for (size_t word = 0; word < groups.size(); ++word) {
    out.log_p.push_back(0);
    for (int64_t i = groups.starts[word]; i < groups.starts[word + 1]; ++i)
      out.log_p.back() += log_p[size_t(i)];
  }
  if (log_p.size() > h.ids.size()) out.log_p.push_back(log_p.back());
  return out;
}

std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns, std::span<const int> prompt) {
  const bool several = options.list || options.scores || options.word_scores || !columns.empty();
  std::string out;
  for (size_t rank = 0; rank < translation.size(); ++rank) {
    const TokenHypothesis& h = translation[rank];
    std::string text = output(line, h, options, vocabulary, prompt);
    if (several) std::replace(text.begin(), text.end(), '\t', ' ');
    if (options.list) out += std::to_string(line.number) + "\t" + std::to_string(rank + 1) + "\t";
    if (options.list || options.scores)
      out += six_decimals(h.score) + "\t" + six_decimals(h.log_p) + "\t";
    out += text;
    if (options.word_scores) out += "\t" + joined(words_of(h, options.form, vocabulary).log_p);
    if (!columns.empty()) out += "\t" + columns[rank];
    out += "\n";
    if (!options.list) break;
  }
  return out;
}

std::string format_encoded(const TokenHypothesis& h, const Vocabulary& vocabulary) {
  std::string out;
  for (const float x : h.vector) out += (out.empty() ? "" : "\t") + six_digits(double(x));
  if (!h.vector.empty()) return out + "\n";
  out = vocabulary.decode(h.ids);
  if (!h.masks.empty()) std::replace(out.begin(), out.end(), '\t', ' ');
  for (const std::vector<MaskChoice>& choices : h.masks)
    for (const MaskChoice& choice : choices)
      out += "\t" + vocabulary.token(choice.token) + "\t" + six_digits(choice.probability);
  return out + "\n";
}

std::string format_json(const Line& line, const Translation& translation,
                        const std::vector<std::string>& states, const LineOptions& options,
                        const Vocabulary& vocabulary, const std::vector<std::string>& alignments,
                        std::span<const int> prompt) {
  Json json = {{"line", line.number}};
  describe(json, line, translation.front(), options, vocabulary, prompt);
  if (!alignments.empty()) json["alignment"] = links(alignments.front());
  json["states"] = states;
  if (options.list) json["nbest"] = Json::array();
  for (size_t rank = 0; rank < translation.size() && options.list; ++rank) {
    Json one = Json::object();
    describe(one, line, translation[rank], options, vocabulary, prompt);
    if (!alignments.empty()) one["alignment"] = links(alignments[rank]);
    json["nbest"].push_back(one);
  }
  return to_text(json) + "\n";
}

std::string status_header() {
  return "line\tstate\tsource_pieces\toutput_pieces\treplaced\tscore\tlog_p\tmilliseconds\n";
}

std::string format_status(const Line& line, const Translation& translation,
                          const std::vector<std::string>& states, double milliseconds) {
  const std::string state = states.empty() ? "ok" : tx::joined(states, ",");
  const TokenHypothesis& best = translation.front();
  return std::to_string(line.number) + "\t" + state + "\t" + std::to_string(line.tokens) + "\t" +
         std::to_string(best.ids.size()) + "\t" + std::to_string(line.replaced) + "\t" +
         six_decimals(best.score) + "\t" + six_decimals(best.log_p) + "\t" +
         formatted("%.1f\n", milliseconds);
}

}  // namespace tx
