// The part of Python's pickle that files of tensors need, and nothing else. A pickle is a program
// for a small machine that may call any function of any module; this one calls none. It builds
// numbers, strings, lists and dicts, and knows a few names, listed in pickle_calls.cpp: those that
// say "a tensor of this storage, place, shape and strides". Any other name, and any instruction
// beyond these, is refused by name.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, tuple, list, dict, name, storage, tensor };
  Kind kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // of text, of a name "module.attribute"
  std::vector<const PickleValue*>
      items;  // of a tuple, a list; of a dict key, value, key, value ...
  // Of a storage: its dtype as safetensors calls it, its key (text) and elements (integer). Of a
  // tensor: its storage is items[0], its first element `integer`.
  std::string dtype;
  std::vector<int64_t> shape, strides;
  // Of a dict: the value of a key that is text; null when absent.
  const PickleValue* find(std::string_view key) const;
};

class Pickle {
 public:
  // Reads one pickle from the front of `bytes` and removes it. DataError that begins with `where`.
  // Memory and time are bounded by a multiple of its length.
  Pickle(std::string_view& bytes, const std::string& where);
  const PickleValue& value() const { return *value_; }

 private:
  friend class PickleMachine;
  std::deque<PickleValue> values_;  // all that was made; they point at each other
  const PickleValue* value_ = nullptr;
};

}  // namespace tx
