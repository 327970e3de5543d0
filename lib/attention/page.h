// The page of tx-attn-dump --html: sentences and what the model attends to in them, in one HTML
// file (lib/page/page.h; its scripts are in lib/attention/page).
#pragma once
#include <string>
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/output.h"
#include "lib/attention/statistics.h"

namespace tx {

class AttentionPage : public AttentionOutput {
 public:
  // All must live longer.
  AttentionPage(const DumpOptions& options, const Selection& selection, const ModelSet& models);

  // Takes sentences until one does not fit into options.html_limit; it and those after it are left
  // out. A blank line leaves nothing.
  Write prepare(const AttentionRecord& record) override;
  // Writes the file. UsageError where not even the first sentence fits.
  void finish() override;

  bool full() const { return first_left_out_ > 0; }
  void leave_out(int64_t line);             // one more, which is not computed at all
  std::string notice() const;               // about what was left out, "" where nothing was
  int64_t limit() const { return limit_; }  // bytes
  // What a sentence of so many tokens takes, about, in bytes.
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
  std::vector<std::string> sentences_;
  AttentionStatistics statistics_;  // of the sentences in the page
};

// Lines that a page is made from at most, whether they fit into it or not.
constexpr int64_t max_page_lines = 10000;

// The lines that are not blank. A text of more lines than most_page_lines is a DataError that tells
// how many of them fit into the page.
std::vector<Item> read_page_text(ItemReader& reader, const AttentionPage& page);

}  // namespace tx
