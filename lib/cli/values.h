// What only lib/cli sees: between an option's field and its texts and JSON, and its conditions in
// words.
#pragma once
#include "lib/cli/options.h"

namespace tx::values {

// The texts given on the command line, in order; throws UsageError.
void set_from_texts(Option& option, const std::vector<std::string>& texts);
void set_from_json(Option& option, const Json& json, const std::string& where);
Json to_json(const Option& option);
// The field as a user would type it; "" for an empty string, list or optional.
std::string to_text(const FieldPointer& field);
std::vector<std::string> texts(const FieldPointer& field);  // of a string or list: what is not ""
std::vector<std::string> split(const std::string& words);   // "a,b" as {"a", "b"}; "" as {}
std::vector<std::string> names(const Option& option);       // {"-o", "--out"}
std::vector<std::string> all_names(const Option& option);   // aliases follow
std::string title(const Option& option);                    // how messages call it: the long name
bool is_on(const Option& option);                           // neither false, 0 nor empty

// {"needs --metric chrf or ter"}, for the help; see Option::needs(). `facts`: with those of one
// value.
std::vector<std::string> needs(const std::vector<Conditions>& needed, bool facts);

}  // namespace tx::values
