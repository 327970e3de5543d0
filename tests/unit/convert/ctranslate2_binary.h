// model.bin of CTranslate2, as tests of both directions read it.
#pragma once
#include <boost/test/unit_test.hpp>

#include "lib/convert/output.h"
#include "tests/unit/checkpoint/samples.h"

namespace tx_test {

using namespace tx;

struct Variable {
  std::vector<uint32_t> shape;
  int type = 0;
  std::string data;
};

// model.bin read as CTranslate2 reads it.
class Binary {
 public:
  explicit Binary(std::string bytes) : bytes_(std::move(bytes)) {
    version = number(4);
    spec = text();
    revision = number(4);
    for (uint64_t n = number(4); n > 0; --n) {
      const std::string name = text();
      Variable v;
      for (uint64_t dims = number(1); dims > 0; --dims) v.shape.push_back(uint32_t(number(4)));
      v.type = int(number(1));
      v.data = take(number(4));
      names.push_back(name);
      variables[name] = v;
    }
    for (uint64_t n = number(4); n > 0; --n) {
      const std::string name = text();
      aliases[name] = text();
    }
    whole = at_ == bytes_.size();
  }
  std::vector<float> floats(const std::string& name) const {
    const std::string& data = variables.at(name).data;
    std::vector<float> values(data.size() / 4);
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }

  uint64_t version = 0, revision = 0;
  std::string spec;
  std::vector<std::string> names;
  std::map<std::string, Variable> variables;
  std::map<std::string, std::string> aliases;
  bool whole = false;

 private:
  std::string take(uint64_t count) {
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  uint64_t number(int width) {
    const std::string b = take(uint64_t(width));
    uint64_t value = 0;
    for (int i = width; i-- > 0;) value = value << 8 | uint8_t(b[size_t(i)]);
    return value;
  }
  std::string text() {
    const std::string all = take(number(2));
    BOOST_TEST(all.back() == '\0');
    return all.substr(0, all.size() - 1);
  }
  std::string bytes_;
  size_t at_ = 0;
};

inline Binary written(const TempFolder& folder, const ModelConfig& config) {
  const SampleModel sample(1, DType::f32, config);
  sample.save(folder / "m");
  OutputDirectory out(folder / "ct2");
  write_ctranslate2(out, ModelReader(folder / "m"), 9);
  out.finish();
  return Binary(bytes_of(folder / "ct2/model.bin"));
}

inline std::vector<float> weights(const ModelReader& model, const std::vector<std::string>& names) {
  std::vector<float> all;
  for (const std::string& name : names) {
    const TensorInfo& t = *model.file().find(name);
    const size_t before = all.size();
    all.resize(before + size_t(t.elements()));
    std::memcpy(all.data() + before, model.file().data(t), size_t(t.bytes()));
  }
  return all;
}

}  // namespace tx_test
