#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"

namespace tx {

namespace {

constexpr size_t chunk = 1 << 16;  // bytes per read; also the capacity of a Linux pipe

// A longer "line" is not text but a disk image or a decompression bomb.
constexpr size_t max_line_bytes = size_t(1) << 28;

// What a text begins with.
enum class FirstBytes {
  too_few,  // more bytes are needed
  plain,
  mark,  // the byte order mark of UTF-8, U+FEFF: three bytes that are not part of the text
};

using namespace std::string_view_literals;

struct Signature {
  std::string_view magic;  // of markup: in lower case
  const char* what;
  const char* command;  // that converts it to text, or unpacks an archive; null: there is none
};

// Prints the segments of WMT's test sets before 2021.
constexpr char sgml_to_text[] =
    R"(awk -v RS='</[sS][eE][gG]>' 'sub(/.*<[sS][eE][gG][^>]*>/, "") {$1 = $1; print}')";
// Prints the segments in elements IN.
#define TX_XML_TO_TEXT(IN)                                                                 \
  "awk -v RS='<' -v IN=" IN                                                                \
  R"( '$0 ~ "^" IN {on = 1} /^\/(src|ref|hyp|tuv)/ {on = 0} on && sub(/^seg[^>]*>/, "") )" \
  R"({$1 = $1; gsub(/&lt;/, "<"); gsub(/&gt;/, ">"); gsub(/&quot;/, "\""); )"              \
  R"(gsub(/&amp;/, "\\&"); print}')"
constexpr char sgml[] = "is a test set in SGML", mteval[] = "is a test set in XML",
               xml[] =
                   "is XML with <seg> elements (the command prints those in <src>; for others "
                   "change IN to ref, hyp, 'ref.*translator=\"A\"' or, for TMX, 'tuv.*\"de\"')";
constexpr char mteval_to_text[] = TX_XML_TO_TEXT("''"), xml_to_text[] = TX_XML_TO_TEXT("src");

