#include "lib/search/lines/markup.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/text/corpus.h"

namespace tx {
namespace {

// Comments, CDATA, declarations, tags, entities.
constexpr char html_parts[] =
    R"(<!--(?:[^-]|-(?!->))*-->|<!\[CDATA\[(?:[^\]]|\](?!\]>))*\]\]>|<[!?][^<>]*>)"
    R"(|</?[A-Za-z_:][^\s<>/"']*(?:[^<>"']|"[^"]*"|'[^']*')*>)"
    R"(|&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);)";
constexpr char printf_parts[] =
    R"(%\([A-Za-z_][A-Za-z0-9_.]*\)[-+#0]*[0-9]*(?:\.[0-9]+)?[a-zA-Z]|%%)"
    R"(|%(?:[0-9]+\$)?[-+#0']*(?:[0-9]+|\*)?(?:\.(?:[0-9]+|\*))?)"
    R"((?:hh|h|ll|l|L|q|j|z|t)?[diouxXeEfFgGaAcspn@])";
constexpr char icu_parts[] = R"((\{(?:[^{}]|(?1))*\}))";
constexpr char addresses[] = R"((?:https?|ftp)://[^\s<>"{}]*[^\s<>"{}.,;:!?)\]'])"
                             R"(|[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)";

std::string tag_name(std::string_view tag) {
  const size_t begin = tag.find_first_not_of("</");
  return std::string(tag.substr(begin, tag.find_first_of(" \t\r\n/>", begin) - begin));
}

bool is_void(const std::string& name) {
  static const char* const names[] = {"br", "img", "hr", "wbr", "input", "col", "area", "embed"};
  return std::ranges::count(names, name) > 0;
}

// The character of an entity that a model can read as text; "": none.
std::string character_of(std::string_view entity) {
  static const std::pair<const char*, const char*> named[] = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}};
  for (const auto& [name, character] : named)
    if (entity == name) return character;
  if (!entity.starts_with("&#")) return "";
  const bool hex = entity[2] == 'x' || entity[2] == 'X';
  const std::string digits(entity.substr(hex ? 3 : 2, entity.size() - (hex ? 4 : 3)));
  if (digits.size() > 7) return "";
  const auto c = char32_t(std::stoul(digits, nullptr, hex ? 16 : 10));
  if (c < 0x21 || c > 0x10ffff || (c >= 0x7f && c < 0xa1) || (c >= 0xd800 && c < 0xe000)) return "";
  if (is_white_space(c) || is_control(c)) return "";
  std::string text;
  append_code_point(text, c);
  return text;
}

bool is_hard_space(std::string_view entity) {
  return entity == "&nbsp;" || entity == "&#160;" || entity == "&#xA0;" || entity == "&#xa0;";
}

// Neither %%, nor %1$s, nor %(name)s, nor an address.
bool takes_next_argument(std::string_view part) {
  return part.front() == '%' && part != "%%" && part[1] != '(' && part.find('$') == part.npos;
}

std::string expression_of(const std::string& kind) {
  if (kind == "html") return html_parts;
  if (kind == "printf") return printf_parts;
  if (kind == "icu") return icu_parts;
  constexpr std::string_view sample = "Two old houses, and a bridge.";
  TextReader file({kind});
  std::string text, all;
  while (file.next(text)) {
    if (is_blank(text)) continue;
    const std::string where = file.place(file.line_number());
    size_t matched = 0;
    Expression(text, false, where).each(sample, [&](std::string_view part, bool match) {
      if (match) matched += part.size();
    });
    if (matched == sample.size()) throw DataError(where + ": " + shown(text) + " matches any text");
    all += (all.empty() ? "(?:" : "|(?:") + text + ")";
  }
  if (all.empty()) throw DataError(kind + " has no regular expression");
  return all;
}

}  // namespace

Markup::Markup(const std::string& kind)
    : html_(kind == "html"),
      printf_(kind == "printf"),
      expression_(expression_of(kind) + "|" + addresses, false, "--markup " + kind) {}

