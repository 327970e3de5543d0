#include "lib/convert/formats/pickle.h"

#include <array>
#include <bit>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

// Classes of storages, and the dtype of their elements.
const std::map<std::string_view, const char*> storages = {
    {"torch.FloatStorage", "F32"},     {"torch.HalfStorage", "F16"}, {"torch.DoubleStorage", "F64"},
    {"torch.BFloat16Storage", "BF16"}, {"torch.LongStorage", "I64"}, {"torch.IntStorage", "I32"},
    {"torch.ShortStorage", "I16"},     {"torch.CharStorage", "I8"},  {"torch.ByteStorage", "U8"},
    {"torch.BoolStorage", "BOOL"}};

constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2",
                           rebuild_parameter = "torch._utils._rebuild_parameter",
                           ordered_dict = "collections.OrderedDict", size = "torch.Size",
                           name_space = "argparse.Namespace";

bool is_known(std::string_view name) {
  return storages.count(name) > 0 || name == rebuild_tensor || name == rebuild_parameter ||
         name == ordered_dict || name == size || name == name_space;
}

}  // namespace

// Runs a pickle: a stack of values, marks on it, the memo. Opcodes are named as in pickletools.
class PickleMachine {
 public:
  using Kind = PickleValue::Kind;

  PickleMachine(Pickle& pickle, std::string_view bytes, const std::string& where)
      : pickle_(pickle), rest_(bytes), length_(bytes.size()), where_(where) {}

  // Runs to the end and returns the remaining bytes.
  std::string_view run() {
    for (char code; (code = take(1)[0]) != '.';) step(uint8_t(code));  // STOP
    stop();
    return rest_;
  }

