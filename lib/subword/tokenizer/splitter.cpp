#include "lib/subword/tokenizer/splitter.h"

#include <array>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/normalizer.h"

namespace tx {

namespace {

// The words of GPT-2.
constexpr char gpt2_words[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// Rust's \w has the joiners, too.
constexpr char word_or_signs[] = R"([\w\x{200c}\x{200d}]+|[^\w\x{200c}\x{200d}\s]+)";

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  return class_of(c) == CharacterClass::punctuation;
}

bool is_number(char32_t c) {
  return c < 0x80 ? c >= '0' && c <= '9' : class_of(c) == CharacterClass::number;
}

// Joins consecutive parts of a text as the behaviour says, and passes them on.
template <class Behavior, class F>
class Joiner {
 public:
  Joiner(Behavior behavior, F& f) : behavior_(behavior), f_(f) {}

  void add(std::string_view part, bool match) {
    bool join = false;
    switch (behavior_) {
      case Behavior::isolated:
        break;
      case Behavior::removed:
        if (!match) f_(part);
        return;
      case Behavior::with_previous:
        join = match && !last_match_;
        break;
      case Behavior::with_next:
        join = !match && last_match_;
        break;
      case Behavior::contiguous:
        join = match == last_match_;
        break;
    }
    last_match_ = match;
    if (join && !pending_.empty()) {
      pending_ = {pending_.data(), pending_.size() + part.size()};
      return;
    }
    finish();
    pending_ = part;
  }
  void finish() {
    if (!pending_.empty()) f_(pending_);
    pending_ = {};
  }

 private:
  Behavior behavior_;
  F& f_;
  std::string_view pending_;
  bool last_match_ = false;
};

// Calls f(part, is_match) for each matching character and the parts between them.
template <class F>
void each_character(std::string_view text, bool (*matches)(char32_t), F&& f) {
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (!matches(next_code_point(text, i))) continue;
    if (begin > done) f(text.substr(done, begin - done), false);
    f(text.substr(begin, i - begin), true);
    done = i;
  }
  if (done < text.size()) f(text.substr(done), false);
}

template <class Enum>
Enum read_name(const Json& json, const char* key, const std::string& where, const char* otherwise,
               std::initializer_list<std::pair<const char*, Enum>> names) {
  const std::string text = otherwise != nullptr
                               ? json_value(json, key, where, std::string(otherwise))
                               : json_value<std::string>(json, key, where);
  for (const auto& [name, value] : names)
    if (text == name) return value;
  throw DataError(where + ": " + key + " " + shown(text) + " is not supported");
}

}  // namespace

Splitter::Splitter(const std::vector<Json>& steps, const std::string& where) {
  for (const Json& json : steps) {
    if (by_bytes_) throw DataError(where + ": a pre_tokenizer behind ByteLevel is not supported");
    add(json, where);
  }
}

void Splitter::add_characters(bool (*matches)(char32_t), Behavior behavior) {
  Step step;
  step.kind = Kind::characters;
  step.matches = matches;
  step.behavior = behavior;
  steps_.push_back(std::move(step));
}

void Splitter::add(const Json& json, const std::string& where) {
  const auto type = json_value<std::string>(json, "type", where + ": pre_tokenizer");
  const std::string place = where + ": pre_tokenizer " + type;
  const auto behavior = [&](const char* otherwise) {
    return read_name<Behavior>(json, "behavior", place, otherwise,
                               {{"Isolated", Behavior::isolated},
                                {"Removed", Behavior::removed},
                                {"MergedWithPrevious", Behavior::with_previous},
                                {"MergedWithNext", Behavior::with_next},
                                {"Contiguous", Behavior::contiguous}});
  };
  Step step;
  if (type == "Split") {
    step.behavior = behavior(nullptr);
    step.invert = json_value<bool>(json, "invert", place);
    step.expression = std::make_shared<Expression>(read_pattern(json, place));
  } else if (type == "Whitespace") {
    step.behavior = Behavior::removed;
    step.invert = true;
    step.expression = std::make_shared<Expression>(word_or_signs, false, place);
  } else if (type == "WhitespaceSplit") {
    return add_characters(is_white_space, Behavior::removed);
  } else if (type == "Punctuation") {
    return add_characters(is_punctuation, behavior("Isolated"));
  } else if (type == "BertPreTokenizer") {
    add_characters(is_white_space, Behavior::removed);
    return add_characters(is_punctuation, Behavior::isolated);
  } else if (type == "Digits") {
    const bool each = json_value(json, "individual_digits", place, false);
    return add_characters(is_number, each ? Behavior::isolated : Behavior::contiguous);
  } else if (type == "Metaspace") {
    step.kind = Kind::metaspace;
    step.sign = json_value<std::string>(json, "replacement", place);
    if (step.sign.empty()) throw DataError(place + ": the replacement is empty");
    const bool prefixed = json_value(json, "add_prefix_space", place, true);
    step.prefix = read_name<Prefix>(
        json, "prepend_scheme", place, prefixed ? "always" : "never",
        {{"always", Prefix::always}, {"first", Prefix::first}, {"never", Prefix::never}});
    const bool stated = json.contains("split") && !json["split"].is_null();
    step.splits = !stated || json_value<bool>(json, "split", place);
  } else if (type == "ByteLevel") {
    step.kind = Kind::bytes;
    const bool prefixed = json_value<bool>(json, "add_prefix_space", place);
    step.prefix = prefixed ? Prefix::always : Prefix::never;
    if (json_value(json, "use_regex", place, true))
      step.expression = std::make_shared<Expression>(gpt2_words, false, place);
    by_bytes_ = true;
  } else {
    throw DataError(place + " is not supported");
  }
  steps_.push_back(std::move(step));
}

void Splitter::split(std::string_view text, bool at_start, Buffers& buffers,
                     const Words& words) const {
  buffers.resize(std::max(buffers.size(), steps_.size()));
  Run run{buffers, words};
  apply(0, text, at_start, run);
}

void Splitter::apply(size_t i, std::string_view text, bool at_start, Run& run) const {
  if (text.empty()) return;
  if (i == steps_.size()) return run.words(text);
  const Step& step = steps_[i];
  if (step.kind == Kind::metaspace) return apply_metaspace(i, text, at_start, run);
  if (step.kind == Kind::bytes && step.prefix == Prefix::always && text[0] != ' ')
    text = run.buffers[i].assign(" ").append(text);
  const auto next = [&](std::string_view part) {
    apply(i + 1, part, at_start && part.data() == text.data(), run);
  };
  if (step.kind == Kind::bytes && !step.expression) return next(text);
  Joiner joiner(step.behavior, next);
  const auto add = [&](std::string_view part, bool match) {
    joiner.add(part, match != step.invert);
  };
  if (step.expression)
    step.expression->each(text, add);
  else
    each_character(text, step.matches, add);
  joiner.finish();
}

void Splitter::apply_metaspace(size_t i, std::string_view text, bool at_start, Run& run) const {
  const Step& step = steps_[i];
  std::string& all = run.buffers[i];
  all.assign(text);
  replace_all(all, " ", step.sign);
  const bool prefixed = step.prefix == Prefix::always || (step.prefix == Prefix::first && at_start);
  if (prefixed && !all.starts_with(step.sign)) all.insert(0, step.sign);
  const std::string_view rest = all;
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end =
        step.splits ? std::min(rest.find(step.sign, begin + 1), rest.size()) : rest.size();
    apply(i + 1, rest.substr(begin, end - begin), at_start && begin == 0, run);
    begin = end;
  }
}

}  // namespace tx
