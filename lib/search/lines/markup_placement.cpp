// Markup::put_back(): where the parts of a line go in its output.
#include <algorithm>
#include <cctype>
#include <map>

#include "lib/base/utf8.h"
#include "lib/search/lines/markup.h"

namespace tx {

bool is_letter_or_digit(char32_t c) {
  return !is_white_space(c) &&
         (class_of(c) == CharacterClass::other || class_of(c) == CharacterClass::number);
}
// Scripts that write words without spaces between them.
static bool stands_alone(char32_t c) { return c >= 0x2E80 && c < 0xAC00; }

bool is_inside_word(std::string_view text, size_t at) {
  if (at == 0 || at >= text.size()) return false;
  const char32_t before = last_code_point(text.substr(0, at));
  const char32_t after = first_code_point(text.substr(at));
  return is_letter_or_digit(before) && is_letter_or_digit(after) && !stands_alone(before) &&
         !stands_alone(after);
}

size_t outside_words(std::string_view text, size_t at, bool left) {
  while (at < text.size() && (is_continuation(text[at]) || is_inside_word(text, at)))
    at += left ? size_t(-1) : 1;
  return at;
}

std::vector<size_t> places_of_word(std::string_view word, std::string_view text) {
  std::vector<size_t> places;
  const bool digits = is_letter_or_digit(last_code_point(word)) &&
                      class_of(last_code_point(word)) == CharacterClass::number;
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) {
    const size_t end = at + word.size();
    if (is_inside_word(text, at)) continue;
    if (digits && is_inside_word(text, end)) continue;
    places.push_back(at);
  }
  return places;
}

// Places the parts of a line in its output.
class Markup::Placement {
 public:
  // careful: without the output's ASCII punctuation, and with spaces around parts.
  Placement(const Markup& markup, const Line& line, std::string_view output,
            std::span<const Token> tokens, bool careful)
      : line_(line),
        text_(output),
        tokens_(tokens),
        dropped_(output.size() + 1),
        careful_(careful) {
    find_stand_ins();
    drop_others(markup);
    for (const Part& part : line.parts)
      if (part.in_order) in_order_.push_back(&part);
  }

  std::string write() {
    write_parts(0, line_.parts.size(), {0, text_.size()}, 0, line_.tokens);
    while (out_.ends_with(' ')) out_.pop_back();
    return std::move(out_);
  }

 private:
  struct Range {
    size_t begin, end;
  };
  struct Place {
    size_t part;
    Range range;
  };

  // Every part that is a word takes a place of its stand-in. Further places are dropped, those of
  // a single character by drop_others().
  void find_stand_ins() {
    std::map<std::string, std::vector<size_t>> parts;
    for (size_t i = 0; i < line_.parts.size(); ++i)
      if (line_.parts[i].role == Role::word) parts[line_.parts[i].stand_in].push_back(i);
    for (const auto& same : parts) {
      const std::string& stand_in = same.first;
      const std::vector<size_t>& wanted = same.second;
      std::vector<size_t> places = places_of_word(stand_in, text_);
      // The places whose token is aligned to a part come first.
      std::stable_partition(places.begin(), places.end(),
                            [&](size_t place) { return is_aligned(place, wanted); });
      const bool character =
          last_character(stand_in) == 0 && !is_letter_or_digit(first_code_point(stand_in));
      const size_t kept = std::min(places.size(), wanted.size());
      std::sort(places.begin(), places.begin() + ptrdiff_t(kept));
      for (size_t i = 0; i < places.size(); ++i) {
        if (i >= kept && character) break;
        std::fill_n(dropped_.begin() + ptrdiff_t(places[i]), stand_in.size(), true);
        if (i < kept) words_[places[i]] = {wanted[i], stand_in.size()};
        if (i < kept) found_.push_back(wanted[i]);
      }
    }
  }

  // Whether the token there is aligned to one of the parts.
  bool is_aligned(size_t place, const std::vector<size_t>& parts) const {
    for (const Token& t : tokens_)
      for (const size_t i : parts)
        if (t.begin <= place && place < t.end && t.source >= line_.parts[i].token &&
            t.source < line_.parts[i].token + 2)
          return true;
    return false;
  }

