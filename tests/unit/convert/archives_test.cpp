// Zip archives, and what torch.save() and numpy.savez write into them.
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/convert/families/family.h"
#include "lib/convert/formats/pickle.h"
#include "lib/convert/formats/tensors.h"
#include "lib/convert/formats/zip.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

void contains(const std::string& message, const std::string& text) {
  BOOST_TEST(message.find(text) != std::string::npos, message << " lacks " << text);
}

std::vector<float> values_of(const ForeignTensors& tensors, const std::string& name,
                             const std::vector<int64_t>& shape) {
  const WeightRows rows = tensors.rows(name, shape);
  std::vector<float> values(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, values.data());
  return values;
}

void zip_refused(const std::string& text, const std::string& bytes) {
  contains(message_of<DataError>([&] {
             const ZipArchive zip(bytes, "F");
             std::string unpacked;
             for (const auto& e : zip.entries()) zip.content(e, unpacked);
           }),
           text);
}

// "aaaaaaaaaa" by deflate with the fixed code: an 'a', then 9 bytes from a distance of 1.
const std::string ten_a("\x4B\x84\x03\x00", 4);

void torch_refused(const std::string& text, const std::string& bytes) {
  const TempFolder folder;
  const std::string path = folder.file("F", bytes);
  contains(message_of<DataError>([&] { read_torch_file(path); }), text);
}

std::string pickled(const std::string& program) {
  return zip_bytes({{"m/data.pkl", "\x80\x02" + program}});
}

const std::vector<float> one_to_four = {1, 2, 3, 4};

constexpr const char* two_by_two = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";

