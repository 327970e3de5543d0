#include "lib/convert/formats/long_object.h"

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

Json parse_long_object(std::string_view text, const std::string& where) {
  const auto sorted = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (sorted.is_discarded()) parse_json(text, where);  // says what is wrong
  if (!sorted.is_object()) throw DataError(where + " is not a JSON object");
  Json object = Json::object();
  auto& members = object.get_ref<Json::object_t&>();  // appended to without a search for the key
  for (const auto& [key, value] : sorted.items())
    members.emplace_back(key, value.is_structured() ? Json() : Json(value));
  return object;
}

Json read_long_object(const std::string& path) {
  constexpr int64_t max = int64_t(1) << 28;  // bytes
  return parse_long_object(read_regular_file(path, max), path);
}

}  // namespace tx