  // What the output itself has of markup.
  void drop_others(const Markup& markup) {
    std::string text(text_);
    for (size_t i = 0; i < text.size(); ++i)
      if (dropped_[i]) text[i] = ' ';
    size_t at = 0;
    markup.expression_.each(text, [&](std::string_view part, bool match) {
      if (match) std::fill_n(dropped_.begin() + ptrdiff_t(at), part.size(), true);
      at += part.size();
    });
    for (size_t i = 0; i < text.size(); ++i) {
      const bool special = markup.html_ && !line_.special && (text[i] == '<' || text[i] == '&');
      const bool punctuation =
          careful_ && text[i] > ' ' && text[i] < 0x7f && !std::isalnum(text[i]);
      dropped_[i] = dropped_[i] || special || punctuation;
    }
  }

  bool is_placed(size_t part) const { return std::ranges::count(found_, part) > 0; }

  // Moves a place out of a word or stand-in, to the right or left.
  size_t outside(size_t at, bool left) const {
    for (const auto& [begin, word] : words_)
      if (begin < at && at < begin + word.length) return left ? begin : begin + word.length;
    return outside_words(text_, at, left);
  }

  Range trimmed(const Token& t) const {
    Range r{t.begin, t.end};
    while (r.begin < r.end && text_[r.begin] == ' ') ++r.begin;
    while (r.end > r.begin && text_[r.end - 1] == ' ') --r.end;
    return r;
  }

  // The run of tokens in `within` that has the most tokens aligned to [first, last), minus others.
  Range run_of(int64_t first, int64_t last, Range within) const {
    int best = 0, sum = 0;
    Range found{within.end, within.begin}, now = found;
    for (const Token& t : tokens_) {
      const Range r = trimmed(t);
      if (r.begin < within.begin || r.end > within.end || r.begin == r.end || t.source < 0)
        continue;
      const bool inside = t.source >= first && t.source < last;
      if (inside && sum <= 0) sum = 0, now.begin = r.begin;
      sum += inside ? 1 : -1;
      if (inside) now.end = r.end;
      if (sum > best) best = sum, found = now;
    }
    if (best == 0) return {within.end, within.begin};
    return {std::max(within.begin, outside(found.begin, true)),
            std::min(within.end, outside(found.end, false))};
  }

  // Behind what the tokens before `token` are aligned to, or else before what those after it are.
  size_t point_of(int64_t token, Range within, int64_t first, int64_t last) const {
    if (token <= first) return within.begin;
    if (token >= last) return within.end;
    for (int64_t t = token; t-- > first;) {
      const Range run = run_of(t, t + 1, within);
      if (run.begin < run.end) return run.end;
    }
    for (int64_t t = token; t < last; ++t) {
      const Range run = run_of(t, t + 1, within);
      if (run.begin < run.end) return run.begin;
    }
    return within.end;
  }

