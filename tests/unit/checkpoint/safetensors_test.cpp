#include "lib/checkpoint/safetensors.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/bytes.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

std::string read_message(const std::string& bytes) {
  const TempFolder folder;
  const std::string path = folder.file("x", bytes);
  const std::string text = message_of<DataError>([&] { SafetensorsReader file(path); });
  return text.starts_with(path) ? text.substr(path.size()) : text;
}

std::string header_message(const std::string& header, const std::string& data = "") {
  return read_message(safetensors_bytes(header, data));
}

// Two floats, then three bytes.
std::vector<TensorSource> two_tensors() {
  static constexpr float values[] = {1.5f, -2.0f};
  return {byte_tensor("text", "abc"), {"weights", "F32", {2, 1}, [](const ByteSink& sink) {
                                         sink(values, 4);
                                         sink(values + 1, 4);
                                       }}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const TempFolder folder;
  const std::string hash = write_safetensors(folder / "x", two_tensors(), {{"k", "\xC3\xA4\"\n"}});
  const SafetensorsReader file(folder / "x");
  BOOST_TEST(*file.metadata("k") == "\xC3\xA4\"\n");
  BOOST_TEST(*file.metadata("xxh3") == hash);
  BOOST_TEST(file.metadata("j") == nullptr);
  BOOST_TEST(file.verified_hash() == hash);
  BOOST_REQUIRE_EQUAL(file.tensors().size(), 2u);
  const TensorInfo& weights = file.tensors()[0];  // larger elements first: all are aligned
  BOOST_TEST(weights.name == "weights");
  BOOST_TEST(weights.dtype == "F32");
  BOOST_TEST(shape_text(weights.shape) == "[2, 1]");
  BOOST_TEST(weights.elements() == 2);
  float values[2];
  std::memcpy(values, file.data(weights), 8);
  BOOST_TEST(values[0] == 1.5f);
  BOOST_TEST(values[1] == -2.0f);
  const TensorInfo* text = file.find("text");
  BOOST_REQUIRE(text != nullptr);
  BOOST_TEST(std::string(file.data(*text), 3) == "abc");
  BOOST_TEST(file.find("other") == nullptr);
}

BOOST_AUTO_TEST_CASE(bytes_are_those_of_the_page) {
  const TempFolder folder;
  write_safetensors(folder / "x", two_tensors(), {{"k", "v"}});
  const std::string bytes = bytes_of(folder / "x");
  const std::string header = R"({"__metadata__":{"k":"v","xxh3":"09e49ad6e68f6e8d"},)"
                             R"("weights":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("text":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
  const std::string data(
      "\0\0\xC0\x3F\0\0\0\xC0"
      "abc",
      11);
  BOOST_TEST(replaced(header, "09e49ad6e68f6e8d", xxh3_hex(data.data(), 11)) +
                 std::string(header_of(bytes).size() - header.size(), ' ') ==
             header_of(bytes));
  BOOST_TEST((bytes.size() - data.size()) % 64 == 0u);
  BOOST_TEST(bytes.ends_with(data));
}

// Written by Python: safetensors 0.8.0, save({"a": arange(3, dtype=int16), "b": float64(2.5),
// "empty": zeros((0, 4), uint8), "c": ones((1, 1), bool)}, {"tool": "python"}).
BOOST_AUTO_TEST_CASE(a_file_of_python_is_read) {
  const TempFolder folder;
  const std::string header =
      R"({"__metadata__":{"tool":"python"},"b":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"I16","shape":[3],"data_offsets":[8,14]},)"
      R"("empty":{"dtype":"U8","shape":[0,4],"data_offsets":[14,14]},)"
      R"("c":{"dtype":"BOOL","shape":[1,1],"data_offsets":[14,15]}}      )";
  const std::string data("\0\0\0\0\0\0\x04@\0\0\x01\0\x02\0\x01", 15);
  const SafetensorsReader file(folder.file("x", safetensors_bytes(header, data)));
  BOOST_TEST(*file.metadata("tool") == "python");
  BOOST_TEST(file.find("b")->elements() == 1);
  BOOST_TEST(file.find("empty")->elements() == 0);
  BOOST_TEST(file.find("a")->elements() == 3);
  BOOST_TEST(file.data(*file.find("c"))[0] == 1);
  BOOST_TEST(file.verified_hash() == xxh3_hex(data.data(), data.size()));
}

BOOST_AUTO_TEST_CASE(what_is_no_safetensors_file_is_said) {
  const TempFolder folder;
  BOOST_TEST(message_of<IoError>([&] { SafetensorsReader file(folder / "none"); }) ==
             "cannot read " + folder / "none" + ": No such file or directory");
  BOOST_TEST(message_of<IoError>([&] { SafetensorsReader file(folder.path()); }) ==
             "cannot read " + folder.path() + ": Is a directory");
  BOOST_TEST(read_message("") == " is empty; expected a safetensors file");
  BOOST_TEST(read_message("short").starts_with(" is not a safetensors file (it has only 5 bytes)"));
  const std::string foreign = " is not a safetensors file (it does not begin with a header)";
  BOOST_TEST(read_message("any text of more than eight bytes").starts_with(foreign));
  BOOST_TEST(read_message(std::string(100, '\xFF')).starts_with(foreign));
  BOOST_TEST(read_message(std::string(100, '\0')).starts_with(foreign));
}

BOOST_AUTO_TEST_CASE(lengths_are_checked_before_use) {
  const std::string terabyte("\0\0\0\0\0\1\0\0{}", 10), header("\x80\xF0\xFA\2\0\0\0\0{}", 10);
  BOOST_TEST(read_message(terabyte).starts_with(" is not a safetensors file"));
  BOOST_TEST(read_message(header).starts_with(
      " is truncated: its header should have 50000000 bytes but has 2; copy it again"));
  const std::string big = R"({"a":{"dtype":"F32","shape":[1048576,1048576],"data_offsets":[0,)";
  BOOST_TEST(
      header_message(big + "4398046511104]}}", "four")
          .starts_with(" is truncated: its data should have 4398046511104 bytes but has 4;"));
  BOOST_TEST(header_message(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "abc")
                 .find("1 bytes follow its last tensor") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_malformed_header_is_refused) {
  const std::string good = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  BOOST_TEST(header_message(good, "ab") == "");
  BOOST_TEST(header_message(R"({"a":{"data_offsets":[0,2],"shape":[2],"dtype":"U8"}})", "ab") ==
             "");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"U8", "U7"},
           {"\"U8\"", "8"},
           {"[2]", "[3]"},
           {"[2]", "2"},
           {"[2]", "[-2]"},
           {"[2]", "[2.0]"},
           {"[2]", "[\"2\"]"},
           {"[2]", "[[2]]"},
           {"[2]", "[null]"},
           {"[2]", "[true]"},
           {"[2]", "{}"},
           {"[2]", "[4294967296,4294967296,2]"},
           {"[2]", "[18446744073709551615]"},
           {"[2]", "[2,9223372036854775807]"},
           {"[2]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]"},
           {"[0,2]", "[2,0]"},
           {"[0,2]", "[2]"},
           {"[0,2]", "[0,2,2]"},
           {"[0,2]", "[]"},
           {"[0,2]", "[1,3]"},
           {"[0,2]", "[0,-1]"},
           {"[0,2]", "[9223372036854775806,9223372036854775808]"},
           {"[0,2]", "\"0,2\""},
           {"\"dtype\":\"U8\",", ""},
           {"\"shape\":[2],", ""},
           {",\"data_offsets\":[0,2]", ""},
           {"\"shape\"", "\"other\""},
           {"\"shape\"", "\"dtype\""},
           {"]}}", "],\"more\":1}}"},
           {"{\"dtype", "[{\"dtype"},
           {"]}}", "]}"},
           {"]}}", "]}}}"},
           {"]}}", "]}}{}"},
           {"]}}", "]},}"},
           {"\"a\"", "\"a\xFF\""},
           {"\"a\":", ""},
           {"\"a\":", "\"__metadata__\":"},
           {"{\"a\"", "{\"__metadata__\":{\"k\":1},\"a\""},
           {"{\"a\"", "{\"__metadata__\":{\"k\":{}},\"a\""},
           {"{\"a\"", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"},\"a\""},
           {"{\"a\"", "{\"__metadata__\":{},\"__metadata__\":{},\"a\""},
           {"{\"a\"", "{\"__metadata__\":[],\"a\""},
           {"{\"a\"", "{\"b\":null,\"a\""}}) {
    const std::string text = header_message(replaced(good, from, to), "ab");
    BOOST_TEST(text.starts_with(" is damaged or not a safetensors file: "),
               to << " gives: " << text);
  }
}