void npy_refused(const std::string& text, const std::string& header, const std::string& data = "") {
  contains(message_of<DataError>(
               [&] { ForeignTensors("F").add("a", parse_npy(npy_bytes(header, data), "F")); }),
           text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(entries_stored_and_deflated) {
  const std::string bytes =
      zip_bytes({{"a", "plain"}, {"b", std::string(10, 'a'), ten_a}, {"c", ""}}, 7);
  const ZipArchive zip(bytes, "F");
  BOOST_TEST(zip.entries().size() == 3u);
  std::string unpacked;
  BOOST_TEST(zip.content(*zip.find("a"), unpacked) == "plain");
  BOOST_TEST(zip.content(*zip.find("b"), unpacked) == "aaaaaaaaaa");
  BOOST_TEST(zip.content(*zip.find("c"), unpacked) == "");
  BOOST_TEST(zip.find("d") == nullptr);
}

// The sizes are in the extra field, and the zip64 record has the place of the central directory.
BOOST_AUTO_TEST_CASE(zip64) {
  const std::string data = "12345",
                    common = little(0, 2) + little(0, 2) + little(0, 4) + little(crc32_of(data), 4);
  const std::string entry = "PK\x03\x04" + little(45, 2) + common + little(5, 4) + little(5, 4) +
                            little(1, 2) + little(0, 2) + "n" + data;
  const std::string extra = little(9, 2) + little(1, 2) + "x" + little(1, 2) + little(24, 2) +
                            little(5, 8) + little(5, 8) + little(0, 8);
  const std::string full = little(0xFFFFFFFF, 4);
  const std::string list = "PK\x01\x02" + little(45, 2) + little(45, 2) + common + full + full +
                           little(1, 2) + little(extra.size(), 2) + little(0, 10) + full + "n" +
                           extra;
  const std::string end64 = "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) +
                            little(0, 8) + little(1, 8) + little(1, 8) + little(list.size(), 8) +
                            little(entry.size(), 8);
  const std::string bytes = entry + list + end64 + "PK\x06\x07" + little(0, 4) +
                            little(entry.size() + list.size(), 8) + little(1, 4) + "PK\x05\x06" +
                            little(0, 4) + little(0xFFFF, 2) + little(0xFFFF, 2) + full + full +
                            little(0, 2);
  const ZipArchive zip(bytes, "F");
  std::string unpacked;
  BOOST_TEST(zip.content(*zip.find("n"), unpacked) == data);
  zip_refused("zip64 record is not where it should be",
              std::string(bytes).replace(bytes.find("PK\x06\x06"), 4, "PKxx"));
}

BOOST_AUTO_TEST_CASE(archives_that_are_refused) {
  const std::string good = zip_bytes({{"a", "plain"}});
  zip_refused("it has only 4 bytes", "PK\x03\x04");
  zip_refused("its central directory is missing", good.substr(0, good.size() - 1));
  zip_refused("duplicate entry", zip_bytes({{"a", "1"}, {"a", "2"}}));
  std::string changed = good;
  changed[changed.find("plain")] ^= 1;
  zip_refused("\"a\" has a wrong checksum", changed);
  // torch.serialization.set_crc32_options(False) leaves the checksums out.
  const std::string crc = little(crc32_of("plain"), 4);
  for (size_t at; (at = changed.find(crc)) != changed.npos;) changed.replace(at, 4, little(0, 4));
  std::string unpacked;
  BOOST_TEST(ZipArchive(changed, "F").content({ZipArchive(changed, "F").entries()[0]}, unpacked) ==
             "qlain");
  zip_refused("\"a\" has contradictory sizes", zip_bytes({{"a", "plain", "", 6}}));
  zip_refused("cannot be decompressed", zip_bytes({{"a", std::string(11, 'a'), ten_a}}));
  zip_refused("cannot be decompressed", zip_bytes({{"a", std::string(9, 'a'), ten_a}}));
  const size_t list = good.find("PK\x01\x02");
  const auto with = [&](size_t at, const std::string& number) {
    return std::string(good).replace(list + at, number.size(), number);
  };
  zip_refused("is encrypted", with(8, little(1, 2)));
  zip_refused("compression method 14", with(10, little(14, 2)));
  zip_refused("lies outside", with(42, little(good.size(), 4)));
  zip_refused("lies outside", with(20, little(1000, 4) + little(1000, 4)));
  zip_refused("its central directory is truncated", with(28, little(60000, 2)));
  zip_refused("has no local header", with(42, little(1, 4)));
}

// Refused: a compression ratio that weights never have, and entries that share their bytes.
BOOST_AUTO_TEST_CASE(bombs) {
  zip_refused("would expand from 4 to 1073741824 bytes", zip_bytes({{"a", "", ten_a, 1u << 30}}));
  std::vector<ZipEntry> many;
  for (const char* name : {"a", "b", "c"}) many.push_back({name, "", ten_a, 10u << 20});
  zip_refused("it would expand from 12 to 31457280 bytes", zip_bytes(many));
  std::string two = zip_bytes({{"a", "plain"}, {"b", "plain"}});
  const size_t second = two.rfind("PK\x01\x02");
  two.replace(second + 42, 4, little(0, 4));
  zip_refused("its entries overlap", two);
}

BOOST_AUTO_TEST_CASE(an_archive) {
  const TempFolder folder;
  const TorchFile file = read_torch_file(folder.file("F", torch_archive()));
  BOOST_TEST(values_of(file.tensors, "w", {2, 2}) == one_to_four);
  const WeightRows rows = file.tensors.rows("w", {2, 2});
  float last[2];
  rows.read(1, 1, last);
  BOOST_TEST(last[0] == 3);
}

BOOST_AUTO_TEST_CASE(strides) {
  const TempFolder folder;
  const TorchFile file = read_torch_file(folder.file("F", torch_archive(tensor_pickle(1))));
  BOOST_TEST(values_of(file.tensors, "w", {2, 2}) == (std::vector<float>{1, 2, 2, 3}));
  torch_refused("\"w\" of shape [2, 2] needs more than the 4 elements of its data",
                torch_archive(tensor_pickle(3)));
}

// As torch.save wrote files before version 1.6.
BOOST_AUTO_TEST_CASE(pickles_one_behind_another) {
  const std::string magic = std::string("\x8A\x0A") + "\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.";
  const std::string machine = "}(X" + little(13, 4) + "little_endian\x88u.";
  const std::string bytes = "\x80\x02" + magic + "\x80\x02M\xE9\x03." + "\x80\x02" + machine +
                            tensor_pickle() + "\x80\x02]X" + little(1, 4) + "0a." + little(5, 8) +
                            float_bytes({9, 1, 2, 3, 4});
  const TempFolder folder;
  const TorchFile file = read_torch_file(folder.file("F", bytes));
  BOOST_TEST(values_of(file.tensors, "w", {2, 2}) == one_to_four);
  torch_refused("is truncated", bytes.substr(0, bytes.size() - 1));
}

// A pickle may name any Python function to be called. The reader never calls one.
BOOST_AUTO_TEST_CASE(code_is_refused_by_name) {
  torch_refused("refers to \"os.system\", which tensors do not need",
                pickled("cos\nsystem\n(X" + little(2, 4) + "lstR."));
  torch_refused("refers to \"builtins.eval\"", pickled("\x8C\x08"
                                                       "builtins\x8C\x04"
                                                       "eval\x93."));
  torch_refused("opcode 0x69", pickled("(ios\nsystem\n."));  // INST
  torch_refused("opcode 0x82", pickled("\x82\x01."));        // EXT1
  torch_refused("refers to \"os.system\"",
                pickled("}(X" + little(1, 4) + "wcos\nsystem\n)R" + "X" + little(1, 4) + "vNu."));
  torch_refused("with unexpected arguments", pickled("ctorch\nFloatStorage\n)R."));
  torch_refused("with unexpected arguments", pickled("ccollections\nOrderedDict\n(K\x01tR."));
}

// Values of unknown classes beside the tensors are skipped: a call, an object with a state, a class
// derived from dict with items, a set, a storage of an unknown type.
BOOST_AUTO_TEST_CASE(values_of_unknown_classes) {
  const auto text = [](const std::string& t) { return "X" + little(t.size(), 4) + t; };
  const std::string tensor = tensor_pickle().substr(2, tensor_pickle().size() - 3);
  const std::string others = text("a") + "cnumpy\nfloat64\n(K\x01tR" + text("b") +
                             "cm\nMeter\n)\x81}(" + text("n") + "K\x02ub" + text("c") +
                             "cm\nDict\n)R(" + text("k") + "K\x03u" + text("d") + "\x8F(K\x01\x90" +
                             text("e") + "(K\x01\x91" + text("f") + "(" + text("storage") +
                             "ctorch\nComplexFloatStorage\n" + text("7") + text("cpu") + "K\x01tQ" +
                             text("g") + "cm\nDict\n)}\x92";
  const TempFolder folder;
  const TorchFile file = read_torch_file(
      folder.file("F", torch_archive("\x80\x02}(" + text("model") + tensor + others + "u.")));
  BOOST_TEST(values_of(file.tensors, "w", {2, 2}) == one_to_four);
  BOOST_TEST(file.content->value().find("b")->text == "m.Meter");
}

// A state that two objects share belongs to both.
BOOST_AUTO_TEST_CASE(a_state_that_is_used_twice) {
  const std::string key = "X" + little(1, 4) + "k", make = "cargparse\nNamespace\n)R";
  std::string bytes = "](" + make + "}(" + key +
                      "K\x05uq\x01"
                      "b" +
                      make +
                      "h\x01"
                      "bh\x01" +
                      "e.";
  std::string_view rest = bytes;
  const Pickle pickle(rest, "F");
  for (const PickleValue* item : pickle.value().items) BOOST_TEST(item->find("k")->integer == 5);
  // But not to very many.
  bytes = "](" + make + "}(";
  for (int i = 0; i < 1000; ++i) bytes += key + "N";
  bytes +=
      "uq\x01"
      "b";
  for (int i = 0; i < 1000; ++i) bytes += make + "h\x01" + "b";
  rest = bytes += "e.";
  BOOST_TEST(message_of<DataError>([&] { Pickle(rest, "F"); }) ==
             "F: its pickle repeats its states too often");
  bytes = "](" + std::string(Pickle::max_values, 'N') + "e.";
  rest = bytes;
  BOOST_TEST(message_of<DataError>([&] { Pickle(rest, "F"); }) ==
             "F: its pickle has more than 2097152 values");
}

BOOST_AUTO_TEST_CASE(broken_pickles) {
  torch_refused("its pickle is truncated", pickled("}"));
  torch_refused("pops an empty stack", pickled("u."));
  torch_refused("pops an empty stack", pickled("(0."));
  torch_refused("reads an undefined memo entry", pickled("h\x05."));
  torch_refused("leaves more than one value on the stack", pickled("NN."));
  torch_refused("a key without a value", pickled("}(Nu."));
  torch_refused("has no dict of tensors", pickled("N."));
  torch_refused("the data of \"w\" is missing", pickled(tensor_pickle().substr(2)));
  torch_refused("data.pkl", zip_bytes({{"a", "b"}}));
  torch_refused("is empty", "");
  torch_refused("neither a zip archive nor a pickle", "text");
}

BOOST_AUTO_TEST_CASE(an_archive_of_arrays) {
  const TempFolder folder;
  const std::string data = float_bytes({1, 2, 3, 4});
  const std::string columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n";
  for (const auto& [header, wanted] :
       {std::pair{std::string(two_by_two), std::vector<float>{1, 2, 3, 4}},
        {columns, {1, 3, 2, 4}}}) {
    const std::string path = folder.file("F", zip_bytes({{"a.npy", npy_bytes(header, data)}}));
    const ForeignTensors tensors = read_npz(path);
    BOOST_TEST(values_of(tensors, "a", {2, 2}) == wanted);
  }
}

BOOST_AUTO_TEST_CASE(types_of_elements) {
  ForeignTensors tensors("F");
  const std::string half = little(0x3C00, 2) + little(0xC000, 2) + little(0x0001, 2);
  const std::string bytes =
      npy_bytes("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", half);
  tensors.add("a", parse_npy(bytes, "F"));
  BOOST_TEST(values_of(tensors, "a", {3}) == (std::vector<float>{1, -2, 0x1p-24f}));
  BOOST_TEST(from_half(0x7C00) == std::numeric_limits<float>::infinity());
  BOOST_TEST(from_half(0x7BFF) == 65504.0f);
  npy_refused("dtype \"|O\"", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }");
  npy_refused("dtype \">f4\"", "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }");
  npy_refused("structured dtypes",
              "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }");
}

BOOST_AUTO_TEST_CASE(arrays_that_are_refused) {
  npy_refused("needs more than the 3 elements of its data", two_by_two, float_bytes({1, 2, 3}));
  npy_refused("invalid shape",
              "{'descr': '<f4', 'fortran_order': False, 'shape': "
              "(999999999999999, 999999999999999), }");
  npy_refused("malformed", "{'descr': '<f4', 'shape': (1,), }");
  npy_refused("malformed", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}");
  npy_refused("malformed", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }");
  npy_refused("malformed", "");
  BOOST_TEST(message_of<DataError>([] { parse_npy("\x93NUMPY\x01", "F"); }) ==
             "F is not a NumPy array, or is truncated");
}

BOOST_AUTO_TEST_CASE(shapes_that_are_asked_for) {
  ForeignTensors tensors("F");
  const std::string data = float_bytes({1, 2});
  tensors.add("a", {"F32", {1, 2}, {}, data});
  BOOST_TEST(values_of(tensors, "a", {2}) == (std::vector<float>{1, 2}));
  BOOST_TEST(values_of(tensors, "a", {1, 2}) == (std::vector<float>{1, 2}));
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("a", {3}); }) ==
             "F: a has shape [1, 2], but the configuration requires [3]");
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("b", {3}); }) == "F has no tensor b");
  tensors.add("i", {"I32", {2}, {}, data});
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("i", {2}); }).find("is I32") != 0u);
}

