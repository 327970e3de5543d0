// The subset of Python's pickle that tensor files need. A pickle may call any Python function; this
// interpreter calls none. It builds numbers, strings, lists and dicts, and knows the few names in
// pickle.cpp that describe a tensor. What a pickle makes with any other name is opaque: a value of
// unknown content that records the name. Any other opcode is an error.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,
    text,
    tuple,
    list,
    dict,
    name,
    storage,
    tensor,
    opaque
  };
  Kind kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // of a text; of a name, or the name that made an opaque value: "module.class"
  // Of a tuple or list; of a dict: key, value, key, value ...
  std::vector<const PickleValue*> items;
  // Of a storage: `dtype` as safetensors names it, `text` its key, `integer` its number of
  // elements. Of a tensor: items[0] is its storage, `integer` its first element.
  std::string dtype;
  std::vector<int64_t> shape, strides;
  // Of a dict: the value of a string key; null if absent.
  const PickleValue* find(std::string_view key) const;
};

class Pickle {
 public:
  // Reads one pickle and removes it from the front of `bytes`. DataError begins with `where`.
  // Memory and time are linear in its length; there are at most `max_values` values.
  static constexpr size_t max_values = size_t(1) << 21;
  Pickle(std::string_view& bytes, const std::string& where);
  const PickleValue& value() const { return *value_; }

 private:
  friend class PickleMachine;
  std::deque<PickleValue> values_;  // owns all values, which point to each other
  const PickleValue* value_ = nullptr;
};

}  // namespace tx
