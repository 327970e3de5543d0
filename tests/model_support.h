// For tests of the model: a packed batch in the backend's memory, weights by a fixed formula, and
// one training step.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/philox.h"
#include "lib/model/transformer.h"

#ifndef TX_TEST_DEVICE
#define TX_TEST_DEVICE "cpu"
#endif

namespace tx_test {

// The device that the test is built for; f64, the reference, always runs on the CPU.
inline tx::Backend backend_for(tx::DType dtype, int threads) {
  const char* const device = dtype == tx::DType::f64 ? "cpu" : TX_TEST_DEVICE;
  return tx::make_backend(tx::value_of_name<tx::Device>(device), threads);
}
inline bool on_gpu() { return std::string(TX_TEST_DEVICE) == "cuda"; }

constexpr uint32_t dummy = 0xFFFFFFFF;  // the pair of a sentence that only fills a batch

struct Sentence {
  uint32_t pair = 0;
  std::vector<int32_t> source, target, labels;  // target: what the decoder reads
};

// Weights in the CPU's memory as a file gives them.
struct Fp32Source : tx::WeightSource {
  explicit Fp32Source(const tx::Parameters& of) : parameters(of) {}
  tx::WeightRows rows(const tx::ParameterEntry& e) const override {
    const tx::Matrix m = parameters.fp32_weights(e);
    return {e.padded_rows, e.cols, [m](int64_t first, int64_t count, float* to) {
              for (int64_t i = first; i < first + count; ++i)
                for (int64_t j = 0; j < m.cols; ++j)
                  *to++ = i < m.rows ? m.row<const float>(i)[j] : 0.0f;
            }};
  }
  tx::Int8Weights int8(std::span<const tx::ParameterEntry>) const override { return {}; }
  const tx::Parameters& parameters;
};

// A batch in the backend's memory: source and target, or the target as its only side.
class PackedBatch {
 public:
  PackedBatch(tx::Backend& backend, const std::vector<Sentence>& sentences, size_t count = 2)
      : source_(backend), target_(backend), label_ids_(backend) {
    std::vector<int32_t> all;
    for (const Sentence& s : sentences) {
      all.insert(all.end(), s.labels.begin(), s.labels.end());
      labels += s.pair == dummy ? 0 : int64_t(s.labels.size());
    }
    if (count > 1) sides.push_back(upload(source_, sentences, &Sentence::source));
    sides.push_back(upload(target_, sentences, &Sentence::target));
    label_ids = label_ids_.set<int32_t>(all);
  }

  std::vector<tx::PackedSide> sides;
  const int32_t* label_ids = nullptr;
  int64_t labels = 0;

 private:
  static tx::PackedSide upload(tx::DeviceSide& to, const std::vector<Sentence>& sentences,
                               std::vector<int32_t> Sentence::*which) {
    std::vector<int32_t> ids, offsets{0};
    std::vector<uint32_t> pair, position;
    for (const Sentence& s : sentences) {
      for (int32_t id : s.*which) {
        position.push_back(uint32_t(ids.size()) - uint32_t(offsets.back()));
        pair.push_back(s.pair);
        ids.push_back(id);
      }
      offsets.push_back(int32_t(ids.size()));
    }
    return to.upload({ids, offsets, pair, position});
  }

  tx::DeviceSide source_, target_;
  tx::DeviceInts label_ids_;
};

// A step record in the backend's memory.
class Record {
 public:
  explicit Record(tx::Backend& backend) : backend_(backend) {
    data = static_cast<tx::StepRecord*>(backend_->allocate(sizeof *data));
    set({});
  }
  ~Record() { backend_->release(data); }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  void set(const tx::StepRecord& record) { backend_->upload(data, &record, sizeof record); }
  tx::StepRecord get() const {
    tx::StepRecord record;
    backend_->download(&record, data, sizeof record);
    return record;
  }

  tx::StepRecord* data = nullptr;

 private:
  tx::Backend& backend_;
};

// A contiguous matrix of any floating-point dtype on the host, in double.
inline std::vector<double> to_host(tx::Backend& backend, tx::Matrix m) {
  TX_ASSERT(m.stride == m.cols);
  std::vector<double> values(size_t(m.rows * m.cols));
  std::vector<float> narrow(m.dtype == tx::DType::f64 ? 0 : values.size());
  if (m.dtype == tx::DType::f64) {
    backend->download(values.data(), m.data, values.size() * 8);
    return values;
  }
  void* copy = backend->allocate(narrow.size() * 4);
  backend->convert(m, tx::matrix(copy, tx::DType::f32, m.rows, m.cols));
  backend->download(narrow.data(), copy, narrow.size() * 4);
  backend->release(copy);
  values.assign(narrow.begin(), narrow.end());
  return values;
}

// Writes host values to a contiguous f32 or f64 matrix.
inline void to_device(tx::Backend& backend, const std::vector<double>& values, tx::Matrix m) {
  TX_ASSERT(m.stride == m.cols && size_t(m.rows * m.cols) == values.size());
  const std::vector<float> narrow(values.begin(), values.end());
  if (m.dtype == tx::DType::f64)
    backend->upload(m.data, values.data(), values.size() * 8);
  else
    backend->upload(m.data, narrow.data(), narrow.size() * 4);
}

// make_model.py's value(): `count` numbers of [-1, 1), determined by a name and a stream.
inline std::vector<double> value(const std::string& name, uint32_t stream, size_t count) {
  uint32_t hash = 0x811C9DC5;
  for (unsigned char byte : name) hash = (hash ^ byte) * 0x01000193;
  std::vector<double> x;
  for (uint32_t block = 0; x.size() < count; ++block)
    for (uint32_t word : tx::Philox::block(hash, 1, block, stream, 0, 0).word)
      x.push_back(double(word) / 2147483648.0 - 1);
  x.resize(count);
  return x;
}

// make_model.py's weights().
inline void fill_weights(tx::Backend& backend, tx::Parameters& parameters) {
  using Init = tx::ParameterEntry::Init;
  for (const tx::ParameterEntry& e : parameters.table()) {
    std::vector<double> x = value(e.name, 0, size_t(e.rows * e.cols));
    const double scale = e.vector                    ? 0.25
                         : e.init == Init::embedding ? std::sqrt(3.0 / double(e.cols))
                                                     : std::sqrt(6.0 / double(e.rows + e.cols));
    for (double& v : x) v = v * scale + (e.init == Init::ones ? 1 : 0);
    to_device(backend, x, parameters.fp32_weights(e));
  }
  parameters.refresh_bf16_weights();
}

// Forward, loss and backward of a batch; adds to the record and to the parameters' gradients.
inline void forward_backward(tx::Context& context, const tx::Transformer& model,
                             const PackedBatch& batch, const tx::DropoutRates& masks,
                             double smoothing, tx::StepRecord* record) {
  context.recording = true;
  cross_entropy(context, model.forward(context, batch.sides, masks), batch.label_ids,
                model.config().target().vocabulary, smoothing, record);
  context.backward();
}

// The peak number of bytes that f(context) takes from an arena.
template <class F>
size_t peak_of(tx::Backend& backend, tx::DType dtype, F&& f) {
  tx::Arena counting;
  tx::Context context(backend, counting, dtype);
  f(context);
  return counting.peak();
}

}  // namespace tx_test
