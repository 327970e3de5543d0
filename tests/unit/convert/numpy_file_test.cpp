#include "lib/convert/formats/numpy_file.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr const char* two_by_two = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";

void expect(const std::string& text, const std::string& header, const std::string& data = "") {
  const std::string message = message_of<DataError>(
      [&] { ForeignTensors("F").add("a", parse_npy(npy_bytes(header, data), "F")); });
  BOOST_TEST(message.find(text) != std::string::npos, message << " lacks " << text);
}

std::vector<float> read(const ForeignTensors& tensors, const std::vector<int64_t>& shape) {
  const WeightRows rows = tensors.rows("a", shape);
  std::vector<float> values(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, values.data());
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_archive_of_arrays) {
  const TempFolder folder;
  const std::string data = float_bytes({1, 2, 3, 4});
  const std::string columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n";
  for (const auto& [header, wanted] :
       {std::pair{std::string(two_by_two), std::vector<float>{1, 2, 3, 4}},
        {columns, {1, 3, 2, 4}}}) {
    const std::string path = folder.file("F", zip_bytes({{"a.npy", npy_bytes(header, data)}}));
    const ForeignTensors tensors = read_npz(path);
    BOOST_TEST(read(tensors, {2, 2}) == wanted);
  }
}

BOOST_AUTO_TEST_CASE(types_of_elements) {
  ForeignTensors tensors("F");
  const std::string half = little(0x3C00, 2) + little(0xC000, 2) + little(0x0001, 2);
  const std::string bytes =
      npy_bytes("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", half);
  tensors.add("a", parse_npy(bytes, "F"));
  BOOST_TEST(read(tensors, {3}) == (std::vector<float>{1, -2, 0x1p-24f}));
  BOOST_TEST(from_half(0x7C00) == std::numeric_limits<float>::infinity());
  BOOST_TEST(from_half(0x7BFF) == 65504.0f);
  expect("of type \"|O\"", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }");
  expect("of type \">f4\"", "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }");
  expect("are records", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }");
}

BOOST_AUTO_TEST_CASE(arrays_that_are_refused) {
  expect("reaches beyond its 3 elements", two_by_two, float_bytes({1, 2, 3}));
  expect("impossible shape",
         "{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(999999999999999, 999999999999999), }");
  expect("malformed", "{'descr': '<f4', 'shape': (1,), }");
  expect("malformed", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}");
  expect("malformed", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }");
  expect("malformed", "");
  BOOST_TEST(message_of<DataError>([] { parse_npy("\x93NUMPY\x01", "F"); }) ==
             "F is no array of numpy, or is cut off");
}

BOOST_AUTO_TEST_CASE(shapes_that_are_asked_for) {
  ForeignTensors tensors("F");
  const std::string data = float_bytes({1, 2});
  tensors.add("a", {"F32", {1, 2}, {}, data});
  BOOST_TEST(read(tensors, {2}) == (std::vector<float>{1, 2}));
  BOOST_TEST(read(tensors, {1, 2}) == (std::vector<float>{1, 2}));
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("a", {3}); }) ==
             "F: a has the shape [1, 2], but its configuration asks for [3]");
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("b", {3}); }) == "F lacks the tensor b");
  tensors.add("i", {"I32", {2}, {}, data});
  BOOST_TEST(message_of<DataError>([&] { tensors.rows("i", {2}); }).find("is I32") != 0u);
}
