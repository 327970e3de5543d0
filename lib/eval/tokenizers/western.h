// The rules that the tokenisers of mteval-v13a and of tercom share: punctuation of Western text.
#pragma once
#include <string>
#include <string_view>

namespace tx {

// Every occurrence, left to right.
void replace_all(std::string& text, std::string_view from, std::string_view to);

// &quot; &amp; &lt; &gt;, one kind after another: "&amp;lt;" becomes "<", "&amp;quot;" stays
// "&quot;".
void resolve_entities(std::string& text);

// Puts spaces around symbols of ASCII, around points and commas outside numbers, and around a
// hyphen after a digit. The first and the last character are context like any other: what becomes
// of the ends of a line depends on a space being there.
class WesternRules {
 public:
  void apply(std::string& text);  // both of the below
  void isolate_symbols(std::string& text);
  void split_points(std::string& text);

 private:
  std::string next_;
};

}  // namespace tx
