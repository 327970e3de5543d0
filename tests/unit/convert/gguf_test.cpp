// Types of numbers in GGUF files, against the values of the package gguf
// (tests/golden/make_gguf.py).
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/tensors.h"

using namespace tx;

namespace {

std::string types_file() {
  return read_file(std::string(TX_SOURCE_DIR) + "/tests/golden/gguf/types.gguf");
}

std::vector<float> row_of(const GgufFile& file, const std::string& name) {
  std::vector<float> values(256);
  file.tensors.rows(name, {1, 256}).read(0, 1, values.data());
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gguf)

BOOST_AUTO_TEST_CASE(types) {
  const std::string bytes = types_file();
  const GgufFile file = parse_gguf(bytes, "types.gguf");
  BOOST_TEST(file.keys.at("general.architecture") == "llama");
  BOOST_TEST(file.tensors.all().size() == 14u);
  for (const char* name : {"F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K"})
    BOOST_TEST_CONTEXT(name) {
      const std::vector<float> got = row_of(file, name),
                               want = row_of(file, name + std::string(".f32"));
      BOOST_TEST(got == want, boost::test_tools::per_element());
      BOOST_TEST(std::count(got.begin(), got.end(), 0.0f) < 100);
    }
}

// Every cut is refused.
BOOST_AUTO_TEST_CASE(truncated) {
  const std::string bytes = types_file();
  for (size_t size = 0; size < bytes.size(); size += 13)
    BOOST_CHECK_THROW(parse_gguf(std::string_view(bytes).substr(0, size), "x"), DataError);
}

BOOST_AUTO_TEST_CASE(shapes) {
  std::string bytes = types_file();
  const size_t dimension = bytes.find("Q4_0") + 4 + 4;
  for (const auto& [count, why] :
       {std::pair{31, "x: tensor \"Q4_0\" has rows that are not whole blocks of Q4_0"},
        {0, "x is damaged or not a GGUF file: a tensor is empty"}}) {
    bytes[dimension] = char(count), bytes[dimension + 1] = 0;  // of 256
    try {
      parse_gguf(bytes, "x");
      BOOST_ERROR("no error: " << why);
    } catch (const DataError& e) {
      BOOST_TEST(std::string(e.what()) == why);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
