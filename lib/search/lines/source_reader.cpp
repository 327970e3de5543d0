#include "lib/search/lines/source_reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/search/lines/open_end.h"
#include "lib/subword/languages.h"
#include "lib/text/parse.h"

namespace tx {
namespace {

constexpr char needs_bos[] =
    " has no token that begins a text, so the first token of a text has no score: give prompts, "
    "and "
    "their continuations with --tgt";

template <class F>
void at_its_place(const TextReader& reader, F&& parse) {
  try {
    parse();
  } catch (const DataError& error) {
    throw DataError(reader.place(reader.line_number()) + ": " + error.what());
  }
}

// Removes the text up to the first tab and returns it.
std::string_view next_column(std::string_view& rest) {
  const size_t tab = rest.find('\t');
  const std::string_view column = rest.substr(0, tab);
  rest.remove_prefix(tab == rest.npos ? rest.size() : tab + 1);
  return column;
}

// The first words of a vocabulary, which are frequent, of ASCII letters and a token each.
std::vector<std::string> frequent_words(const Vocabulary& vocabulary, size_t count) {
  std::vector<std::string> words;
  std::vector<int> ids;
  for (int id = 0; id < vocabulary.size() && words.size() < count; ++id) {
    std::string word = vocabulary.decode({&id, 1});
    if (word.size() < 2 || !std::ranges::all_of(word, [](char c) { return std::isalpha(c); }))
      continue;
    vocabulary.encode(word, ids);
    if (std::ranges::count(ids, id) == 1) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

void SourceReader::parse(Line& line, Source& source) {
  std::string_view rest = text_;
  const bool phrases = search().constraints && !in_.other();
  const bool columns = (search().prefix && !options_.glossary) || phrases;
  std::string_view text = columns ? next_column(rest) : text_;
  Markup::Line marked;
  if (options_.markup) text = (marked = take_markup(text)).text;
  line = parse_line(text, options_, translator_, source.ids);
  line.marked = std::move(marked);
  line.marked.tokens = int64_t(source.ids.size());
  if (options_.glossary) line.terms = {terms_of(text, source)};
  if (options_.form == LineForm::text && !search().forced_target)
    open_prompt(text, translator_, source);
  if (line.cut && !splits(line)) warn_of_cut(line);
  if (!columns) return;
  if (search().prefix) {
    const std::string_view prefix = next_column(rest);
    parse_prefix_column(prefix, source);
    if (line.unknown.empty() && !line.blank)
      line.unknown = unknown_text(prefix, source.prefix, options_.form, target());
  }
  if (!rest.empty() && !phrases)
    throw DataError("the line has more columns than --prefix reads: TEXT, a tab, PREFIX");
  take_phrases(rest, source);
  if (!line.blank) return;
  source.prefix.clear();
  source.rest.clear();
  source.rest_tokens = 0;
  source.phrases.clear();
}

std::vector<Terminology::Term> SourceReader::terms_of(std::string_view text,
                                                      const Source& source) const {
  auto terms = options_.glossary->terms_of(text, translator_.models().source(), target());
  // Those of a line that was cut.
  std::erase_if(terms, [&](const auto& term) { return term.first >= int64_t(source.ids.size()); });
  return terms;
}

Markup::Line SourceReader::take_markup(std::string_view text) {
  Markup::Line line = options_.markup->take(text, stand_ins_);
  const Vocabulary& vocabulary = translator_.models().source();
  if (line.lacks_stand_ins && !std::exchange(knows_stand_ins_, true)) {
    stand_ins_ = find_stand_ins(frequent_words(vocabulary, 9), [&](const auto& texts) {
      std::vector<Source> sources(texts.size());
      for (size_t i = 0; i < texts.size(); ++i)
        parse_line(texts[i], options_, translator_, sources[i].ids);
      std::vector<std::string> outputs;
      for (const Translation& found : translator_.translate(sources))
        outputs.push_back(target().decode(found.front().ids));
      return outputs;
    });
    line = options_.markup->take(text, stand_ins_);
  }
  for (Markup::Part& part : line.parts)
    part.token = tokens_in(std::string_view(line.text).substr(0, part.at));
  return line;
}

int64_t SourceReader::tokens_in(std::string_view text) const {
  std::vector<int> ids;
  if (!is_blank(text)) translator_.models().source().encode(trimmed(text), ids);
  return int64_t(ids.size());
}

void SourceReader::take_phrases(std::string_view columns, Source& source) {
  while (!columns.empty()) {
    std::vector<int> phrase = parse_phrase(next_column(columns), options_, translator_);
    if (!phrase.empty() && !std::ranges::count(source.phrases, phrase))
      source.phrases.push_back(std::move(phrase));
  }
}

void SourceReader::warn_of_cut(const Line& line) {
  cuts_.add(in_.text(), line.tokens, translator_.max_source(), translator_.limit(),
            translator_.continues() ? "last" : "first");
}

void SourceReader::parse_prefix_column(std::string_view text, Source& source) {
  const int64_t tokens = parse_prefix(text, options_, translator_, source);
  const int64_t taken = source.rest.empty() ? int64_t(source.prefix.size()) : tokens;
  if (tokens > taken) cuts_.add(in_.text(), tokens, taken, translator_.limit());
}

// For --perplexity: the line is a text to score, not a prompt.
void SourceReader::take_whole(Line& line, Source& source) {
  const TextReader& text = in_.text();
  if (!search().bos) throw DataError(translator_.models().name() + needs_bos);
  line = {};
  at_its_place(text,
               [&] { line.tokens = parse_target(text_, options_, translator_, source.target); });
  const auto labels = int64_t(source.target.size());
  line.blank = line.tokens == 0;
  line.cut = line.tokens > labels;
  line.unknown = unknown_text(text_, source.target, options_.form, target());
  line.number = source.line = text.line_number();
  line.replaced = text.replaced();
  source.opens = !line.blank;
  if (line.cut) cuts_.add(text, line.tokens, labels, "--max-length and --max-new");
  unknown_.add(text, line.unknown);
}

// For --perplexity: moves the second column of the line to the target.
void SourceReader::split_pair() {
  target_.clear();
  if (is_blank(text_)) return;
  const size_t tab = text_.find('\t');
  if (tab == text_.npos)
    throw DataError("no tab: give SOURCE, a tab, TARGET, or the targets with --tgt FILE");
  if (text_.find('\t', tab + 1) != text_.npos)
    throw DataError("the line has more columns than --perplexity reads: SOURCE, a tab, TARGET");
  target_ = text_.substr(tab + 1);
  text_.resize(tab);
}

bool SourceReader::next(Line& line, Source& source) {
  if (!in_.next(text_, target_)) return false;
  if (in_pairs()) at_its_place(in_.text(), [&] { split_pair(); });
  take(line, source);
  return true;
}

void SourceReader::take_from(const SourceReader& reader, Line& line, Source& source) {
  text_ = reader.text_;
  target_ = reader.target_;
  take(line, source);
}

void SourceReader::take(Line& line, Source& source) {
  source = {};
  if (options_.perplexity && !in_.other() && translator_.continues())
    return take_whole(line, source);
  const TextReader& text = in_.text();
  at_its_place(text, [&] { parse(line, source); });
  line.number = source.line = text.line_number();
  line.replaced = text.replaced();
  source.encoding = options_.encoding;
  if (translator_.continues()) line.prompt = text_;
  unknown_.add(text, line.unknown);
  if (!in_.other() && !in_pairs()) return;
  const TextReader& other = in_.other() ? *in_.other() : text;
  if (search().constraints) {
    at_its_place(other, [&] { take_phrases(target_, source); });
    if (line.blank) source.phrases.clear();
    return;
  }
  int64_t tokens = 0;
  const int64_t prompt = translator_.continues() ? int64_t(source.ids.size()) : 0;
  at_its_place(
      other, [&] { tokens = parse_target(target_, options_, translator_, source.target, prompt); });
  const auto labels = int64_t(source.target.size());
  line.dropped =
      !translator_.continues() && (line.blank != (tokens == 0) || line.cut || tokens > labels);
  if (translator_.continues() && line.blank && tokens > 0) {  // a text from its beginning
    if (!search().bos) throw DataError(translator_.models().name() + needs_bos);
    source.opens = true;
    line.blank = false;
  }
  if (line.unknown.empty()) {
    line.unknown = unknown_text(target_, source.target, options_.form, target());
    unknown_.add(other, line.unknown);
  }
  if (tokens > labels)
    cuts_.add(
        other, tokens, labels,
        translator_.continues() ? "--max-length and --max-new" : "--max-length and --max-extra");
}

bool SourceReader::next(Line& line, std::vector<Source>& parts) {
  parts.resize(1);
  if (!next(line, parts.front())) return false;
  if (splits(line)) split(line, parts);
  return true;
}

void SourceReader::split(Line& line, std::vector<Source>& parts) {
  const std::string& text = options_.markup ? line.marked.text : text_;
  const size_t begin = skip_tags(translator_.models().source(), text);
  const std::string tags = text.substr(0, begin);
  const auto sentences = split_sentences(std::string_view(text).substr(begin));
  line.cut = false;
  parts.assign(sentences.size(), {});
  line.terms.clear();
  const char* end = sentences.front().data();
  size_t marked = 0;  // parts of markup whose tokens are counted
  line.marked.tokens = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const std::string_view sentence = sentences[i];
    const Line part = parse_line(tags + std::string(sentence), options_, translator_, parts[i].ids);
    parts[i].line = line.number;
    parts[i].gap.assign(end, sentence.data());
    end = sentence.data() + sentence.size();
    line.cut = line.cut || part.cut;
    if (options_.glossary && !part.blank)
      line.terms.push_back(terms_of(tags + std::string(sentence), parts[i]));
    if (part.cut) warn_of_cut(part);
    for (; marked < line.marked.parts.size(); ++marked) {
      Markup::Part& m = line.marked.parts[marked];
      const auto at = ptrdiff_t(m.at) - (sentence.data() - text.data());
      if (at > ptrdiff_t(sentence.size()) && i + 1 < sentences.size()) break;
      m.token = line.marked.tokens +
                (at > 0 ? tokens_in(tags + std::string(sentence.substr(0, size_t(at)))) : 0);
    }
    line.marked.tokens += int64_t(parts[i].ids.size());
  }
  std::erase_if(parts, [](const Source& part) { return part.ids.empty(); });
}

}  // namespace tx
