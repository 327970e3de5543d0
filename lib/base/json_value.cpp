#include "lib/base/json_value.h"

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

int64_t whole_number(const Json& object, const char* key, int64_t min, int64_t max) {
  const auto refuse = [&] {
    throw DataError(std::string(key) + " is not a whole number from " + limit_text(double(min)) +
                    " to " + limit_text(double(max)));
  };
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_number_integer()) refuse();
  if (found->is_number_unsigned() && found->get<uint64_t>() > uint64_t(INT64_MAX)) refuse();
  const int64_t value = found->get<int64_t>();
  if (value < min || value > max) refuse();
  return value;
}

void json_value_detail::refuse(const Json& object, const char* key, const std::string& where,
                               const char* wanted) {
  const std::string name = where + ": " + key;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw DataError(name + " is missing; it must be " + wanted);
  std::string text = to_text(*found);
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  if (found->is_array() && wanted == std::string_view("a list"))
    throw DataError(name + " is " + text + ": an element is of the wrong type");
  throw DataError(name + " is " + text + ", not " + wanted);
}

}  // namespace tx