BOOST_AUTO_TEST_CASE(tensors_may_not_overlap_leave_gaps_or_repeat) {
  const auto pair = [](const std::string& names, const std::string& second) {
    return "{\"" + names.substr(0, 1) + R"(":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},")" +
           names.substr(1) + R"(":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  BOOST_TEST(header_message(pair("ab", "[2,4]"), "abcd") == "");
  const std::string where = " is damaged or not a safetensors file: ";
  for (const char* offsets : {"[1,3]", "[0,2]", "[3,5]"})
    BOOST_TEST(header_message(pair("ab", offsets), "abcde")
                   .starts_with(where + "its tensors overlap or leave a gap"));
  BOOST_TEST(header_message(pair("aa", "[2,4]"), "abcd").starts_with(where + "it repeats \"a\""));
  BOOST_TEST(header_message(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "abc")
                 .starts_with(where + "its tensors overlap or leave a gap"));
}

BOOST_AUTO_TEST_CASE(deep_nesting_and_many_names_are_cheap) {
  BOOST_TEST(header_message("{" + std::string(1000000, '[')) != "");
  std::string deep = "{";
  for (int i = 0; i < 100000; ++i) deep += "\"a\":{";
  BOOST_TEST(header_message(deep) != "");
  std::string many = "{";
  for (int i = 0; i < 100000; ++i)
    many += "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  many.back() = '}';
  BOOST_TEST(header_message(many) == "");
}

