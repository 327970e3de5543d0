// Internal to lib/cli: an option's field, its texts and JSON, and the text of its conditions.
#pragma once
#include "lib/cli/options.h"

namespace tx::values {

// `texts`: the values given on the command line, in order; throws UsageError.
void set_from_texts(Option& option, const std::vector<std::string>& texts);
void set_from_json(Option& option, const Json& json, const std::string& where);
Json to_json(const Option& option);
// The field as on the command line; "" for an empty string, list or optional.
std::string to_text(const FieldPointer& field);
std::vector<std::string> texts(const FieldPointer& field);  // non-empty texts of a string or list
std::vector<std::string> names(const Option& option);       // {"-o", "--out"}
std::vector<std::string> all_names(const Option& option);   // followed by its aliases
std::string title(const Option& option);                    // its long name, for messages
bool is_on(const Option& option);                           // not false, 0 or empty

// {"needs --metric chrf or ter"}, for the help. `facts`: include facts that need a single value.
std::vector<std::string> needs(const std::vector<Conditions>& needed, bool facts);

}  // namespace tx::values
