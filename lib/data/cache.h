// The id cache, tx-cache(5): tokenised text as ids in one memory-mapped file, written once and
// shared between runs. Line n of all K sides (1: a language model's text; 2: source, target) is a
// "pair"; with documents, a pair is one of the sequences they are cut into (documents.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/data/documents.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"
#include "lib/text/parse.h"

namespace tx {

// One side of the text: its files, concatenated, and their vocabulary.
struct CacheSide {
  std::vector<std::string> files;
  const Vocabulary* vocabulary = nullptr;  // not owned
};

struct CacheOptions {
  std::string links;    // file of word alignments (parse_links()); "": none
  int max_length = 0;   // drops pairs with more tokens on any side; 0: no limit
  bool strict = false;  // invalid UTF-8 is a DataError instead of being replaced
  int threads = 1;
  // Documents, with one side and without max_length.
  int context = 0;               // rows of a sequence, with <bos>; 0: lines are pairs
  bool blank_lines = false;      // blank lines separate documents; else every line is one
  bool cross_documents = false;  // sequences span documents, which <eos> <bos> separate
};

// Statistics of the text, also stored in the cache.
struct CacheReport {
  int64_t lines = 0;                  // per side
  int64_t pairs = 0;                  // kept
  std::vector<int64_t> empty;         // dropped: this side is the first one without tokens
  int64_t too_long = 0;               // dropped: more than max_length tokens on a side
  int64_t documents = 0;              // kept; 0: lines are pairs
  TextTally text = {};                // of documents
  std::vector<std::string> warnings;  // invalid UTF-8, NUL, CR LF: "FILE:LINE: ..."
};

// "dropped 12 pairs of 29,000: 3 with an empty source, 9 longer than 100 tokens"; "" if none were.
std::string describe_dropped(const CacheReport& report, int max_length);

// Reads every file once, all sides in lockstep and in constant memory, and writes the cache
// atomically. The bytes do not depend on the number of threads. DataError: different numbers of
// lines, links to words that a line does not have (as WordStarts counts them), or no pairs left.
CacheReport build_cache(const std::string& path, const std::vector<CacheSide>& sides,
                        const CacheOptions& options);

// An open cache. The constructor checks everything (sizes, checksum, every index entry and id), so
// that access needs no checks; with verify false, only sizes and description.
class IdCache {
 public:
  explicit IdCache(const std::string& path, bool verify = true);

  int sides() const { return int(side_.size()); }
  int64_t pairs() const { return pairs_; }
  int64_t tokens(int side) const {
    return side_[side].tokens;
  }                                                            // tokens of all pairs, without <eos>
  int longest(int side) const { return side_[side].longest; }  // tokens of the longest line
  int vocabulary_size(int side) const { return side_[side].size; }
  const std::string& checksum() const { return checksum_; }  // XXH3 of the content
  const std::string& path() const { return file_.path(); }
  const CacheReport& report() const { return report_; }

  int length(int64_t pair, int side) const;  // tokens, without <eos>
  int64_t line(int64_t pair) const;          // line number in the text, from 1
  // Whether the pair continues the document of the previous pair.
  bool continues(int64_t pair) const;
  int32_t id(int64_t pair, int side, int place) const;              // one id
  void copy(int64_t pair, int side, std::span<int32_t> out) const;  // the first ids
  std::vector<int> ids(int64_t pair, int side) const;
  // DataError if the file has been overwritten since it was verified, see MappedFile.
  void check_unchanged() const;
  bool has_links() const { return links_ >= 0; }
  std::vector<WordLink> links(int64_t pair) const;  // by target word, then by source word

 private:
  struct Side {
    int64_t tokens = 0;
    int longest = 0, size = 0;
  };
  void read_description();
  void check_report() const;
  void verify() const;
  void verify_pair(int64_t pair, std::vector<Side>& found) const;
  const char* entry(int64_t pair) const;
  // The bytes of a pair from `begin`; they are inside the file, even if it was overwritten.
  const char* content(int64_t pair, int64_t begin, int64_t bytes) const;
  int64_t id_bytes(int64_t pair, int sides) const;  // of the first sides
  int64_t link_count(int64_t pair) const;
  int32_t id_at(const char* at) const;
  [[noreturn]] void damaged(const std::string& what) const;

  MappedFile file_;
  std::vector<Side> side_;
  int64_t pairs_ = 0, index_ = 0, end_ = 0;  // end_: offset of the description
  int64_t links_ = -1;                       // of all pairs; -1: the cache has none
  int width_ = 4;
  std::string checksum_;
  CacheReport report_;
};

}  // namespace tx
