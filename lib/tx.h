// The library of tx for C++ programs: translate text with a model that tx-train or tx-avg wrote.
// Needs C++20; compile and link with `pkg-config --cflags --libs tx`.
//
//   #include <tx/tx.h>
//
//   tx::Model model("model.safetensors");
//   std::string german = model.translate("two old houses");
//
// This header is all that is promised from one version to the next. Failures are exceptions derived
// from std::runtime_error whose what() says which file and what to do.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace tx {

std::string version();  // "0.1.0"

// The options of the same names of tx-decode(1), where they are explained.
struct TranslateOptions {
  int beam = 4;  // 1 is greedy search
  double alpha = 0.6;
  int max_extra = 50;              // pieces
  int max_source = 1024;           // pieces; what a longer line has beyond is not translated
  int threads = 0;                 // 0: all processors
  std::string precision = "auto";  // auto, bf16, fp32
  std::string device = "auto";     // auto (the GPU where there is one), cpu, cuda
};

// A model in memory. Several threads may translate with the same one.
class Model {
 public:
  // path: a model file, or a run directory, of which the best model is taken, else the last.
  explicit Model(const std::string& path, const TranslateOptions& options = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // One line of UTF-8 into one line; ill-formed bytes count as U+FFFD, a line break as a space.
  // A blank line gives an empty one.
  std::string translate(const std::string& line) const;
  // The same for many at once, which is faster; result i belongs to lines[i]. A line's translation
  // does not depend on the lines beside it.
  std::vector<std::string> translate(const std::vector<std::string>& lines) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tx
