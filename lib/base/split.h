// Cutting a text into parts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// One part more than `at` occurs: "a,,b" is {"a", "", "b"}, and "" is {""}.
std::vector<std::string> split_at(std::string_view text, char at);
// What stands between spaces, tabs and carriage returns.
std::vector<std::string_view> split_fields(std::string_view line);
// Takes a whole number off the beginning of `text`; false, and nothing is taken, where there is
// none.
bool take_number(std::string_view& text, uint32_t& number);

}  // namespace tx