std::vector<std::string> Markup::parts_of(std::string_view text) const {
  std::vector<std::string> parts;
  expression_.each(text, [&](std::string_view part, bool match) {
    if (match) parts.emplace_back(part);
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

Markup::Line Markup::take(std::string_view line, std::span<const std::string> stand_ins) const {
  Line out;
  size_t next = 0;                           // of stand_ins
  std::map<std::string, std::string> known;  // stand-ins of parts
  std::vector<size_t> open;
  size_t read = 0;
  const auto gap_after = [&](size_t at) {
    return at == line.size() || is_white_space(first_code_point(line.substr(at)));
  };
  expression_.each(line, [&](std::string_view text, bool match) {
    read += text.size();
    if (!match) {
      const bool joins = !out.parts.empty() && out.parts.back().role != Role::word &&
                         out.parts.back().gap_before && out.parts.back().gap_after;
      if (joins && text.front() == ' ' && (out.text.empty() || out.text.back() == ' '))
        text.remove_prefix(1);  // one space is left of those around the part
      out.special = out.special || text.find_first_of("<&") != text.npos;
      out.text += text;
      return;
    }
    Part part;
    part.text = text;
    part.at = out.text.size();
    part.gap_before =
        read == text.size() || is_white_space(last_code_point(line.substr(0, read - text.size())));
    part.gap_after = gap_after(read);
    const std::string_view before = line.substr(0, read - text.size()), after = line.substr(read);
    part.apart = text.front() != '<' && text.front() != '&' &&
                 (before.empty() || !is_letter_or_digit(last_code_point(before))) &&
                 (after.empty() || !is_letter_or_digit(first_code_point(after)));
    const bool tag = html_ && text.front() == '<' && text[1] != '!' && text[1] != '?';
    if (tag && text[1] == '/') {
      const std::string name = tag_name(text);
      for (size_t i = open.size(); i-- > 0;) {
        if (tag_name(out.parts[open[i]].text) != name) continue;
        part.role = Role::close;
        part.partner = open[i];
        out.parts[open[i]].role = Role::open;
        out.parts[open[i]].partner = out.parts.size();
        open.resize(i);
        break;
      }
    } else if (tag && !text.ends_with("/>") && !is_void(tag_name(text))) {
      open.push_back(out.parts.size());  // alone until its end is found
    } else if (html_ && is_hard_space(text)) {
      out.text += ' ';
      part.gap_before = part.gap_after = false;
    } else if (!html_ || text.front() != '<') {
      std::string& stand_in = known[part.text];
      if (stand_in.empty() && html_ && text.front() == '&') stand_in = character_of(text);
      for (; stand_in.empty() && next < stand_ins.size(); ++next)
        if (line.find(stand_ins[next]) == line.npos) stand_in = stand_ins[next];
      if (!stand_in.empty()) part.role = Role::word;
      out.lacks_stand_ins = out.lacks_stand_ins || stand_in.empty();
      part.stand_in = stand_in;
      part.in_order = printf_ && takes_next_argument(text);
      out.text += stand_in;
    }
    out.parts.push_back(std::move(part));
  });
  return out;
}

std::vector<std::string> find_stand_ins(
    const std::vector<std::string>& frequent_words,
    const std::function<std::vector<std::string>(const std::vector<std::string>&)>& translate) {
  static const char* const candidates[] = {
      "{0}",   "{1}",    "{2}",   "{3}",    "{4}",   "{5}",  // examples/documents/placeholders.awk
      "Anna",  "London", "Peter", "Berlin", "Maria", "Paris",  "Daniel", "Tom", "17",   "42",
      "2013",  "1984",   "365",   "XYZ",    "ABC",   "Q7",     "X1",     "Z3",  "anna", "london",
      "peter", "berlin", "maria", "paris",  "tom",   "daniel", "abc",    "xyz", "N",    "Y"};
  constexpr size_t contexts = 3, words = 3;
  if (frequent_words.size() < contexts * words) return {};
  std::vector<std::string> texts;
  for (const char* candidate : candidates)
    for (size_t i = 0; i < contexts; ++i) {
      const auto word = [&](size_t n) { return frequent_words[i * words + n] + " "; };
      texts.push_back(i == 0 ? word(0) + word(1) + candidate + " " + frequent_words[2]
                             : word(0) + candidate + " " + word(1) + frequent_words[i * words + 2]);
    }
  const std::vector<std::string> outputs = translate(texts);
  std::vector<std::string> found[2 * contexts + 1];
  for (size_t c = 0; c < std::size(candidates); ++c) {
    size_t once = 0, more = 0;
    for (size_t i = 0; i < contexts; ++i) {
      const size_t places = places_of_word(candidates[c], outputs[c * contexts + i]).size();
      once += places == 1;
      more += places > 1;
    }
    if (once >= 2 || once + more == contexts) found[2 * once + more].emplace_back(candidates[c]);
  }
  std::vector<std::string> all;
  for (size_t score = std::size(found); score-- > 0;)
    all.insert(all.end(), found[score].begin(), found[score].end());
  return all;
}

}  // namespace tx
