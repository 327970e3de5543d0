#include "lib/base/json.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

void require_finite(const Json& value) {
  if (value.is_number_float()) TX_ASSERT(std::isfinite(value.get<double>()));
  if (value.is_structured())
    for (const auto& element : value) require_finite(element);
}

// Copying, comparing and printing values is recursive: the stack limits the depth.
constexpr int max_depth = 100;

void require_shallow(std::string_view text, const std::string& where) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > max_depth)
      throw DataError(where + ": JSON nested deeper than " + std::to_string(max_depth) +
                      " levels at byte " + std::to_string(i + 1));
  }
}

// Builds the value of a text. It appends the members of objects, where nlohmann's parser searches
// the object for each key, and merges those with one key at the end: the last value counts.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(const std::string& where, const char* without) : where_(where), without_(without) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr), true; }
  bool boolean(bool value) override { return add(value), true; }
  bool number_integer(int64_t value) override { return add(value), true; }
  bool number_unsigned(uint64_t value) override { return add(value), true; }
  bool number_float(double value, const std::string&) override { return add(value), true; }
  bool string(std::string& value) override { return add(std::move(value)), true; }
  bool binary(Json::binary_t&) override { return false; }
  bool key(std::string& name) override { return key_ = std::move(name), true; }
  bool start_object(size_t) override { return open_.push_back(&add(Json::object())), true; }
  bool start_array(size_t) override { return open_.push_back(&add(Json::array())), true; }
  bool end_object() override { return merge(members_of(*open_.back())), end_array(); }
  bool end_array() override { return open_.pop_back(), true; }
  bool parse_error(size_t at, const std::string&, const Json::exception& e) override {
    if (dynamic_cast<const Json::out_of_range*>(&e) != nullptr)
      throw DataError(where_ + ": not usable JSON: a number is too large");
    throw DataError(where_ + ": not valid JSON at byte " + std::to_string(at));
  }

 private:
  using Members = Json::object_t::Container;

  static Members& members_of(Json& object) { return object.get_ref<Json::object_t&>(); }

  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    Members& members = members_of(*open_.back());
    members.emplace_back(std::move(key_), std::move(value));
    return members.back().second;
  }

  void merge(Members& members) const {
    std::unordered_map<std::string_view, size_t> first;
    std::vector<bool> dropped(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      const auto [at, added] = first.emplace(members[i].first, i);
      if (!added) members[at->second].second = std::move(members[i].second);
      dropped[i] = !added || (open_.size() == 1 && without_ && members[i].first == without_);
    }
    if (std::ranges::count(dropped, true) == 0) return;
    Members kept;
    for (size_t i = 0; i < members.size(); ++i)
      if (!dropped[i]) kept.emplace_back(members[i].first, std::move(members[i].second));
    members = std::move(kept);
  }

  const std::string& where_;
  const char* without_;
  Json root_;
  std::vector<Json*> open_;  // the objects and arrays that are not closed
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const char* without) {
  require_shallow(text, where);
  JsonBuilder builder(where, without);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string to_text(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string shown(std::string_view text) { return to_text(Json(std::string(text.substr(0, 100)))); }

int64_t whole_number(const Json& object, const char* key, int64_t min, int64_t max) {
  const auto refuse = [&] {
    throw DataError(std::string(key) + " is not a whole number from " + grouped(double(min)) +
                    " to " + grouped(double(max)));
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
