#include "lib/base/outputs.h"

#include <sys/stat.h>

#include "lib/base/error.h"

namespace tx {

void check_output(const std::string& output, const std::vector<std::string>& inputs,
                  const std::string& option) {
  struct stat out, in;
  if (output == "-" || ::stat(output.c_str(), &out) != 0 || !S_ISREG(out.st_mode)) return;
  for (const std::string& input : inputs)
    if (input != "-" && ::stat(input.c_str(), &in) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino)
      throw UsageError(option + " " + output + " is also an input" +
                       (input == output ? "" : ", " + input) + ": choose another name");
}

}  // namespace tx
