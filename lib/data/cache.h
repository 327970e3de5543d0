// The id cache: parallel text as ids in one memory-mapped file, written once and shared between
// runs. The format is tx-cache(5). The lines of K sides (1: a language model's text; 2: source,
// target) correspond; a "pair" is one line of every side. Of a language model's documents a pair is
// a sentence that they were cut into (documents.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/data/documents.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"
#include "lib/text/parse.h"

namespace tx {

// One side of the text: its files, read one after another, and the vocabulary that encodes them.
struct CacheSide {
  std::vector<std::string> files;
  const Vocabulary* vocabulary = nullptr;  // not owned
};

struct CacheOptions {
  std::string links;    // file of word alignments of the two sides (parse_links()); "": none
  int max_length = 0;   // a pair with more tokens on any side is dropped; 0: no limit
  bool strict = false;  // ill-formed UTF-8 is a DataError instead of being replaced
  int threads = 1;
  DocumentOptions documents = {};  // of one side; with a context, max_length is 0
};

// What reading the text found. Also kept inside the cache.
struct CacheReport {
  int64_t lines = 0;                  // of each side
  int64_t pairs = 0;                  // kept
  std::vector<int64_t> empty;         // dropped because this side (the first such) has no token
  int64_t too_long = 0;               // dropped because a side has more than max_length tokens
  int64_t documents = 0;              // kept; 0: the lines are pairs
  TextTally text = {};                // of documents
  std::vector<std::string> warnings;  // ill-formed UTF-8, NUL, CR LF: "FILE:LINE: ..."
};

// "dropped 12 pairs of 29000: 3 with an empty source, 9 longer than 100 tokens"; empty where no
// pair was dropped.
std::string describe_dropped(const CacheReport& report, int max_length);

// Reads every file once and all sides in step, in constant memory, and writes the cache atomically.
// The bytes do not depend on the number of threads. Sides with different numbers of lines, links to
// words that a line does not have (WordStarts counts them), or no pair left: DataError.
CacheReport build_cache(const std::string& path, const std::vector<CacheSide>& sides,
                        const CacheOptions& options);

// An open cache. Everything is checked on opening (sizes, checksum, every index entry and id), so
// that access needs no check; with verify false only the sizes and the description are.
class IdCache {
 public:
  explicit IdCache(const std::string& path, bool verify = true);

  int sides() const { return int(side_.size()); }
  int64_t pairs() const { return pairs_; }
  int64_t tokens(int side) const { return side_[side].tokens; }  // tokens of all pairs, no <eos>
  int longest(int side) const { return side_[side].longest; }    // tokens of the longest line
  int vocabulary_size(int side) const { return side_[side].size; }
  const std::string& vocabulary_hash(int side) const { return side_[side].hash; }
  const std::string& checksum() const { return checksum_; }  // of the content, XXH3
  const std::string& path() const { return file_.path(); }
  const CacheReport& report() const { return report_; }
  int max_length() const { return max_length_; }  // the option it was built with

  int length(int64_t pair, int side) const;  // tokens, no <eos>
  int64_t line(int64_t pair) const;          // number of the line in the text, from 1
  // Whether the pair goes on the document of the pair before it.
  bool continues(int64_t pair) const;
  int32_t id(int64_t pair, int side, int place) const;    // one of its ids
  void copy(int64_t pair, int side, int32_t* out) const;  // length() ids
  std::vector<int> ids(int64_t pair, int side) const;
  bool has_links() const { return links_ >= 0; }
  std::vector<WordLink> links(int64_t pair) const;  // by target word, then by source word

 private:
  struct Side {
    int64_t tokens = 0;
    int longest = 0, size = 0;
    std::string hash;
  };
  void read_description();
  void verify() const;
  void verify_pair(int64_t pair, std::vector<Side>& found) const;
  const char* entry(int64_t pair) const;
  int64_t id_bytes(int64_t pair) const;  // of all sides
  int64_t link_count(int64_t pair) const;
  int32_t id_at(const char* at) const;
  [[noreturn]] void damaged(const std::string& what) const;

  MappedFile file_;
  std::vector<Side> side_;
  int64_t pairs_ = 0, index_ = 0, end_ = 0;  // end_: where the description begins
  int64_t links_ = -1;                       // of all pairs; -1: the cache is without
  int width_ = 4, max_length_ = 0;
  std::string checksum_;
  CacheReport report_;
};

}  // namespace tx
