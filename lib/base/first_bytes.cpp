#include "lib/base/first_bytes.h"

#include "lib/base/error.h"

namespace tx {

namespace {

using namespace std::string_view_literals;

struct Form {
  std::string_view magic;
  const char* what;
  const char* command;  // that turns it into text; null: the mark of UTF-8
};

// Of two that begin alike, the longer comes first. None has a '\n' before its last byte, so a whole
// line is never held back to wait for more bytes.
constexpr Form forms[] = {
    {"\xEF\xBB\xBF"sv, "", nullptr},
    {"\xFD\x37zXZ\0"sv, "is compressed with xz", "xz -dc"},
    {"\x28\xB5\x2F\xFD"sv, "is compressed with zstd", "zstd -dc"},
    {"BZh1\x31\x41\x59\x26\x53\x59"sv, "is compressed with bzip2", "bzip2 -dc"},
    {"\xFF\xFE\0\0"sv, "is text in UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\0\0\xFE\xFF"sv, "is text in UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\xFF\xFE"sv, "is text in UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF"sv, "is text in UTF-16", "iconv -f UTF-16 -t UTF-8"},
};

// The fourth byte of a bzip2 file is its level, 1 to 9.
bool same(const Form& form, std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool level = i == 3 && form.magic.starts_with("BZh");
    if (level ? bytes[i] < '1' || bytes[i] > '9' : bytes[i] != form.magic[i]) return false;
  }
  return true;
}

std::string advice(const std::string& command, const std::string& name) {
  if (name == "standard input") return "send it through " + command + " first";
  const std::string whole = command + " " + name;
  return "write its text to a file (" + whole + " > TEXT) or pipe it in (" + whole + " | ...)";
}

}  // namespace

FirstBytes look_at_first_bytes(std::string_view begin, bool whole, const std::string& name) {
  for (const Form& form : forms) {
    const size_t seen = std::min(begin.size(), form.magic.size());
    if (!same(form, begin.substr(0, seen))) continue;
    if (seen < form.magic.size()) {
      if (whole) continue;
      return FirstBytes::too_few;
    }
    if (form.command == nullptr) return FirstBytes::mark;
    throw DataError(name + " " + form.what + ": " + advice(form.command, name));
  }
  return FirstBytes::plain;
}

}  // namespace tx
