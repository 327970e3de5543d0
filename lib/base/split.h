// Splitting text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// One part more than there are separators: "a,,b" is {"a", "", "b"}, and "" is {""}.
std::vector<std::string> split_at(std::string_view text, char at);
// The non-empty fields between spaces, tabs and carriage returns.
std::vector<std::string_view> split_fields(std::string_view line);
// Removes a decimal number from the beginning of `text`; false, and `text` unchanged, if there is
// none.
bool take_number(std::string_view& text, uint32_t& number);

}  // namespace tx