// A signature precedes its prefixes; none has a '\n' before its last byte, so no line is delayed.
constexpr Signature signatures[] = {
    {"\xEF\xBB\xBF"sv, "", nullptr},
    {"\xFD\x37zXZ\0"sv, "is compressed with xz", "xz -dc"},
    {"\x28\xB5\x2F\xFD"sv, "is compressed with zstd", "zstd -dc"},
    {"\x04\x22\x4D\x18"sv, "is compressed with lz4", "lz4 -dc"},
    {"\x1F\x9D"sv, "is compressed with compress", "gzip -dc"},
    {"BZh1\x31\x41\x59\x26\x53\x59"sv, "is compressed with bzip2", "bzip2 -dc"},
    {"PK\x03\x04"sv, "is a zip archive", "unzip"},
    {"7z\xBC\xAF\x27\x1C"sv, "is a 7z archive", "7z x"},
    {"\xFF\xFE\0\0"sv, "is text in UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\0\0\xFE\xFF"sv, "is text in UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\xFF\xFE"sv, "is text in UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF"sv, "is text in UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {"<srcset "sv, sgml, sgml_to_text},
    {"<refset "sv, sgml, sgml_to_text},
    {"<tstset "sv, sgml, sgml_to_text},
    {"<seg id="sv, sgml, sgml_to_text},
    {"<mteval>"sv, mteval, mteval_to_text},
    {"<!doctype mteval "sv, mteval, mteval_to_text},
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

// What a signature cannot tell, from the beginning of a text, as much as has been read. Null: text.
// What comes through a pipe may be lines of a service, so there the first bytes must be markup.
const Signature* kind_of_beginning(std::string_view text, bool regular) {
  static constexpr Signature tar{"", "is a tar archive", "tar -xf"},
      of_sgml{"", sgml, sgml_to_text}, of_mteval{"", mteval, mteval_to_text},
      of_xml{"", xml, xml_to_text}, weights{"", "is a safetensors file, not text", nullptr},
      model{"", "is a SentencePiece model, not text", nullptr};
  if (regular) {
    if (text.size() > 262 && text.substr(257, 5) == "ustar") return &tar;
    if (text.size() > 9 && text.substr(4, 6) == "\0\0\0\0{\""sv) return &weights;
    // The first piece: the lengths of the message and of its text, the text, the tag of the score.
    const size_t bytes =
        text.size() > 4 && text[0] == '\n' && text[2] == '\n' ? uint8_t(text[3]) : 0;
    if (bytes > 0 && uint8_t(text[1]) > bytes && text.substr(0, bytes + 5).ends_with('\x15'))
      return &model;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  if (!text.starts_with('<')) return nullptr;
  const std::string low = lower_case(text);
  const auto has = [&](const char* tag) { return low.find(tag) != low.npos; };
  const auto starts = [&](auto... tags) { return (low.starts_with(tags) || ...); };
  if (!has("<seg>") && !has("<seg ")) return nullptr;
  if (!starts("<?xml ", "<!", "<mteval", "<dataset", "<collection", "<tmx", "<doc", "<srcset",
              "<refset", "<tstset"))
    return nullptr;
  if (has("<src ") || has("<ref ") || has("<hyp ") || has("<tmx ")) return &of_xml;
  return starts("<?xml ") || has("<mteval") ? &of_mteval : &of_sgml;
}

// The fourth byte of a bzip2 file is its level, 1 to 9.
bool begins_like(const Signature& form, std::string_view bytes) {
  if (form.magic.starts_with('<')) return form.magic.starts_with(lower_case(bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool level = i == 3 && form.magic.starts_with("BZh");
    if (level ? bytes[i] < '1' || bytes[i] > '9' : bytes[i] != form.magic[i]) return false;
  }
  return true;
}

std::string advice(const Signature& form, const std::string& name) {
  if (form.command == nullptr) return "";
  const std::string command = form.command, what = form.what;
  if (what.ends_with("archive")) return ": unpack it with " + command + " first";
  if (name == "standard input") return ": send it through " + command + " first";
  const std::string whole = command + " " + shell_word(name);
  if (command.starts_with("awk")) return ": write its text to a file: " + whole + " > TEXT";
  return ": write its text to a file (" + whole + " > TEXT) or pipe it in (" + whole + " | ...)";
}

[[noreturn]] void refuse(const Signature& form, const std::string& name) {
  throw DataError(name + " " + form.what + advice(form, name));
}

// `begin`: the first bytes of the file; whole: all. DataError for what is not plain text.
FirstBytes look_at_first_bytes(std::string_view begin, bool whole, bool regular,
                               const std::string& name) {
  for (const Signature& form : signatures) {
    const size_t seen = std::min(begin.size(), form.magic.size());
    if (!begins_like(form, begin.substr(0, seen))) continue;
    if (seen < form.magic.size()) {
      if (whole) continue;
      return FirstBytes::too_few;
    }
    if (form.command != nullptr) refuse(form, name);
    begin.remove_prefix(seen);
    if (const Signature* found = kind_of_beginning(begin, regular)) refuse(*found, name);
    return FirstBytes::mark;
  }
  if (const Signature* found = kind_of_beginning(begin, regular)) refuse(*found, name);
  return FirstBytes::plain;
}

}  // namespace

struct LineReader::State {
  enum class Compression { unknown, plain, gzip };
  int fd = -1;
  std::string name;
  Compression form = Compression::unknown;
  std::string raw;                // compressed bytes (or the first two, until the form is known)
  size_t raw_used = 0;            // of raw
  bool inflate_more = false;      // the last inflate() filled its output: it may hold more
  bool in_member = false;         // inside a gzip member
  bool raw_end = false;           // read() returned 0
  bool end = false;               // no byte will be added to text
  std::string text;               // bytes not yet handed out begin at `start`
  size_t start = 0, scanned = 0;  // text[start, scanned) holds no '\n'
  int64_t lines = 0;
  bool begun = false, mark = false;  // the first bytes are known; they were a byte order mark
  bool regular = false;              // not a pipe or a device
  bool fifo = false;  // may be opened before its writer: read() would return 0, poll() waits
  z_stream z{};
  bool z_ready = false;

  ~State() {
    if (z_ready) inflateEnd(&z);
    if (fd > 0) ::close(fd);
  }

  // Appends one read() to `to`; waits if the descriptor is non-blocking.
  void read_some(std::string& to) {
    const size_t before = to.size();
    to.resize(before + chunk);
    ssize_t got;
    if (fifo) wait_for_input();
    while ((got = ::read(fd, to.data() + before, chunk)) < 0) {
      if (errno == EAGAIN) {
        wait_for_input();
      } else if (errno != EINTR) {
        const int number = errno;
        to.resize(before);
        throw IoError("read", name, number);
      }
    }
    to.resize(before + size_t(got));
    raw_end = got == 0;
  }

  void wait_for_input() const {
    pollfd p{fd, POLLIN, 0};
    while (::poll(&p, 1, -1) < 0 && errno == EINTR) {
    }
  }

  // Whether refill() would return without waiting for the writer.
  bool has_input(int wait_ms) const {
    if (inflate_more || raw_end || (form == Compression::gzip && raw_used < raw.size()))
      return true;
    pollfd p{fd, POLLIN, 0};
    return ::poll(&p, 1, wait_ms) != 0;  // an error counts too: read() will report it
  }

  // One step of input: adds bytes to text, or detects compression, or sets `end`.
  void refill() {
    if (start > 0 && start >= text.size() / 2) {
      text.erase(0, start);
      scanned -= start;
      start = 0;
    }
    if (text.size() - start > max_line_bytes)
      throw DataError(name + ":" + std::to_string(lines + 1) + ": the line is longer than " +
                      std::to_string(max_line_bytes >> 20) + " MiB; is this a text file?");
    if (form == Compression::plain) {
      read_some(text);
      end = raw_end;
    } else if (form == Compression::unknown) {
      read_some(raw);
      learn_form();
    } else {
      refill_gzip();
    }
    if (!begun && form != Compression::unknown) begin_text();
  }

  // Looks for a signature at the beginning of the plain or decompressed text.
  void begin_text() {
    const FirstBytes first = look_at_first_bytes(text, end, regular, name);
    begun = first != FirstBytes::too_few;
    mark = first == FirstBytes::mark;
    if (mark) start = scanned = 3;
  }

  void learn_form() {
    const bool could_be = raw.empty() || raw[0] == '\x1f';
    if (could_be && raw.size() < 2 && !raw_end) return;
    if (raw.size() >= 2 && could_be && raw[1] == '\x8b') {
      form = Compression::gzip;
      return;
    }
    form = Compression::plain;
    text.swap(raw);
    raw = std::string();
    end = raw_end;
  }

  void refill_gzip() {
    if (raw_used == raw.size() && !inflate_more && !raw_end) {
      raw.clear();
      raw_used = 0;
      read_some(raw);
    }
    if (raw_used == raw.size() && !inflate_more) {
      if (raw_end && in_member)
        throw DataError(name + ": the gzip data ends early (line " + std::to_string(lines + 1) +
                        "): the file is truncated; fetch or compress it again");
      end = raw_end;
      return;
    }
    if (!in_member) begin_member();
    if (in_member) inflate_some();
  }

  // gzip files may consist of several members, and may end in zero bytes (tapes, tar).
  void begin_member() {
    while (raw_used < raw.size() && raw[raw_used] == '\0' && z_ready) ++raw_used;
    if (raw_used == raw.size()) return;
    if (raw[raw_used] != '\x1f')
      throw DataError(name + ": trailing bytes after the gzip data; is the file damaged?");
    const int gzip_window = 16 + MAX_WBITS;
    const int status = z_ready ? inflateReset2(&z, gzip_window) : inflateInit2(&z, gzip_window);
    if (status != Z_OK) throw Error(name + ": zlib could not start");
    z_ready = in_member = true;
  }

  void inflate_some() {
    const size_t before = text.size();
    text.resize(before + 4 * chunk);
    z.next_in = reinterpret_cast<Bytef*>(raw.data() + raw_used);
    z.avail_in = uInt(raw.size() - raw_used);
    z.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    z.avail_out = uInt(4 * chunk);
    const int status = inflate(&z, Z_NO_FLUSH);
    raw_used = raw.size() - z.avail_in;
    text.erase(text.size() - z.avail_out);
    inflate_more = status == Z_OK && z.avail_out == 0;
    if (status == Z_STREAM_END) {
      in_member = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw DataError(name + ": damaged gzip data (" + (z.msg ? z.msg : "unknown kind") +
                      "); fetch or compress the file again");
    }
  }

  // Position of the next '\n' in text, or npos.
  size_t find_newline() {
    const char* begin = text.data();
    const void* hit = std::memchr(begin + scanned, '\n', text.size() - scanned);
    scanned = hit ? size_t(static_cast<const char*>(hit) - begin) : text.size();
    return hit ? scanned : std::string::npos;
  }
};

LineReader::LineReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->name = path == "-" ? "standard input" : path;
  state_->fd = path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (state_->fd < 0) throw IoError("read", path, errno);
  struct stat info {};
  if (::fstat(state_->fd, &info) == 0 && S_ISDIR(info.st_mode))
    throw IoError("read", state_->name, EISDIR);
  state_->regular = S_ISREG(info.st_mode);
  if (path == "-") return;
  state_->fifo = S_ISFIFO(info.st_mode);
  if (!state_->fifo) ::fcntl(state_->fd, F_SETFL, 0);  // clears O_NONBLOCK: reads wait as usual
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;

bool LineReader::next(std::string& line) {
  State& s = *state_;
  size_t newline;
  while ((newline = s.find_newline()) == std::string::npos && !s.end) s.refill();
  if (newline == std::string::npos) {
    if (s.start == s.text.size()) return false;
    newline = s.text.size();
  }
  line.assign(s.text, s.start, newline - s.start);
  s.start = s.scanned = std::min(newline + 1, s.text.size());
  ++s.lines;
  return true;
}

bool LineReader::ready(int wait_ms) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(wait_ms);
  State& s = *state_;
  while (s.find_newline() == std::string::npos && !s.end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (!s.has_input(int(std::max<int64_t>(0, left)))) return false;
    s.refill();
  }
  return true;
}

bool LineReader::ended() const { return state_->end && state_->start == state_->text.size(); }
bool LineReader::began_with_mark() const { return state_->mark; }
int64_t LineReader::line_number() const { return state_->lines; }
const std::string& LineReader::name() const { return state_->name; }

}  // namespace tx
