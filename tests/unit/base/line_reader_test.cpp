#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;
using tx_test::TempFolder;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.push_back(line);
    BOOST_REQUIRE(reader.line_number() == int64_t(lines.size()));
  }
  return lines;
}

std::string gzip(const std::string& text) {
  z_stream z{};
  BOOST_REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = uInt(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = uInt(out.size());
  BOOST_REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

std::string numbered(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

// A pipe that a LineReader opens by name; the test writes to its other end.
struct Pipe {
  int fd[2];
  Pipe() { BOOST_REQUIRE(pipe(fd) == 0); }
  ~Pipe() {
    close(fd[0]);
    end();
  }
  std::string path() const { return "/dev/fd/" + std::to_string(fd[0]); }
  void put(const std::string& bytes) const {
    BOOST_REQUIRE(write(fd[1], bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  }
  void end() {
    if (fd[1] >= 0) close(fd[1]);
    fd[1] = -1;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(only_newline_splits) {
  const TempFolder folder;
  const std::string odd(
      "a\r\nb\0c\nd\xE2\x80\xA8"
      "e\n\n\x0b\x0c\xC2\x85\n",
      19);
  const std::vector<std::string> expected = {"a\r", std::string("b\0c", 3),
                                             "d\xE2\x80\xA8"
                                             "e",
                                             "", "\x0b\x0c\xC2\x85"};
  BOOST_TEST(lines_of(folder.file("f", odd)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(last_line_without_newline_counts) {
  const TempFolder folder;
  LineReader open_end(folder.file("open", "a\nb")), closed(folder.file("closed", "a\nb\n"));
  for (LineReader* reader : {&open_end, &closed}) {
    std::string line;
    BOOST_TEST(reader->next(line));
    BOOST_TEST(reader->next(line));
    BOOST_TEST(line == "b");
    BOOST_TEST(!reader->next(line));
    BOOST_TEST(!reader->next(line));  // and stays at the end
  }
  BOOST_TEST(lines_of(folder.file("empty", "")).empty());
}

BOOST_AUTO_TEST_CASE(long_lines_in_linear_time) {
  const TempFolder folder;
  const std::string line(20'000'000, 'x');
  const auto lines = lines_of(folder.file("long", "first\n" + line + "\nlast"));
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST((lines[1] == line));
  BOOST_TEST(lines[2] == "last");
}

BOOST_AUTO_TEST_CASE(gzip_members_one_behind_another) {
  const TempFolder folder;
  const std::string text = numbered(1, 50000);
  const auto plain = lines_of(folder.file("plain", text));
  BOOST_TEST(plain.size() == 50000u);
  const size_t half = text.size() / 2;  // in the middle of a line
  const std::string two = gzip(text.substr(0, half)) + gzip(text.substr(half));
  BOOST_TEST(lines_of(folder.file("two.gz", two)) == plain);
  BOOST_TEST(lines_of(folder.file("zeros.gz", two + std::string(5000, '\0'))) == plain);
  BOOST_TEST(lines_of(folder.file("empty.gz", gzip("") + gzip("a"))).size() == 1u);
  // Far more text than bytes: 64 KiB of input give 64 MB.
  const std::string dense = std::string(64 << 20, 'x') + "\n" + std::string(99999, '\n');
  BOOST_TEST(lines_of(folder.file("dense.gz", gzip(dense))).size() == 100000u);
}

BOOST_AUTO_TEST_CASE(damaged_gzip_is_refused) {
  const TempFolder folder;
  const std::string good = gzip(numbered(1, 20000));
  const auto message = [&](const std::string& bytes) {
    const std::string path = folder.file("bad.gz", bytes);
    return message_of<DataError>([&] { lines_of(path); });
  };
  for (const size_t cut : {size_t(2), size_t(11), good.size() / 2, good.size() - 1}) {
    BOOST_TEST(message(good.substr(0, cut)).find("ends early") != std::string::npos);
  }
  std::string flipped = good;
  flipped[flipped.size() / 2] ^= 0x10;
  BOOST_TEST(message(flipped).find("damaged gzip") != std::string::npos);
  std::string wrong_sum = good;
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  BOOST_TEST(message(wrong_sum).find("damaged gzip") != std::string::npos);
  BOOST_TEST(message(good + "tail").find("trailing bytes after the gzip data") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(first_byte_of_gzip_alone_is_text) {
  const TempFolder folder;
  BOOST_TEST(lines_of(folder.file("one", "\x1f")) == std::vector<std::string>{"\x1f"});
  BOOST_TEST(lines_of(folder.file("two", "\x1fy\n")) == std::vector<std::string>{"\x1fy"});
}

BOOST_AUTO_TEST_CASE(ready_tells_whether_next_would_wait) {
  Pipe pipe;
  LineReader reader(pipe.path());
  std::string line;
  BOOST_TEST(!reader.ready());
  pipe.put("one\ntw");
  BOOST_TEST(reader.ready());
  BOOST_TEST(reader.next(line));
  BOOST_TEST(line == "one");
  BOOST_TEST(!reader.ready());  // the line is incomplete
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(!reader.ready(50));
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(49)));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    pipe.put("o\n");
  });
  BOOST_TEST(reader.ready(10000));
  later.join();
  BOOST_TEST(reader.next(line));
  BOOST_TEST(line == "two");
  pipe.put("rest");
  pipe.end();
  BOOST_TEST(reader.ready());  // the end of the input completes the line
  BOOST_TEST(reader.next(line));
  BOOST_TEST(line == "rest");
  BOOST_TEST(reader.ready());
  BOOST_TEST(!reader.next(line));
}

BOOST_AUTO_TEST_CASE(gzip_from_a_pipe_byte_by_byte) {
  Pipe pipe;
  const std::string text = numbered(1, 300), bytes = gzip(text);
  std::thread writer([&] {
    for (const char c : bytes) pipe.put(std::string(1, c));
    pipe.end();
  });
  const auto lines = lines_of(pipe.path());
  writer.join();
  BOOST_TEST(lines.size() == 300u);
  BOOST_TEST(lines.back() == "line 300");
}

// A sparse file needs no disk space, but its "line" would need memory.
BOOST_AUTO_TEST_CASE(a_line_of_hundreds_of_megabytes_is_refused) {
  const TempFolder folder;
  const std::string path = folder.file("image", "one\n");
  std::filesystem::resize_file(path, std::uintmax_t(400) << 20);
  LineReader reader(path);
  std::string line;
  BOOST_TEST(reader.next(line));
  BOOST_TEST(message_of<DataError>([&] { reader.next(line); }) ==
             path + ":2: the line is longer than 256 MiB; is this a text file?");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_refused) {
  const TempFolder folder;
  BOOST_TEST(message_of<IoError>([&] { LineReader reader(folder.path()); }) ==
             "cannot read " + folder.path() + ": Is a directory");
  BOOST_TEST(message_of<IoError>([&] { LineReader reader(folder / "none"); }) ==
             "cannot read " + (folder / "none") + ": No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_left_out) {
  const TempFolder folder;
  const std::string text = "\uFEFFone\n\uFEFFtwo\n";
  const std::vector<std::string> expected = {"one", "\uFEFFtwo"};
  BOOST_TEST(lines_of(folder.file("f", text)) == expected, boost::test_tools::per_element());
  BOOST_TEST(lines_of(folder.file("f.gz", gzip(text))) == expected,
             boost::test_tools::per_element());
  BOOST_TEST(lines_of(folder.file("mark", "\uFEFF")).empty());
  BOOST_TEST(lines_of(folder.file("half", "\xEF\xBB")) == std::vector<std::string>{"\xEF\xBB"});
  Pipe pipe;
  LineReader reader(pipe.path());
  pipe.put("\xEF\xBB");
  BOOST_TEST(!reader.ready());
  pipe.put("\xBF\n");
  std::string line = "not yet";
  BOOST_TEST(reader.next(line));
  BOOST_TEST(line == "");
  BOOST_TEST(reader.began_with_mark());
}

BOOST_AUTO_TEST_CASE(text_in_another_form_is_named) {
  const TempFolder folder;
  const auto message = [&](const std::string& bytes) {
    const std::string path = folder.file("f", bytes);
    return message_of<DataError>([&] { lines_of(path); });
  };
  const auto expect = [&](const std::string& bytes, const std::string& what,
                          const std::string& command) {
    const std::string path = folder / "f", whole = command + " " + path;
    BOOST_TEST(message(bytes) == path + " " + what + ": write its text to a file (" + whole +
                                     " > TEXT) or pipe it in (" + whole + " | ...)");
    BOOST_TEST(message(gzip(bytes)) == message(bytes));
  };
  expect(std::string("\xFD\x37zXZ\0\0", 7), "is compressed with xz", "xz -dc");
  expect("\x28\xB5\x2F\xFD rest", "is compressed with zstd", "zstd -dc");
  expect("BZh91AY&SY", "is compressed with bzip2", "bzip2 -dc");
  expect(std::string("\xFF\xFE\n\0", 4), "is text in UTF-16", "iconv -f UTF-16 -t UTF-8");
  expect("\xFE\xFF", "is text in UTF-16", "iconv -f UTF-16 -t UTF-8");
  expect("\xFF\xFE", "is text in UTF-16", "iconv -f UTF-16 -t UTF-8");
  expect(std::string("\xFF\xFE\0\0", 4), "is text in UTF-32", "iconv -f UTF-32 -t UTF-8");
  expect("\x1F\x9D rest", "is compressed with compress", "gzip -dc");
  expect("\x04\x22\x4D\x18 rest", "is compressed with lz4", "lz4 -dc");
  const auto refused = [&](const std::string& bytes, const std::string& what) {
    BOOST_TEST(message(bytes) == (folder / "f") + " is " + what);
  };
  refused("PK\x03\x04 rest", "a zip archive: unpack it with unzip first");
  refused("7z\xBC\xAF\x27\x1C rest", "a 7z archive: unpack it with 7z x first");
  const std::string tar = "name" + std::string(253, '\0') + "ustar" + std::string(250, '\0');
  refused(tar, "a tar archive: unpack it with tar -xf first");
  BOOST_TEST(message(gzip(tar)) == message(tar));
  refused(std::string("\x40\0\0\0\0\0\0\0{\"a\"", 12), "a safetensors file, not text");
  refused(std::string("\n\x0E\n\x05<pad>\x15\0\0\0\0\x18\x03", 16),
          "a SentencePiece model, not text");
  // Text with a similar beginning is text.
  for (const std::string line :
       {"PK", "7z", "<doc id=\"1\">", "<?xml version=\"1.0\"?>", "<segment",
        "<p><seg id=", "BZh9 is a level", "BZh01AY&SY", "\xFD", "(\xB5/", "B"})
    BOOST_TEST(lines_of(folder.file("f", line + "\n")) == std::vector<std::string>{line});
}
