#include "lib/subword/tokenizer/decoder.h"

#include <algorithm>
#include <charconv>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/normalizer.h"
#include "lib/subword/tokenizer/word_model.h"

namespace tx {

namespace {

// The byte of <0x0A>, -1 of other texts.
int named_byte(const std::string& text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  return error == std::errc() && end == text.data() + 5 ? int(value) : -1;
}

// Runs of byte tokens become their text, or one U+FFFD for each if it is invalid.
void join_byte_names(std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (count_invalid_utf8(bytes) == 0)
      out.push_back(bytes);
    else
      out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const int byte = named_byte(token); byte >= 0) {
      bytes += char(byte);
      continue;
    }
    flush();
    out.push_back(std::move(token));
  }
  flush();
  tokens = std::move(out);
}

// The English clean-up of BERT's decoder.
void clean_up(std::string& text) {
  for (const auto& [from, to] : {std::pair{" .", "."},
                                 {" ?", "?"},
                                 {" !", "!"},
                                 {" ,", ","},
                                 {" ' ", "'"},
                                 {" n't", "n't"},
                                 {" 'm", "'m"},
                                 {" do not", " don't"},
                                 {" 's", "'s"},
                                 {" 've", "'ve"},
                                 {" 're", "'re"}})
    replace_all(text, from, to);
}

void strip(std::string& text, const std::string& character, size_t start, size_t stop) {
  std::string_view rest = text;
  for (size_t i = 0; i < start && rest.starts_with(character); ++i)
    rest.remove_prefix(character.size());
  for (size_t i = 0; i < stop && rest.ends_with(character); ++i)
    rest.remove_suffix(character.size());
  text = std::string(rest);
}

}  // namespace

TokenDecoder::TokenDecoder(const std::vector<Json>& steps, const std::string& where) {
  for (const Json& json : steps) {
    const auto type = json_value<std::string>(json, "type", where + ": decoder");
    const std::string place = where + ": decoder " + type;
    Step step;
    if (type == "ByteLevel") {
      step.kind = Kind::bytes;
    } else if (type == "ByteFallback") {
      step.kind = Kind::byte_names;
    } else if (type == "Metaspace") {
      step.kind = Kind::metaspace;
      step.text = json_value<std::string>(json, "replacement", place);
      if (step.text.empty()) throw DataError(place + ": the replacement is empty");
      step.drops_first =
          json_value(json, "prepend_scheme", place, std::string("always")) != "never" &&
          json_value(json, "add_prefix_space", place, true);
    } else if (type == "WordPiece") {
      step.kind = Kind::word_piece;
      step.text = json_value<std::string>(json, "prefix", place);
      step.cleans = json_value<bool>(json, "cleanup", place);
    } else if (type == "Replace") {
      step.kind = Kind::replace;
      step.expression = std::make_shared<Expression>(read_pattern(json, place));
      step.by = json_value<std::string>(json, "content", place);
    } else if (type == "Strip") {
      step.kind = Kind::strip;
      step.text = json_value<std::string>(json, "content", place);
      step.start = json_value<uint32_t>(json, "start", place);
      step.stop = json_value<uint32_t>(json, "stop", place);
      if (step.text.empty()) throw DataError(place + ": the content is empty");
    } else if (type != "Fuse") {
      throw DataError(place + " is not supported");
    }
    steps_.push_back(std::move(step));
  }
}

void TokenDecoder::apply(const Step& step, std::vector<std::string>& tokens) {
  switch (step.kind) {
    case Kind::bytes: {
      std::string all, bytes;
      for (const std::string& token : tokens) all += bytes_of_token(token, bytes) ? bytes : token;
      repair_utf8(all);
      tokens = {std::move(all)};
      break;
    }
    case Kind::byte_names:
      join_byte_names(tokens);
      break;
    case Kind::metaspace:
      for (size_t i = 0; i < tokens.size(); ++i)
        replace_all(tokens[i], step.text, i == 0 && step.drops_first ? "" : " ");
      break;
    case Kind::word_piece:
      for (size_t i = 0; i < tokens.size(); ++i) {
        std::string& token = tokens[i];
        if (i > 0)
          token = token.starts_with(step.text) ? token.substr(step.text.size()) : " " + token;
        if (step.cleans) clean_up(token);
      }
      break;
    case Kind::replace:
      for (std::string& token : tokens) step.expression->replace(token, step.by);
      break;
    case Kind::strip:
      for (std::string& token : tokens) strip(token, step.text, step.start, step.stop);
      break;
    case Kind::fuse:
      tokens = {joined(tokens, "")};
      break;
  }
}

std::string TokenDecoder::join(std::vector<std::string> tokens) const {
  if (steps_.empty()) return joined(tokens, " ");
  for (const Step& step : steps_) apply(step, tokens);
  return joined(tokens, "");
}

std::string TokenDecoder::bytes(const std::string& token) const {
  if (steps_.empty()) return " " + token;
  std::vector<std::string> two = {"", token};
  std::string bytes;
  for (const Step& step : steps_) {
    const int byte = step.kind == Kind::byte_names ? named_byte(token) : -1;
    if (byte >= 0) return std::string(1, char(byte));
    if (step.kind == Kind::bytes && bytes_of_token(two.back(), bytes)) return bytes;
    if (step.kind == Kind::fuse) break;  // what follows concerns the beginning or the end
    apply(step, two);
  }
  return two.back();
}

}  // namespace tx