// fairseq writes its settings as "args", or since 0.10.1 as "model" and "task" of "cfg".
BOOST_AUTO_TEST_CASE(settings_of_fairseq) {
  const std::string golden = TX_SOURCE_DIR "/tests/golden/fairseq";
  const std::string bytes = bytes_of(golden + "/checkpoint_best.pt");
  const ZipArchive zip(bytes, "F");
  const auto text = [](const std::string& t) { return "X" + little(t.size(), 4) + t; };
  const auto imported = [&](const std::string& settings) {
    const TempFolder folder;
    for (const char* name : {"/dict.en.txt", "/dict.de.txt"})
      std::filesystem::copy(golden + name, folder.path());
    std::vector<ZipEntry> entries;
    std::string unpacked;
    for (const auto& e : zip.entries()) {
      std::string content(zip.content(e, unpacked));
      if (e.name.ends_with("data.pkl")) {
        // {"args": ARGS, "cfg": None, ...
        const size_t begin = content.find("cargparse"), end = content.find(text("cfg"));
        const std::string args = content.substr(begin, end - begin);
        const size_t after = content.find("N" + text("model"), end) + 1;
        content =
            content.substr(0, content.find(text("args"))) +
            (settings == "cfg" ? text("cfg") + "}" + text("model") + args + "s" + text("task") +
                                     "}" + text("source_lang") + text("xx") + "ss"
                               : settings) +
            content.substr(after);
      }
      entries.push_back({e.name, content});
    }
    folder.file("checkpoint_best.pt", zip_bytes(entries));
    return import_fairseq(folder.path()).content.config.to_json();
  };
  BOOST_TEST(imported("cfg") == import_fairseq(golden).content.config.to_json());
  const std::string opaque = "comegaconf\nDictConfig\n)\x81";
  for (const std::string key : {"args", "cfg"})
    contains(message_of<DataError>([&] { imported(text(key) + opaque); }),
             "its settings are an object of \"omegaconf.DictConfig\", which is not read");
  contains(message_of<DataError>([&] { imported(text("x") + "N"); }),
           "is not a fairseq checkpoint: it has neither args nor cfg");
}
