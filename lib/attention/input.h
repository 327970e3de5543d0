// The sentences of a dump as they arrive: source lines, and the translations that belong to them.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "lib/attention/options.h"
#include "lib/base/log.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// One line on its way. A blank one has no source, and no target.
struct Item {
  int64_t line = 0;
  Source source;            // tokens without <eos>; of a language model none
  std::vector<int> target;  // tokens predicted, <eos> included where complete
  std::string text;         // the line as read
  std::string translation;
};

class ItemReader {
 public:
  // All of these must live longer. `log` gets a warning for each of the first ten lines cut.
  ItemReader(const DumpOptions& options, const Translator& translator, const Log& log);

  // Waits for a line, then takes what has arrived; false at the end. Only with options.target are
  // target and translation filled. Bad input is a DataError, thrown once the lines before it have
  // been returned: --strict, or a line of one side without its counterpart.
  bool read(std::vector<Item>& items);
  void warn_at_end() const;  // what was odd in the text

 private:
  bool next(Item& item);
  void take_text(Item& item);
  void take_target(Item& item);

  const Translator& translator_;
  const Log& log_;
  LinePairs in_;
  std::string text_, target_;
  std::exception_ptr failure_;
  bool ended_ = false;
  CutWarnings cuts_;
};

}  // namespace tx
