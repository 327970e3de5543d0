// Text that a user can paste into a shell.
#pragma once
#include <string>

namespace tx {

// The text as one word of the shell, in single quotes if it needs them. A word that begins with "-"
// is not protected from being read as an option.
std::string shell_word(const std::string& text);

}  // namespace tx
