#include "lib/convert/formats/torch_file.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

std::vector<float> values_of(const ForeignTensors& tensors, const std::string& name,
                             const std::vector<int64_t>& shape) {
  const WeightRows rows = tensors.rows(name, shape);
  std::vector<float> values(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, values.data());
  return values;
}

std::string message(const std::string& bytes) {
  const TempFolder folder;
  const std::string path = folder.file("F", bytes);
  return message_of<DataError>([&] { read_torch_file(path); });
}

void expect(const std::string& text, const std::string& bytes) {
  BOOST_TEST(message(bytes).find(text) != std::string::npos, message(bytes) << " lacks " << text);
}

std::string pickled(const std::string& program) {
  return zip_bytes({{"m/data.pkl", "\x80\x02" + program}});
}

const std::vector<float> one_to_four = {1, 2, 3, 4};

}  // namespace

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
  expect("\"w\" of shape [2, 2] reaches beyond its 4 elements", torch_archive(tensor_pickle(3)));
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
  expect("is cut off", bytes.substr(0, bytes.size() - 1));
}

// A pickle may name any function of Python and have it called. None is.
BOOST_AUTO_TEST_CASE(code_is_refused_by_name) {
  expect("asks for \"os.system\", which is not part of a tensor",
         pickled("cos\nsystem\n(X" + little(4, 4) + "lstR."));
  expect("asks for \"builtins.eval\"", pickled("\x8C\x08"
                                               "builtins\x8C\x04"
                                               "eval\x93."));
  expect("instruction 0x69", pickled("(ios\nsystem\n."));  // INST
  expect("instruction 0x82", pickled("\x82\x01."));        // EXT1
  expect("in a way that is not known", pickled("ctorch\nFloatStorage\n)R."));
  expect("in a way that is not known", pickled("ccollections\nOrderedDict\n(K\x01tR."));
}

BOOST_AUTO_TEST_CASE(broken_pickles) {
  expect("its pickle is cut off", pickled("}"));
  expect("takes more values than it has", pickled("u."));
  expect("takes more values than it has", pickled("(0."));
  expect("takes a value that it never made", pickled("h\x05."));
  expect("ends with more than one value", pickled("NN."));
  expect("a key without a value", pickled("}(Nu."));
  expect("holds no dict of tensors", pickled("N."));
  expect("the data of w is missing", pickled(tensor_pickle().substr(2)));
  expect("data.pkl", zip_bytes({{"a", "b"}}));
  expect("is empty", "");
  expect("neither a zip archive nor a pickle", "text");
}
