// The instructions of a pickle, as pickletools of Python calls them.
#include "lib/convert/formats/pickle.h"

#include <cstdio>

#include "lib/convert/formats/pickle_machine.h"

namespace tx {

const PickleValue* PickleValue::find(std::string_view key) const {
  for (size_t i = 0; kind == Kind::dict && i + 1 < items.size(); i += 2)
    if (items[i]->kind == Kind::text && items[i]->text == key) return items[i + 1];
  return nullptr;
}

// One instruction; false after the last one.
bool PickleMachine::step(uint8_t code) {
  switch (code) {
    case 0x80:  // PROTO
      if (number(1) > 5) refuse("is of a newer protocol than 5");
      return true;
    case 0x95:  // FRAME
      take(8);
      return true;
    case '.':  // STOP
      return stop(), false;
    case '(':  // MARK
      return marks_.push_back(stack_.size()), true;
    case '0':  // POP
      return pop(), true;
    case '}':  // EMPTY_DICT
      return push_new(Kind::dict), true;
    case ']':  // EMPTY_LIST
      return push_new(Kind::list), true;
    case ')':  // EMPTY_TUPLE
      return push_new(Kind::tuple), true;
    case 't':  // TUPLE
      return tuple(pop_to_mark()), true;
    case 0x85:  // TUPLE1
    case 0x86:
    case 0x87:
      return tuple_of(code - 0x84u), true;
    case 'a':  // APPEND
      return append({pop()}), true;
    case 'e':  // APPENDS
      return append(pop_to_mark()), true;
    case 's': {  // SETITEM
      PickleValue* value = pop();
      PickleValue* key = pop();
      return set({key, value}), true;
    }
    case 'u':  // SETITEMS
      return set(pop_to_mark()), true;
    case 'q':  // BINPUT
      return remember(number(1)), true;
    case 'r':  // LONG_BINPUT
      return remember(number(4)), true;
    case 0x94:  // MEMOIZE
      return remember(memo_.size()), true;
    case 'h':  // BINGET
      return recall(number(1)), true;
    case 'j':  // LONG_BINGET
      return recall(number(4)), true;
    case 'c': {  // GLOBAL
      const std::string_view module = line();
      return name(module, line()), true;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleValue* attribute = pop(Kind::text, "a name");
      return name(pop(Kind::text, "a module")->text, attribute->text), true;
    }
    case 'Q':  // BINPERSID
      return persistent(), true;
    case 'R':   // REDUCE
    case 0x81:  // NEWOBJ
      return reduce(), true;
    case 'b':  // BUILD
      return build(), true;
  }
  return step_constant(code);
}

bool PickleMachine::step_constant(uint8_t code) {
  switch (code) {
    case 'N':  // NONE
      return push_new(Kind::none), true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return push_boolean(code == 0x88), true;
    case 'K':  // BININT1
      return push_integer(int64_t(number(1))), true;
    case 'M':  // BININT2
      return push_integer(int64_t(number(2))), true;
    case 'J':  // BININT
      return push_integer(int32_t(number(4))), true;
    case 0x8A:  // LONG1
      return long_integer(number(1)), true;
    case 'G':  // BINFLOAT
      return real(), true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
      return push_text(take(number(4))), true;
    case 0x8C:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
      return push_text(take(number(1))), true;
    case 0x8D:  // BINUNICODE8
      return push_text(take(number(8))), true;
  }
  char text[8];
  std::snprintf(text, sizeof text, "0x%02X", code);
  refuse(std::string("has the instruction ") + text + ", which files of tensors do not need");
}

Pickle::Pickle(std::string_view& bytes, const std::string& where) {
  bytes = PickleMachine(*this, bytes, where).run();
}

}  // namespace tx
