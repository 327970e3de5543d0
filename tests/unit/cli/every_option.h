// The options of a tool, made anew for each look at them.
#pragma once
#include <functional>
#include <tuple>
#include <vector>

#include "lib/cli/options.h"

namespace tx_test {

using Visit = std::function<void(tx::Options&)>;
using Tool = std::function<void(const Visit&)>;

// Of the options that these structs describe, one after another.
template <class... Parts>
void with(const Visit& visit) {
  std::tuple<Parts...> parts;
  tx::Options options("tx-x", "");
  std::apply([&](auto&... part) { (part.describe(options), ...); }, parts);
  visit(options);
}

std::vector<Tool> bpe_commands();  // bpe_options_test.cpp

}  // namespace tx_test
