// What a tool says about an exception.
#pragma once
#include <exception>
#include <string>

namespace tx {

struct Failure {
  std::string message;
  int status = 1;  // of the tool: 2 for a wrong command line
};
Failure describe_failure(const std::exception_ptr& thrown, const std::string& tool);

}  // namespace tx
