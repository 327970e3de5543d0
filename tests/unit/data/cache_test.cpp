#include "lib/data/cache.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/philox.h"
#include "lib/data/cache_format.h"
#include "lib/subword/words.h"
#include "tests/support.h"

using namespace tx;

namespace {

struct Fixture {
  std::string file(const std::string& name, const std::string& content) const {
    return folder.file(name, content);
  }
  void refuses_every_changed_byte() const {
    const std::string bytes = read_file(cache);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = char(changed[i] ^ 0x11);
      write_atomically(cache, changed);
      BOOST_TEST_INFO("byte " << i);
      BOOST_CHECK_THROW(IdCache{cache}, DataError);
    }
  }
  CacheReport build(const std::string& source, const std::string& target,
                    const CacheOptions& options = {}) const {
    return build_cache(
        cache, {{{file("s", source)}, words.get()}, {{file("t", target)}, words.get()}}, options);
  }
  // The message of the DataError that f() must throw, without the folder.
  template <class F>
  std::string message(F&& f) const {
    std::string text = tx_test::message_of<DataError>(f);
    for (size_t at; (at = text.find(folder / "")) != text.npos;) {
      text.erase(at, (folder / "").size());
    }
    return text;
  }

  // The message about the cache after this change of its description, with its checksum.
  std::string changed(const std::string& from, const std::string& to) const {
    const std::string good = read_file(cache);
    const size_t trailer = good.size() - size_t(cache_format::trailer_bytes);
    const size_t begin = good.rfind("{\"version\"", trailer);
    std::string text = good.substr(begin, trailer - begin);
    const size_t at = text.find(from);
    BOOST_REQUIRE(at != text.npos);
    text.replace(at, from.size(), to);
    std::string length(8, '\0');
    for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(text.size()) >> (8 * i));
    const std::string other =
        file("changed", good.substr(0, begin) + text + xxh3_hex(text.data(), text.size()) + length +
                            std::string(cache_format::magic));
    return message([&] { describe_dropped(IdCache(other).report(), 9); });
  }

  tx_test::TempFolder folder;
  std::string cache = folder / "cache";
  std::unique_ptr<Vocabulary> words =
      parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\nb\nc\n", "words");
};

std::vector<int> ids(std::initializer_list<int> list) { return list; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cache_file, Fixture)

BOOST_AUTO_TEST_CASE(pairs_come_back) {
  const CacheReport report = build("a b\nc\n", "c c c\nb a");
  BOOST_TEST(report.lines == 2);
  BOOST_TEST(report.pairs == 2);
  BOOST_TEST(report.warnings.empty());
  const IdCache open(cache);
  BOOST_TEST(open.sides() == 2);
  BOOST_TEST(open.pairs() == 2);
  BOOST_TEST(open.tokens(0) == 3);
  BOOST_TEST(open.tokens(1) == 5);
  BOOST_TEST(open.longest(0) == 2);
  BOOST_TEST(open.longest(1) == 3);
  BOOST_TEST(open.vocabulary_size(1) == 7);
  BOOST_TEST(open.ids(0, 0) == ids({4, 5}), boost::test_tools::per_element());
  BOOST_TEST(open.ids(0, 1) == ids({6, 6, 6}), boost::test_tools::per_element());
  BOOST_TEST(open.ids(1, 0) == ids({6}), boost::test_tools::per_element());
  BOOST_TEST(open.ids(1, 1) == ids({5, 4}), boost::test_tools::per_element());
  BOOST_TEST(open.line(1) == 2);
}

BOOST_AUTO_TEST_CASE(dropped_pairs_are_counted_by_reason) {
  CacheOptions options;
  options.max_length = 2;
  const CacheReport report = build("a\n\na\na b c\n\na\n", "b\nb\n \nc\n\na b\n", options);
  BOOST_TEST(report.lines == 6);
  BOOST_TEST(report.pairs == 2);
  BOOST_TEST(report.empty[0] == 2);
  BOOST_TEST(report.empty[1] == 1);
  BOOST_TEST(report.too_long == 1);
  BOOST_TEST(describe_dropped(report, 2) ==
             "dropped 4 pairs of 6: 2 with an empty source, 1 with an empty target, "
             "1 longer than 2 tokens");
  const IdCache open(cache);
  BOOST_TEST(open.line(1) == 6);
  BOOST_TEST(open.report().empty[0] == 2);
  BOOST_TEST(message([&] { build("\n", "\n"); }) ==
             "s: no pairs are left: dropped 1 pair of 1: 1 with an empty source");
  BOOST_TEST(message([&] { build("", ""); }) == "s: no pairs are left: the file has no lines");
}

BOOST_AUTO_TEST_CASE(different_numbers_of_lines_are_named) {
  BOOST_TEST(message([&] { build("a\na\na\n", "b\n"); }) ==
             "source and target have different numbers of lines: 3 in s, 1 in t; "
             "s:2 is the first line without a counterpart");
  BOOST_TEST(!file_exists(cache));
  const std::string one = file("one", "a\n"), two = file("two", "b\nb\n");
  BOOST_TEST(message([&] {
               build_cache(cache, {{{one}, words.get()}, {{one, two}, words.get()}}, {});
             }) ==
             "source and target have different numbers of lines: 1 in one, 3 in one and other "
             "files; two:1 is the first line without a counterpart");
}