// After a change of any byte: an error that names the file, or a file that is consistent.
BOOST_AUTO_TEST_CASE(no_flipped_or_missing_byte_leads_outside) {
  const TempFolder folder;
  write_safetensors(folder / "x", two_tensors(), {{"k", "v"}});
  const std::string good = bytes_of(folder / "x");
  const auto survives = [&](const std::string& bytes) {
    const std::string path = folder.file("y", bytes);
    try {
      const SafetensorsReader file(path);
      int64_t sum = 0;
      for (const TensorInfo& t : file.tensors()) {
        BOOST_REQUIRE(file.data(t) + t.bytes() <= file.data(file.tensors()[0]) + file.data_bytes());
        sum += t.bytes();
      }
      BOOST_TEST(sum == file.data_bytes());
      file.verified_hash();
    } catch (const DataError& e) {
      BOOST_TEST(std::string(e.what()).starts_with(path));
      return false;
    }
    return true;
  };
  BOOST_TEST(survives(good));
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[i] = char(bytes[i] ^ (1 << bit));
      const bool ok = survives(bytes);
      if (i >= good.size() - 11) BOOST_TEST(!ok, "a changed byte of data is not noticed");
    }
  for (size_t size = 0; size < good.size(); ++size) BOOST_TEST(!survives(good.substr(0, size)));
}

BOOST_AUTO_TEST_CASE(changed_data_is_noticed) {
  const TempFolder folder;
  write_safetensors(folder / "x", two_tensors(), {});
  std::string bytes = bytes_of(folder / "x");
  bytes.back() = 'd';
  const SafetensorsReader file(folder.file("y", bytes));
  BOOST_TEST(
      message_of<DataError>([&] {
        file.verified_hash();
      }).starts_with(folder / "y" + " is damaged: its data does not match the stored checksum"));
}

BOOST_AUTO_TEST_CASE(a_failed_write_leaves_the_old_file) {
  const TempFolder folder;
  folder.file("x", "old");
  auto tensors = two_tensors();
  tensors[1].produce = [](const ByteSink& sink) {
    sink("1234", 4);
    throw DataError("source failed");
  };
  BOOST_CHECK_THROW(write_safetensors(folder / "x", tensors, {}), DataError);
  tensors[1].produce = [](const ByteSink& sink) { sink("1234", 4); };  // instead of 8 bytes
  BOOST_CHECK_THROW(write_safetensors(folder / "x", tensors, {}), Bug);
  int calls = 0;
  tensors[1].produce = [&](const ByteSink& sink) {
    sink(++calls == 1 ? "12345678" : "12345679", 8);
  };
  BOOST_CHECK_THROW(write_safetensors(folder / "x", tensors, {}), DataError);
  BOOST_TEST(bytes_of(folder / "x") == "old");
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_spooled_file_is_read) {
  TempFolder folder;
  SafetensorsSpool spool(folder / "file", {{"format", "test"}});
  spool.add("1.a", "F32", {2}, std::string("12345678"));
  spool.add("1.\"b", "U8", {0, 3}, "");
  spool.add("2.a", "F16", {1, 2}, "abcd");
  BOOST_TEST(!std::filesystem::exists(folder / "file"));
  spool.close();
  const SafetensorsReader file(folder / "file");
  BOOST_REQUIRE(file.tensors().size() == 3u);
  BOOST_TEST(*file.metadata("format") == "test");
  BOOST_TEST(file.verified_hash() == *file.metadata("xxh3"));
  const TensorInfo* last = file.find("2.a");
  BOOST_REQUIRE(last);
  BOOST_TEST(shape_text(last->shape) == "[1, 2]");
  BOOST_TEST(std::string(file.data(*last), 4) == "abcd");
  BOOST_TEST(file.find("1.\"b")->bytes() == 0);
  BOOST_TEST(reinterpret_cast<uintptr_t>(file.data(*file.find("1.a"))) % 64 == 0u);
}

BOOST_AUTO_TEST_CASE(a_spool_of_no_tensor) {
  TempFolder folder;
  SafetensorsSpool(folder / "file", {}).close();
  BOOST_TEST(SafetensorsReader(folder / "file").tensors().empty());
}

BOOST_AUTO_TEST_CASE(a_spool_leaves_no_temporary_file) {
  TempFolder folder;
  {
    SafetensorsSpool spool(folder / "file", {});
    spool.add("a", "U8", {1}, "x");
    BOOST_TEST(folder.entries() == 2);
  }
  BOOST_TEST(folder.entries() == 0);
  SafetensorsSpool(folder / "file", {}).close();
  BOOST_TEST(folder.entries() == 1);
  BOOST_CHECK_THROW(SafetensorsSpool(folder / "none/file", {}), IoError);
}

BOOST_AUTO_TEST_CASE(a_spool_refuses_a_header_that_is_too_long) {
  TempFolder folder;
  SafetensorsSpool spool(folder / "file", {});
  const std::string name(1'000'000, 'n');
  const auto message = message_of<DataError>([&] {
    for (int i = 0; i < 101; ++i) spool.add(std::to_string(i) + name, "U8", {0}, "");
  });
  BOOST_TEST(message.find("the header exceeds 100000000 bytes") != message.npos);
}
