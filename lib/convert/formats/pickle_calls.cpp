// The names that a pickle of tensors asks for, and what its calls of them make.
#include "lib/convert/formats/pickle_machine.h"

namespace tx {

namespace {

// Classes of storages: torch.FloatStorage holds elements of F32.
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

void PickleMachine::name(std::string_view module, std::string_view attribute) {
  const std::string full = std::string(module) + "." + std::string(attribute);
  if (!is_known(full))
    refuse("asks for " + shown(full) +
           ", which is not part of a tensor: it is not run, and the file is refused; ask for it "
           "as safetensors");
  push_new(Kind::name)->text = full;
}

int64_t PickleMachine::integer_of(const PickleValue* value, const char* what) const {
  if (value->kind != Kind::integer || value->integer < 0)
    refuse(std::string("has something else where ") + what + " belongs");
  return value->integer;
}
std::vector<int64_t> PickleMachine::integers_of(const PickleValue* value, const char* what) const {
  constexpr size_t max = 64;  // dimensions; a tuple may be named again and again
  if (value->kind != Kind::tuple || value->items.size() > max)
    refuse(std::string("has something else where ") + what + " belongs");
  std::vector<int64_t> list;
  for (const PickleValue* item : value->items) list.push_back(integer_of(item, what));
  return list;
}

// ("storage", its class, key, device, elements)
void PickleMachine::persistent() {
  const PickleValue* id = pop(Kind::tuple, "a storage");
  const auto is = [&](size_t i, Kind kind) { return id->items[i]->kind == kind; };
  if (id->items.size() < 5 || !is(0, Kind::text) || id->items[0]->text != "storage" ||
      !is(1, Kind::name) || !is(2, Kind::text))
    refuse("has something else where a storage belongs");
  const auto dtype = storages.find(id->items[1]->text);
  if (dtype == storages.end()) refuse("has a storage of " + shown(id->items[1]->text));
  PickleValue* storage = push_new(Kind::storage);
  storage->dtype = dtype->second;
  storage->text = id->items[2]->text;
  storage->integer = integer_of(id->items[4], "the size of a storage");
}

// What stands for a call: the few that make tensors and dicts.
void PickleMachine::reduce() {
  const PickleValue* arguments = pop(Kind::tuple, "arguments");
  const PickleValue* called = pop(Kind::name, "a name");
  const auto& items = arguments->items;
  if (called->text == rebuild_tensor) return tensor(items);
  if (called->text == rebuild_parameter && !items.empty() && items[0]->kind == Kind::tensor)
    return push(const_cast<PickleValue*>(items[0]));
  if ((called->text == ordered_dict || called->text == name_space) && items.empty()) {
    push_new(Kind::dict);
    return;
  }
  if (called->text == size && items.size() == 1 && items[0]->kind == Kind::tuple)
    return push(const_cast<PickleValue*>(items[0]));
  refuse("calls " + shown(called->text) + " in a way that is not known");
}

// (storage, first element, shape, strides, ...)
void PickleMachine::tensor(const std::vector<const PickleValue*>& items) {
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

// The state of an object: attributes of a Namespace; those of a dict (_metadata) say nothing.
void PickleMachine::build() {
  PickleValue* state = pop();
  PickleValue* object = top(Kind::dict, "an object with a state");
  const bool attributes = state->kind == Kind::dict && state->find("_metadata") == nullptr;
  if (object->items.empty() && attributes) object->items.swap(state->items);
}

}  // namespace tx