 private:
  using Items = std::vector<PickleValue*>;

  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(where_ + ": its pickle " + why);
  }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) refuse("is truncated");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  uint64_t number(size_t width) { return little_endian(take(width), width); }
  std::string_view line() {
    const size_t end = rest_.find('\n');
    if (end == rest_.npos) refuse("is truncated");
    const std::string_view text = take(end);
    take(1);
    return text;
  }

  // Each opcode makes at most one value and one entry of the memo.
  void count() {
    if (++values_ > Pickle::max_values)
      refuse("has more than " + std::to_string(Pickle::max_values) + " values");
  }
  PickleValue* make(Kind kind) {
    count();
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
    if (stack_.size() <= floor()) refuse("pops an empty stack");
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue* pop(Kind kind, const char* what) {
    PickleValue* value = pop();
    if (value->kind != kind) refuse(std::string("is malformed: expected ") + what);
    return value;
  }
  // Pops the values above the last mark, and the mark.
  Items pop_to_mark() {
    if (marks_.empty()) refuse("pops an empty stack");
    const size_t from = marks_.back();
    marks_.pop_back();
    Items items(stack_.begin() + ptrdiff_t(from), stack_.end());
    stack_.resize(from);
    return items;
  }
  // The value on top; null if it is opaque, which takes no items.
  PickleValue* top(Kind kind, const char* what) {
    if (stack_.size() > floor() && stack_.back()->kind == Kind::opaque) return nullptr;
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
    if (list) list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void set(const Items& items) {
    if (items.size() % 2 != 0) refuse("has a key without a value");
    PickleValue* dict = top(Kind::dict, "a dict");
    if (dict) dict->items.insert(dict->items.end(), items.begin(), items.end());
  }
  void remember(uint64_t place) {
    if (stack_.size() <= floor()) refuse("pops an empty stack");
    count();
    memo_[place] = stack_.back();
  }
  void recall(uint64_t place) {
    const auto at = memo_.find(place);
    if (at == memo_.end()) refuse("reads an undefined memo entry");
    push(at->second);
  }

  Items pop_two() {
    PickleValue* second = pop();
    return {pop(), second};
  }
  void protocol(uint64_t version) {
    if (version > 5) refuse("has a protocol newer than 5");
  }

  // Names and calls.
  void name(std::string_view module, std::string_view attribute);
  void global() {
    const std::string_view module = line();
    name(module, line());
  }
  void stack_global() {
    const PickleValue* attribute = pop(Kind::text, "a name");
    name(pop(Kind::text, "a module")->text, attribute->text);
  }
  void opaque(const std::string& name) { push_new(Kind::opaque)->text = name; }
  void persistent();
  void reduce();
  void build();
  void tensor(const std::vector<const PickleValue*>& items);
  int64_t integer_of(const PickleValue* value, const char* what) const;
  std::vector<int64_t> integers_of(const PickleValue* value, const char* what) const;

  void long_integer(uint64_t bytes) {
    const std::string_view digits = take(bytes);
    if (bytes > 8) {  // the magic number of old files
      push_new(Kind::none);
      return;
    }
    uint64_t value = little_endian(digits, bytes);
    if (bytes > 0 && bytes < 8 && digits.back() & 0x80) value |= ~uint64_t(0) << (8 * bytes);
    push_integer(int64_t(value));
  }

  void real() {  // big-endian
    uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | uint8_t(byte);
    push_new(Kind::real)->real = std::bit_cast<double>(bits);
  }

  using Machine = PickleMachine;
  using Run = void (*)(Machine& m);
  struct Opcode {
    uint8_t code;
    Run run;
  };
  static const Opcode opcodes[];
  void step(uint8_t code);
  void stop() {
    pickle_.value_ = pop();
    if (!stack_.empty() || !marks_.empty()) refuse("leaves more than one value on the stack");
  }

  Pickle& pickle_;
  std::string_view rest_;
  size_t length_, values_ = 0, copied_ = 0;  // items of states
  const std::string& where_;
  Items stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

const PickleValue* PickleValue::find(std::string_view key) const {
  for (size_t i = 0; kind == Kind::dict && i + 1 < items.size(); i += 2)
    if (items[i]->kind == Kind::text && items[i]->text == key) return items[i + 1];
  return nullptr;
}

const PickleMachine::Opcode PickleMachine::opcodes[] = {
    {0x80, [](Machine& m) { m.protocol(m.number(1)); }},                           // PROTO
    {0x95, [](Machine& m) { m.take(8); }},                                         // FRAME
    {'(', [](Machine& m) { m.marks_.push_back(m.stack_.size()); }},                // MARK
    {'0', [](Machine& m) { m.pop(); }},                                            // POP
    {'}', [](Machine& m) { m.push_new(Kind::dict); }},                             // EMPTY_DICT
    {']', [](Machine& m) { m.push_new(Kind::list); }},                             // EMPTY_LIST
    {')', [](Machine& m) { m.push_new(Kind::tuple); }},                            // EMPTY_TUPLE
    {'t', [](Machine& m) { m.tuple(m.pop_to_mark()); }},                           // TUPLE
    {0x91, [](Machine& m) { m.pop_to_mark(), m.opaque("frozenset"); }},            // FROZENSET
    {0x8F, [](Machine& m) { m.opaque("set"); }},                                   // EMPTY_SET
    {0x85, [](Machine& m) { m.tuple_of(1); }},                                     // TUPLE1
    {0x86, [](Machine& m) { m.tuple_of(2); }},                                     // TUPLE2
    {0x87, [](Machine& m) { m.tuple_of(3); }},                                     // TUPLE3
    {'a', [](Machine& m) { m.append({m.pop()}); }},                                // APPEND
    {'e', [](Machine& m) { m.append(m.pop_to_mark()); }},                          // APPENDS
    {0x90, [](Machine& m) { m.append(m.pop_to_mark()); }},                         // ADDITEMS
    {'s', [](Machine& m) { m.set(m.pop_two()); }},                                 // SETITEM
    {'u', [](Machine& m) { m.set(m.pop_to_mark()); }},                             // SETITEMS
    {'q', [](Machine& m) { m.remember(m.number(1)); }},                            // BINPUT
    {'r', [](Machine& m) { m.remember(m.number(4)); }},                            // LONG_BINPUT
    {0x94, [](Machine& m) { m.remember(m.memo_.size()); }},                        // MEMOIZE
    {'h', [](Machine& m) { m.recall(m.number(1)); }},                              // BINGET
    {'j', [](Machine& m) { m.recall(m.number(4)); }},                              // LONG_BINGET
    {'c', [](Machine& m) { m.global(); }},                                         // GLOBAL
    {0x93, [](Machine& m) { m.stack_global(); }},                                  // STACK_GLOBAL
    {'Q', [](Machine& m) { m.persistent(); }},                                     // BINPERSID
    {'R', [](Machine& m) { m.reduce(); }},                                         // REDUCE
    {0x81, [](Machine& m) { m.reduce(); }},                                        // NEWOBJ
    {0x92, [](Machine& m) { m.pop(Kind::dict, "named arguments"), m.reduce(); }},  // NEWOBJ_EX
    {'b', [](Machine& m) { m.build(); }},                                          // BUILD
    {'N', [](Machine& m) { m.push_new(Kind::none); }},                             // NONE
    {0x88, [](Machine& m) { m.push_boolean(true); }},                              // NEWTRUE
    {0x89, [](Machine& m) { m.push_boolean(false); }},                             // NEWFALSE
    {'K', [](Machine& m) { m.push_integer(int64_t(m.number(1))); }},               // BININT1
    {'M', [](Machine& m) { m.push_integer(int64_t(m.number(2))); }},               // BININT2
    {'J', [](Machine& m) { m.push_integer(int32_t(m.number(4))); }},               // BININT
    {0x8A, [](Machine& m) { m.long_integer(m.number(1)); }},                       // LONG1
    {'G', [](Machine& m) { m.real(); }},                                           // BINFLOAT
    {'X', [](Machine& m) { m.push_text(m.take(m.number(4))); }},                   // BINUNICODE
    {'T', [](Machine& m) { m.push_text(m.take(m.number(4))); }},                   // BINSTRING
    {'B', [](Machine& m) { m.push_text(m.take(m.number(4))); }},                   // BINBYTES
    {0x8C, [](Machine& m) { m.push_text(m.take(m.number(1))); }},  // SHORT_BINUNICODE
    {'U', [](Machine& m) { m.push_text(m.take(m.number(1))); }},   // SHORT_BINSTRING
    {'C', [](Machine& m) { m.push_text(m.take(m.number(1))); }},   // SHORT_BINBYTES
    {0x8D, [](Machine& m) { m.push_text(m.take(m.number(8))); }},  // BINUNICODE8
};

void PickleMachine::step(uint8_t code) {
  static const auto table = [] {
    std::array<Run, 256> runs{};
    for (const Opcode& opcode : opcodes) runs[opcode.code] = opcode.run;
    return runs;
  }();
  if (!table[code])
    refuse(formatted("has the opcode 0x%02X, which tensor files do not need", code));
  table[code](*this);
}

Pickle::Pickle(std::string_view& bytes, const std::string& where) {
  bytes = PickleMachine(*this, bytes, where).run();
}

void PickleMachine::name(std::string_view module, std::string_view attribute) {
  push_new(Kind::name)->text = std::string(module) + "." + std::string(attribute);
}

int64_t PickleMachine::integer_of(const PickleValue* value, const char* what) const {
  if (value->kind != Kind::integer || value->integer < 0)
    refuse(std::string("is malformed: expected ") + what);
  return value->integer;
}
std::vector<int64_t> PickleMachine::integers_of(const PickleValue* value, const char* what) const {
  constexpr size_t max = 64;  // dimensions; limits tuples that the memo repeats
  if (value->kind != Kind::tuple || value->items.size() > max)
    refuse(std::string("is malformed: expected ") + what);
  std::vector<int64_t> list;
  for (const PickleValue* item : value->items) list.push_back(integer_of(item, what));
  return list;
}

// ("storage", its class, key, device, elements); before PyTorch 1.6 also ("module", its class, ...)
void PickleMachine::persistent() {
  const PickleValue* id = pop(Kind::tuple, "a storage");
  const auto is = [&](size_t i, Kind kind) { return id->items[i]->kind == kind; };
  if (id->items.size() == 4 && is(1, Kind::name) && id->items[0]->text == "module")
    return opaque(id->items[1]->text);
  if (id->items.size() < 5 || !is(0, Kind::text) || id->items[0]->text != "storage" ||
      !is(1, Kind::name) || !is(2, Kind::text))
    refuse("is malformed: expected a storage");
  const auto dtype = storages.find(id->items[1]->text);
  if (dtype == storages.end()) return opaque(id->items[1]->text);
  PickleValue* storage = push_new(Kind::storage);
  storage->dtype = dtype->second;
  storage->text = id->items[2]->text;
  storage->integer = integer_of(id->items[4], "the size of a storage");
}

// The supported calls: those that make tensors and dicts. The others make opaque values.
void PickleMachine::reduce() {
  const PickleValue* arguments = pop(Kind::tuple, "arguments");
  const PickleValue* called = pop();
  if (called->kind != Kind::opaque && called->kind != Kind::name)
    refuse("is malformed: expected a name");
  const auto& items = arguments->items;
  if (called->kind == Kind::opaque || !is_known(called->text)) return opaque(called->text);
  if (called->text == rebuild_tensor) return tensor(items);
  if (called->text == rebuild_parameter && !items.empty() && items[0]->kind == Kind::tensor)
    return push(const_cast<PickleValue*>(items[0]));
  if ((called->text == ordered_dict || called->text == name_space) && items.empty()) {
    push_new(Kind::dict);
    return;
  }
  if (called->text == size && items.size() == 1 && items[0]->kind == Kind::tuple)
    return push(const_cast<PickleValue*>(items[0]));
  refuse("calls " + shown(called->text) + " with unexpected arguments");
}

// (storage, first element, shape, strides, ...)
void PickleMachine::tensor(const std::vector<const PickleValue*>& items) {
  if (!items.empty() && items[0]->kind == Kind::opaque) return opaque(items[0]->text);
  if (items.size() < 4 || items[0]->kind != Kind::storage) refuse("has a malformed tensor");
  const int64_t first = integer_of(items[1], "a tensor's place");
  std::vector<int64_t> shape = integers_of(items[2], "a tensor's shape");
  std::vector<int64_t> strides = integers_of(items[3], "a tensor's strides");
  PickleValue* tensor = push_new(Kind::tensor);
  tensor->dtype = items[0]->dtype;
  tensor->items = {items[0]};
  tensor->integer = first;
  tensor->shape = std::move(shape);
  tensor->strides = std::move(strides);
}

// The attributes of a Namespace; those of a dict (_metadata) are ignored.
void PickleMachine::build() {
  const PickleValue* state = pop();
  PickleValue* object = top(Kind::dict, "an object with a state");
  if (object == nullptr || !object->items.empty() || state->kind != Kind::dict) return;
  copied_ += state->items.size();  // the memo can repeat a state
  if (copied_ > length_) refuse("repeats its states too often");
  if (state->find("_metadata") == nullptr) object->items = state->items;
}

}  // namespace tx
