#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/subword.h"

namespace tx {
namespace {

constexpr std::string_view reserved[] = {"\xE2\x96\x81", "\xE2\x96\x85"};
constexpr std::string_view specials[] = {"<pad>", "<unk>", "<s>", "</s>"};

bool names_byte(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return text.size() == 6 && text.starts_with("<0x") && digit(text[3]) && digit(text[4]) &&
         text[5] == '>';
}

// What is wrong with a symbol, "" where nothing is.
std::string fault_of(std::string_view symbol) {
  if (symbol.empty()) return "an empty line is not a symbol";
  if (count_invalid_utf8(symbol) > 0) return "not valid UTF-8";
  if (std::any_of(symbol.begin(), symbol.end(), separates_words))
    return "a symbol cannot hold white space or control characters";
  for (const std::string_view sign : reserved) {
    if (symbol.find(sign) != symbol.npos)
      return "a symbol cannot hold " + std::string(sign) + ", which SentencePiece uses itself";
  }
  if (std::find(std::begin(specials), std::end(specials), symbol) != std::end(specials) ||
      names_byte(symbol))
    return "every model has " + std::string(symbol) + " as a special token";
  return "";
}

}  // namespace

std::vector<std::string> read_user_symbols(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> symbols;
  std::unordered_set<std::string> seen;
  for (std::string line; reader.next(line);) {
    std::string fault = fault_of(line);
    if (fault.empty() && !seen.insert(line).second) fault = line + " stands there twice";
    if (!fault.empty())
      throw DataError(reader.name() + ":" + std::to_string(reader.line_number()) + ": " + fault);
    symbols.push_back(line);
  }
  const auto nested = nested_too_deep({symbols.begin(), symbols.end()});
  if (!nested.empty())
    throw DataError(reader.name() + ": " + std::string(nested) + " begins with " +
                    std::to_string(max_nested_pieces) +
                    " other symbols; SentencePiece takes fewer");
  return symbols;
}

}  // namespace tx
