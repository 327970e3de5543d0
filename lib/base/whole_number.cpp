#include "lib/base/whole_number.h"

#include "lib/base/error.h"

namespace tx {

int64_t whole_number(const Json& object, const char* key, int64_t least, int64_t most) {
  const auto refuse = [&] {
    throw DataError(std::string(key) + " is not a whole number from " + std::to_string(least) +
                    " to " + std::to_string(most));
  };
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_number_integer()) refuse();
  if (found->is_number_unsigned() && found->get<uint64_t>() > uint64_t(INT64_MAX)) refuse();
  const int64_t value = found->get<int64_t>();
  if (value < least || value > most) refuse();
  return value;
}

}  // namespace tx
