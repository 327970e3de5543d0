// The sentences of tx-attn-dump: source lines and, if given, their translations.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "lib/attention/options.h"
#include "lib/base/log.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// One line. A blank one has neither source nor target; other lines of an encoder have no target.
struct Item {
  int64_t line = 0;
  Source source;            // tokens without <eos> or <bos>; empty for a language model
  std::vector<int> target;  // tokens predicted, with <eos> if complete
  std::string text;         // the line as read
  std::string translation;
  bool blank() const { return source.ids.empty() && target.empty(); }
};

class ItemReader {
 public:
  // Keeps references to all arguments. Warns about the first ten truncated lines.
  ItemReader(const DumpOptions& options, const Translator& translator, const Log& log);

  // Waits for a line, then returns all lines that are available; false at the end. Fills target and
  // translation only with options.target. DataError, thrown after the lines before it were
  // returned: invalid UTF-8 with --strict, or a line without a counterpart.
  bool read(std::vector<Item>& items);
  void warn_at_end() const;  // warnings about the whole text

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
  UnknownText unknown_;
};

}  // namespace tx
