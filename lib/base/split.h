// Cutting a text at a character.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// One part more than `at` occurs: "a,,b" is {"a", "", "b"}, and "" is {""}.
std::vector<std::string> split_at(std::string_view text, char at);

}  // namespace tx