  // Writes the parts [from, to) and the output in `within`, which is that of the tokens
  // [first, last) of the source.
  void write_parts(size_t from, size_t to, Range within, int64_t first, int64_t last) {
    std::vector<Place> places;
    for (size_t i = from; i < to; ++i) {
      const Part& part = line_.parts[i];
      if (is_placed(i)) continue;
      if (part.role != Role::open) {
        size_t at = point_of(part.token, within, first, last);
        while (part.gap_before && !part.gap_after && at < within.end && text_[at] == ' ') ++at;
        places.push_back({i, {at, at}});
        continue;
      }
      const Part& end = line_.parts[part.partner];
      Range range =
          part.token <= first && end.token >= last ? within : run_of(part.token, end.token, within);
      if (range.begin >= range.end)
        range.begin = range.end = point_of(part.token, within, first, last);
      places.push_back({i, range});
      i = part.partner;
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.range.begin < b.range.begin; });
    size_t written = within.begin;
    for (const Place& place : places) {
      const Part& part = line_.parts[place.part];
      const size_t begin = std::max(written, place.range.begin);
      const size_t end = std::max(begin, place.range.end);
      copy({written, begin});
      written = end;
      if (part.role != Role::open) {
        add(part, true);
        continue;
      }
      add(part, false);
      write_parts(place.part + 1, part.partner, {begin, end}, part.token,
                  line_.parts[part.partner].token);
      add(line_.parts[part.partner], false);
    }
    copy({written, within.end});
  }

  // A part between the words; `spaced`: with the white space that it had around it.
  void add(const Part& part, bool spaced) {
    const bool joins = spaced && part.apart && !out_.empty() && meets(out_, true);
    if (careful_ || joins || (spaced && part.gap_before)) space();
    write_text(text_of(part));
    wants_space_ = careful_ || (spaced && part.gap_after);
    stands_apart_ = spaced && part.apart;
  }
  const std::string& text_of(const Part& part) {
    return part.in_order ? in_order_[ordered_++]->text : part.text;
  }
  // Whether the text ends or begins with a letter or digit of a script with spaces.
  static bool meets(std::string_view text, bool end) {
    const size_t at = end ? last_character(text) : 0;
    const char32_t c = first_code_point(text.substr(at));
    return is_letter_or_digit(c) && !stands_alone(c);
  }
  void space() {
    if (!out_.empty() && out_.back() != ' ') out_ += ' ';
    wants_space_ = false;
  }
  void write_text(std::string_view text) {
    if (wants_space_ && text.front() != ' ') space();
    wants_space_ = stands_apart_ = false;
    out_ += text;
  }

  void copy(Range range) {
    for (size_t i = range.begin; i < range.end; ++i) {
      if (const auto word = words_.find(i); word != words_.end()) {
        if (careful_) space();
        write_text(text_of(line_.parts[word->second.part]));
        wants_space_ = careful_;
      }
      if (dropped_[i]) continue;
      const bool doubled =
          text_[i] == ' ' && i > 0 && dropped_[i - 1] && !out_.empty() && out_.back() == ' ';
      if (doubled) continue;
      if (stands_apart_ && meets(text_.substr(i), false)) space();
      write_text(text_.substr(i, 1));
    }
  }

  struct Word {
    size_t part, length;
  };
  const Line& line_;
  std::string_view text_;
  std::span<const Token> tokens_;
  std::vector<bool> dropped_;     // bytes of the output that are not written
  std::map<size_t, Word> words_;  // stand-ins, by their first byte
  std::vector<size_t> found_;     // their parts
  std::vector<const Part*> in_order_;
  size_t ordered_ = 0;  // written ones of these
  bool careful_, wants_space_ = false;
  bool stands_apart_ = false;  // the part before what is written next
  std::string out_;
};

bool Markup::needs_alignment(const Line& line, std::string_view output) const {
  std::map<std::string, size_t> words;
  for (const Part& part : line.parts) {
    const bool first = part.token <= 0, last = part.token >= line.tokens;
    if (part.role == Role::word)
      ++words[part.stand_in];
    else if (part.role == Role::open && !(first && line.parts[part.partner].token >= line.tokens))
      return true;
    else if (part.role == Role::alone && !first && !last)
      return true;
  }
  return std::ranges::any_of(words, [&](const auto& word) {
    return places_of_word(word.first, output).size() != word.second;
  });
}

std::string Markup::put_back(const Line& line, std::string_view output,
                             std::span<const Token> tokens) const {
  std::vector<std::string> wanted;
  for (const Part& part : line.parts) wanted.push_back(part.text);
  std::sort(wanted.begin(), wanted.end());
  for (const bool careful : {false, true}) {
    std::string text = Placement(*this, line, output, tokens, careful).write();
    if (parts_of(text) == wanted) return text;
  }
  std::string all;  // the words of the output make other parts of these
  for (const Part& part : line.parts) all += (all.empty() ? "" : " ") + part.text;
  return all;
}

}  // namespace tx
