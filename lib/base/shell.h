// Text that a user can paste into a shell.
#pragma once
#include <string>

namespace tx {

// The text as one word of the shell, quoted if need be. A leading "-" may still be an option.
std::string shell_word(const std::string& text);

}  // namespace tx
