// The machine that runs a pickle: a stack of values, marks on it, and a memory of values. Inside
// lib/convert/formats only.
#pragma once
#include <bit>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/convert/formats/little_endian.h"
#include "lib/convert/formats/pickle.h"

namespace tx {

class PickleMachine {
 public:
  using Kind = PickleValue::Kind;

  PickleMachine(Pickle& pickle, std::string_view bytes, const std::string& where)
      : pickle_(pickle), rest_(bytes), where_(where) {}

  // Runs to the end; what is left of the bytes.
  std::string_view run() {
    while (step(uint8_t(take(1)[0]))) {
    }
    return rest_;
  }

 private:
  using Items = std::vector<PickleValue*>;

  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(where_ + ": its pickle " + why);
  }
  static std::string shown(std::string_view text) {
    return to_text(Json(std::string(text.substr(0, 100))));
  }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) refuse("is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  uint64_t number(size_t width) { return little_endian(take(width), width); }
  std::string_view line() {
    const size_t end = rest_.find('\n');
    if (end == rest_.npos) refuse("is cut off");
    const std::string_view text = take(end);
    take(1);
    return text;
  }

  PickleValue* make(Kind kind) {
    pickle_.values_.emplace_back();
    pickle_.values_.back().kind = kind;
    return &pickle_.values_.back();
  }
  void push(PickleValue* value) { stack_.push_back(value); }
  PickleValue* push_new(Kind kind) {
    push(make(kind));
    return stack_.back();
  }
  void push_integer(int64_t value) { push_new(Kind::integer)->integer = value; }
  void push_boolean(bool value) { push_new(Kind::boolean)->integer = value; }
  void push_text(std::string_view text) { push_new(Kind::text)->text = text; }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue* pop() {
    if (stack_.size() <= floor()) refuse("takes more values than it has");
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue* pop(Kind kind, const char* what) {
    PickleValue* value = pop();
    if (value->kind != kind) refuse(std::string("has something else where ") + what + " belongs");
    return value;
  }
  // The values above the last mark, which goes.
  Items pop_to_mark() {
    if (marks_.empty()) refuse("takes more values than it has");
    const size_t from = marks_.back();
    marks_.pop_back();
    Items items(stack_.begin() + ptrdiff_t(from), stack_.end());
    stack_.resize(from);
    return items;
  }
  PickleValue* top(Kind kind, const char* what) {
    PickleValue* value = pop(kind, what);
    push(value);
    return value;
  }

  void tuple(const Items& items) {
    push_new(Kind::tuple)->items.assign(items.begin(), items.end());
  }
  void tuple_of(size_t count) {
    Items items(count);
    while (count > 0) items[--count] = pop();
    tuple(items);
  }
  void append(const Items& items) {
    PickleValue* list = top(Kind::list, "a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void set(const Items& items) {
    if (items.size() % 2 != 0) refuse("has a key without a value");
    PickleValue* dict = top(Kind::dict, "a dict");
    dict->items.insert(dict->items.end(), items.begin(), items.end());
  }
  void remember(uint64_t place) {
    if (stack_.size() <= floor()) refuse("takes more values than it has");
    memo_[place] = stack_.back();
  }
  void recall(uint64_t place) {
    const auto at = memo_.find(place);
    if (at == memo_.end()) refuse("takes a value that it never made");
    push(at->second);
  }

  // pickle_calls.cpp: what stands for names and calls.
  void name(std::string_view module, std::string_view attribute);
  void persistent();
  void reduce();
  void build();
  void tensor(const std::vector<const PickleValue*>& items);
  int64_t integer_of(const PickleValue* value, const char* what) const;
  std::vector<int64_t> integers_of(const PickleValue* value, const char* what) const;

  void long_integer(uint64_t bytes) {
    const std::string_view digits = take(bytes);
    if (bytes > 8) {  // the magic number of old files; no size is so large
      push_new(Kind::none);
      return;
    }
    uint64_t value = little_endian(digits, bytes);
    if (bytes > 0 && bytes < 8 && digits.back() & 0x80) value |= ~uint64_t(0) << (8 * bytes);
    push_integer(int64_t(value));
  }

  void real() {  // the highest byte first
    uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | uint8_t(byte);
    push_new(Kind::real)->real = std::bit_cast<double>(bits);
  }

  bool step(uint8_t code);
  bool step_constant(uint8_t code);
  void stop() {
    pickle_.value_ = pop();
    if (!stack_.empty() || !marks_.empty()) refuse("ends with more than one value");
  }

  Pickle& pickle_;
  std::string_view rest_;
  const std::string& where_;
  Items stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

}  // namespace tx