// As many files on both sides belong together one by one, also if the sums agree.
BOOST_AUTO_TEST_CASE(several_files_are_compared_pair_by_pair) {
  const std::string one = file("one", "a\n"), two = file("two", "b\nb\n"), none = file("none", "");
  const auto built = [&](std::vector<std::string> source, std::vector<std::string> target) {
    return message([&] { build_cache(cache, {{source, words.get()}, {target, words.get()}}, {}); });
  };
  const std::string wrong =
      "one has 1 line, two has 2 lines: line 2 of two has no counterpart; "
      "give files with the same number of lines";
  BOOST_TEST(built({one, two}, {two, one}) == wrong);
  BOOST_TEST(built({two, one, one}, {one, two, one}) == wrong);
  BOOST_TEST(built({one, two}, {one, one}) == wrong);
  BOOST_TEST(built({two, one}, {two, two}) == wrong);
  BOOST_TEST(built({one, none}, {one, two}).starts_with("none has 0 lines, two has 2 lines:"));
  BOOST_TEST(built({none, two}, {two, none}).starts_with("none has 0 lines, two has 2 lines:"));
  BOOST_TEST(built({one, two, none}, {one, two, none}) == "");
}

BOOST_AUTO_TEST_CASE(odd_bytes_are_reported_with_their_place) {
  const std::string odd = std::string("a\r\n\xFF\n\xFF\n") + std::string("a\0b", 3) + "\n";
  const CacheReport report = build(odd, "a\na\na\na\n");
  BOOST_REQUIRE(report.warnings.size() == 3u);
  const auto plain = [&](size_t i) { return report.warnings[i].substr((folder / "").size()); };
  BOOST_TEST(plain(0) == "s:2: not valid UTF-8; replaced by U+FFFD (the first of 2 such lines)");
  BOOST_TEST(plain(1) == "s:4: has a NUL byte; is this a text file?");
  BOOST_TEST(
      plain(2) ==
      "s:1: ends with CR LF; the carriage return is kept as text: remove it with tr -d '\\r'");
  CacheOptions strict;
  strict.strict = true;
  BOOST_TEST(
      message([&] { build(odd, "a\na\na\na\n", strict); }).starts_with("s:2: not valid UTF-8"));
}

BOOST_AUTO_TEST_CASE(bytes_do_not_depend_on_threads) {
  PhiloxStream random(1, 1);
  std::string source, target;
  for (int i = 0; i < 20000; ++i) {
    for (uint32_t k = random.next() % 9; k > 0; --k) source += "abcx "[random.next() % 5];
    for (uint32_t k = random.next() % 9; k > 0; --k) target += std::string(1, "abc"[k % 3]) + " ";
    source += '\n';
    target += '\n';
  }
  std::string first;
  for (const int threads : {1, 2, 3, 4, 7}) {
    CacheOptions options;
    options.threads = threads;
    build(source, target, options);
    const std::string bytes = read_file(cache);
    if (first.empty()) first = bytes;
    BOOST_TEST((bytes == first));
  }
  BOOST_TEST(folder.entries() == 3);  // no temporaries
}

BOOST_AUTO_TEST_CASE(a_cut_cache_is_refused) {
  build("a b\nc\n", "c c c\nb a");
  const std::string bytes = read_file(cache);
  for (size_t size = 0; size < bytes.size(); ++size) {
    write_atomically(cache, std::string_view(bytes).substr(0, size));
    BOOST_CHECK_THROW(IdCache{cache}, DataError);
  }
}

BOOST_AUTO_TEST_CASE(every_changed_byte_is_noticed) {
  build("a b\nc\n", "c c c\nb a");
  refuses_every_changed_byte();
}

// With a valid checksum, as an attacker would write it.
BOOST_AUTO_TEST_CASE(a_description_that_lies_is_refused) {
  build("a b\n\nc\n", "c c c\n\nb a");
  const auto lies = [&](const char* from, const char* to, const char* what) {
    BOOST_TEST(changed(from, to).find(what) != std::string::npos, to);
  };
  BOOST_TEST(changed("\"version\":1", "\"version\":1") == "");
  lies("\"longest\":3", "\"longest\":2000000000", "longest");
  lies("\"longest\":3", "\"longest\":2", "lengths");
  lies("\"tokens\":5", "\"tokens\":6", "totals");
  lies("\"pairs\":2", "\"pairs\":9000000000000000000", "pairs");
  lies("\"pairs\":2", "\"pairs\":2.5", "pairs");
  for (const char* empty : {"[]", "[1]", "[0,1,0]", "[-1,2]", "[2,-1]", "[3,0]",
                            "[9223372036854775807,9223372036854775807]"})
    lies("\"dropped_empty\":[1,0]", (std::string("\"dropped_empty\":") + empty).c_str(),
         "dropped_empty");
  lies("\"dropped_empty\":[1,0]", "\"dropped_empty\":[0,0]", "(lines)");
  lies("\"dropped_too_long\":0", "\"dropped_too_long\":9", "dropped_too_long");
  lies("\"lines\":3", "\"lines\":9", "(lines)");
  lies("\"warnings\"", "\"documents\":1,\"words\":0,\"bytes\":0,\"warnings\"", "documents");
}

