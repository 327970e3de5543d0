// tx-attn-dump --html: an interactive page of sentences (lib/page/page.h, lib/attention/page).
#pragma once
#include <string>
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/output.h"
#include "lib/attention/statistics.h"

namespace tx {

class AttentionPage : public AttentionOutput {
 public:
  // Keeps references to all arguments.
  AttentionPage(const DumpOptions& options, const Selection& selection, const ModelSet& models);

  // Adds sentences up to options.html_limit; later ones are left out. Blank lines are skipped.
  Write prepare(const AttentionRecord& record) override;
  // Writes the file. UsageError: not even the first sentence fits.
  void finish() override;

  bool full() const { return first_left_out_ > 0; }
  void leave_out(int64_t line);             // counts a sentence that is not computed
  std::string notice() const;               // what was left out; "": nothing
  int64_t limit() const { return limit_; }  // bytes
  // Estimated size of a sentence with so many tokens, in bytes.
  int64_t sentence_bytes(int64_t source, int64_t target) const;

 private:
  std::string sentence(const AttentionRecord& record) const;
  void add(int64_t line, const std::string& sentence, const AttentionStatistics& statistics);
  std::string data() const;
  std::string html() const;

  const DumpOptions& options_;
  const Selection& selection_;
  const ModelSet& models_;
  int64_t limit_, bytes_ = 0, left_out_ = 0, first_left_out_ = 0;
  int64_t first_bytes_ = 0;  // of the first sentence
  std::vector<std::string> sentences_;
  AttentionStatistics statistics_;  // of the sentences on the page
};

// Maximum number of input lines, whether they fit on the page or not.
constexpr int64_t max_page_lines = 10000;

// The lines that are not blank. DataError: more than max_page_lines, with how many would fit.
std::vector<Item> read_page_text(ItemReader& reader, const AttentionPage& page);

}  // namespace tx