BOOST_AUTO_TEST_CASE(a_description_of_documents_that_lies_is_refused) {
  CacheOptions options;
  options.context = 8;
  build_cache(cache, {{{file("s", "a b\n\nc\n")}, words.get()}}, options);
  BOOST_TEST(describe_dropped(IdCache(cache).report(), 0) == "left out 1 empty line of 3");
  for (const char* empty : {"[]", "[1,0]", "[4]", "[-1]"})
    BOOST_TEST(changed("\"dropped_empty\":[1]", std::string("\"dropped_empty\":") + empty)
                   .find("dropped_empty") != std::string::npos);
}

// In place, under a cache that is open: neither the old offsets nor the new ids are used.
BOOST_AUTO_TEST_CASE(an_overwritten_cache_is_noticed) {
  build("a b\nc\n", "c c c\nb a");
  const IdCache open(cache);
  open.check_unchanged();
  ::usleep(20'000);  // longer than the clock of file times ticks
  std::fstream(cache, std::ios::in | std::ios::out | std::ios::binary)
      << std::string(size_t(std::filesystem::file_size(cache)), '\xEE');
  for (const auto& use : std::initializer_list<std::function<void()>>{
           [&] { open.check_unchanged(); }, [&] { open.id(0, 0, 0); }, [&] { open.links(1); },
           [&] {
             std::array<int32_t, 2> out;
             open.copy(0, 0, out);
           }})
    BOOST_TEST(message(use).starts_with("cache was overwritten while in use"));
}

// Sorted by target word, then by source word, without duplicates; without those of dropped pairs.
BOOST_AUTO_TEST_CASE(links_come_back) {
  CacheOptions options;
  options.max_length = 3;
  options.links = file("l", "1-0 0p2 0-0 1-0\n\n\n0-0 1-1 2?2 3-0\n0-1\n");
  build("a b\nc\n\na b c a\nb\n", "c c c\nb a\n\na b c\nc a", options);
  const IdCache open(cache);
  BOOST_TEST(open.pairs() == 3);
  BOOST_TEST(open.has_links());
  const auto same = [&](int64_t pair, std::vector<WordLink> want) {
    BOOST_TEST((open.links(pair) == want));
  };
  same(0, {{0, 0}, {1, 0}, {0, 2}});
  same(1, {});
  same(2, {{0, 1}});
  BOOST_TEST(open.ids(2, 1) == ids({6, 4}), boost::test_tools::per_element());
  const std::string with = open.checksum();
  refuses_every_changed_byte();
  options.links = file("l", "1-0 0-2 0-1\n\n\n\n0-1\n");
  build("a b\nc\n\na b c a\nb\n", "c c c\nb a\n\na b c\nc a", options);
  BOOST_TEST(IdCache(cache).checksum() != with);
}

BOOST_AUTO_TEST_CASE(bad_links_are_named) {
  const auto refusal = [&](const std::string& links) {
    CacheOptions options;
    options.links = file("l", links);
    return message([&] { build("a b\nc\n", "c c c\nb a\n", options); });
  };
  BOOST_TEST(refusal("0-0\n0:1\n") ==
             "l:2: '0:1' is not a link; write 0-1 for a sure one, 0?1 or 0p1 for a possible one");
  BOOST_TEST(refusal("1-2 2-0\n\n") == "l:1: link 2-0, but the source has 2 words, counted from 0");
  BOOST_TEST(refusal("\n0-2\n") == "l:2: link 0-2, but the target has 2 words, counted from 0");
  BOOST_TEST(refusal("\n1-0\n") == "l:2: link 1-0, but the source has 1 word, counted from 0");
  BOOST_TEST(message([&] {
               CacheOptions options;
               options.links = file("l", "0-0\n0-0\n");
               build("a\n\n", "a\na\n", options);
             }) == "l:2: link 0-0, but the source has no words");
  BOOST_TEST(refusal("0-0\n") ==
             "text and links have different numbers of lines: 2 in s, 2 in t, 1 in " +
                 (folder / "l").substr((folder / "").size()) +
                 "; s:2 is the first line without a counterpart");
  BOOST_TEST(refusal("\n\n0-0\n").ends_with("l:3 is the first line without a counterpart"));
}

BOOST_AUTO_TEST_CASE(large_vocabularies_take_four_bytes) {
  std::string list = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n", line;
  for (int i = 0; i < 70000; ++i) list += "w" + std::to_string(i) + "\n";
  const auto large = parse_vocabulary(list, "large");
  build_cache(cache, {{{file("s", "w69999 w0\n")}, large.get()}}, {});
  const IdCache open(cache);
  BOOST_TEST(open.sides() == 1);
  BOOST_TEST(open.ids(0, 0) == ids({70003, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
