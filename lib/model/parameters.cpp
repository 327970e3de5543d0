#include "lib/model/parameters.h"

#include <algorithm>
#include <cmath>

#include "lib/base/philox.h"

namespace tx {

namespace {

int64_t block_elements(const std::vector<ParameterEntry>& table) {
  int64_t end = 0;
  for (const ParameterEntry& e : table)
    end = std::max(end, e.offset + e.padded_rows * e.padded_cols);
  return (end + 63) / 64 * 64;
}

// The Philox site of a weight's initialisation is this plus the weight's index in the table.
// Dropout inside heads other than the first uses the same sites (site + (head << 16)), but never
// the same counters: their last word is 0x7478 in a PhiloxStream, and feature / 8 in dropout.
constexpr uint32_t initialisation_site = 0x10000;

}  // namespace

Parameters::Parameters(Backend& backend, const ModelConfig& config, DType dtype,
                       const ModelShard& shard)
    : backend_(backend),
      config_(shard_config(config, shard)),
      whole_(config),
      shard_(shard),
      table_(parameter_table(config_, !shard.whole())),
      dtype_(dtype) {
  elements_ = block_elements(table_);
  vectors_from_ = elements_;
  for (size_t i = 0; i < table_.size(); ++i) {
    index_[table_[i].name] = i;
    written_.push_back(std::make_unique<int>(0));
    if (table_[i].vector) vectors_from_ = std::min(vectors_from_, table_[i].offset);
  }
}

Parameters Parameters::for_training(Backend& backend, const ModelConfig& config, DType dtype,
                                    RankOf self, const ModelShard& shard) {
  return {backend, config, dtype, shard, [&](Parameters& p) { p.allocate_blocks(true, self); }};
}

Parameters Parameters::for_planning(Backend& backend, const ModelConfig& config, DType dtype,
                                    RankOf self) {
  return {backend, config, dtype, {}, [&](Parameters& p) {
            p.planned_ = true;
            p.allocate_blocks(true, self);
          }};
}

Parameters Parameters::only_weights(Backend& backend, const ModelConfig& config, DType dtype) {
  return {backend, config, dtype, {}, [](Parameters& p) { p.allocate_blocks(false, {}); }};
}

void Parameters::allocate_blocks(bool training, RankOf self) {
  const DType full = dtype_ == DType::f64 ? DType::f64 : DType::f32;
  self_ = self;
  division_ = Division(elements_, self.ranks);
  fp32_weights_ = allocate(full, elements_);
  if (dtype_ == DType::bf16) bf16_weights_ = allocate(DType::bf16, elements_);
  if (!training) return;
  gradients_ = allocate(full, elements_);
  const int64_t held = division_.held(self.rank);
  optimizer_state_ = {allocate(full, held), allocate(full, held)};
}

Parameters Parameters::for_inference(Backend& backend, const ModelConfig& config, DType weights,
                                     const WeightSource& source) {
  TX_ASSERT(weights == DType::f32 || weights == DType::bf16 || weights == DType::i8);
  const bool int8 = weights == DType::i8;
  return {backend, config, int8 ? DType::f32 : weights, {}, [&](Parameters& p) {
            p.int8_ = int8;
            p.read_only_ = std::make_unique<ReadOnly>();
            p.read_tables(weights, source);
            p.read_vectors(source);
          }};
}

Parameters Parameters::for_saving(Backend& backend, const ModelConfig& config, DType dtype) {
  const DType full = dtype == DType::f64 ? DType::f64 : DType::f32;
  return {backend, config, dtype, {}, [&](Parameters& p) {
            for (Matrix* block :
                 {&p.fp32_weights_, &p.optimizer_state_.first, &p.optimizer_state_.second})
              *block = p.allocate(full, p.elements_);
            p.backend_->wait();  // zeroed before another stream writes to it
          }};
}

void Parameters::take(const Parameters& of, const OptimizerState& whole) {
  TX_ASSERT(whole.first.cols == elements_ && whole.second.cols == elements_);
  const size_t bytes = size_t(elements_) * size_of(fp32_weights_.dtype);
  of.backend_->copy(fp32_weights_.data, of.fp32_weights_.data, bytes);
  of.backend_->copy(optimizer_state_.first.data, whole.first.data, bytes);
  of.backend_->copy(optimizer_state_.second.data, whole.second.data, bytes);
  of.backend_->wait();
}

Matrix Parameters::allocate(DType dtype, int64_t elements) {
  const size_t bytes = size_t(elements) * size_of(dtype);
  constexpr uintptr_t nowhere = 64;  // not null, which means no matrix
  if (planned_) return matrix(reinterpret_cast<void*>(nowhere), dtype, 1, elements);
  void* data = backend_->allocate(bytes);
  backend_->zero(data, bytes);
  return matrix(data, dtype, 1, elements);
}

Parameters::~Parameters() {
  if (planned_) return;
  for (auto& [key, weights] : prepared_) backend_->release_prepared(weights);
  for (const Matrix& block :
       {fp32_weights_, gradients_, optimizer_state_.first, optimizer_state_.second, bf16_weights_})
    backend_->release(block.data);
  if (!read_only_) return;
  backend_->release(read_only_->vectors.data);
  for (auto& [entry, rows] : read_only_->tables) backend_->release(rows.data);
}

size_t Parameters::bytes(const ModelConfig& config, DType dtype, bool training, RankOf self) {
  const size_t full = dtype == DType::f64 ? 8 : 4;
  const size_t each = full * (training ? 2 : 1) + (dtype == DType::bf16 ? 2 : 0);
  const int64_t elements = block_elements(parameter_table(config));
  const int64_t held = training ? Division(elements, self.ranks).held(self.rank) : 0;
  return size_t(elements) * each + size_t(held) * 2 * full;
}

int64_t Parameters::elements(const ModelConfig& config, const ModelShard& shard) {
  return block_elements(parameter_table(shard_config(config, shard), !shard.whole()));
}

void Parameters::initialise(uint32_t seed) {
  TX_ASSERT(shard_.whole());
  for (size_t i = 0; i < table_.size(); ++i) {
    const ParameterEntry& e = table_[i];
    PhiloxStream random(seed, initialisation_site + uint32_t(i));
    const double bound = e.init_scale * std::sqrt(6.0 / double(e.rows + e.cols));
    // Learned positions start with the root mean square of sinusoids beside scaled embeddings.
    const bool beside_scaled = e.lookup && config_.scaled_embeddings;
    const double deviation =
        beside_scaled ? std::sqrt(0.5) : 1 / std::sqrt(double(config_.d_model));
    const Matrix to = fp32_weights(e);
    std::vector<double> row(static_cast<size_t>(e.cols));  // by row, to keep the heap small
    for (int64_t r = 0; r < e.rows; ++r) {
      for (double& x : row) {
        x = 0;
        if (e.init == ParameterEntry::Init::xavier) x = (2 * random.uniform() - 1) * bound;
        if (e.init == ParameterEntry::Init::embedding) x = random.normal() * deviation;
        if (e.init == ParameterEntry::Init::ones) x = 1;
      }
      upload_row(to.slice(r, 1), row);
    }
  }
  refresh_bf16_weights();
}

void Parameters::upload_row(Matrix to, const std::vector<double>& row) {
  if (to.dtype == DType::f64) {
    backend_->upload(to.data, row.data(), row.size() * 8);
    return;
  }
  const std::vector<float> narrow(row.begin(), row.end());
  backend_->upload(to.data, narrow.data(), narrow.size() * 4);
}

void Parameters::freeze(const std::vector<int64_t>& tokens) {
  TX_ASSERT(shard_.whole() && (tokens.empty() || tokens.size() == config_.sides.size()));
  frozen_.clear();
  for (const ParameterEntry& e : table_) {
    if (e.tokens < 0 || tokens.empty()) continue;
    const int64_t all = e.rows * e.cols / e.per_token();
    frozen_.push_back(
        {e.offset, std::clamp<int64_t>(tokens[size_t(e.tokens)], 0, all) * e.per_token()});
  }
}

void Parameters::begin_step() {
  for (auto& times : written_) *times = 0;
}

void Parameters::finish_gradients() {
  for (size_t i = 0; i < table_.size(); ++i) {
    if (table_[i].joined || *written_[i]) continue;  // joined entries share their group's count
    const Matrix g = entry_of(gradients_, table_[i]);
    const ParameterEntry& e = table_[i];
    backend_->zero(g.data, size_t(e.padded_rows * e.padded_cols) * size_of(g.dtype));
  }
}

void Parameters::refresh_bf16_weights() {
  if (!bf16_weights_.empty()) backend_->convert(rows_of(fp32_weights_), rows_of(bf16_weights_));
}

Parameter Parameters::get(const std::string& name, int count) {
  TX_ASSERT(has(name));
  const size_t first = index_.at(name);
  const ParameterEntry& e = table_[first];
  int64_t rows = 0;
  for (int i = 0; i < count; ++i) {
    TX_ASSERT(i == 0 || table_[first + size_t(i)].joined);
    const ParameterEntry& part = table_[first + size_t(i)];
    rows += e.vector ? part.padded_cols : part.padded_rows;
  }
  const auto view = [&](const Matrix& block) {
    Matrix m = block.columns(e.offset, e.vector ? rows : e.cols);
    m.rows = e.vector ? 1 : rows;
    m.stride = m.cols;
    return m;
  };
  Parameter p;
  p.written = written_[first].get();
  p.split = e.split;
  p.ranks = shard_.ranks;
  if (const auto observer = observers_.find(first); observer != observers_.end())
    p.observer = &observer->second;
  const auto packed = prepared_.find({first, count});
  if (read_only_) {
    p.value = packed == prepared_.end() ? matrix(nullptr, dtype_, rows, e.cols) : packed->second;
    p.value.data = read_only(first, rows).data;
    if (e.vector || e.lookup) p.value = read_only(first, rows);
    return p;
  }
  const bool full = e.vector || e.lookup || bf16_weights_.empty();
  p.value = view(full ? fp32_weights_ : bf16_weights_);
  if (e.vector && !bf16_weights_.empty()) p.rounded = view(bf16_weights_);
  if (!gradients_.empty()) p.gradient = view(gradients_);
  if (packed != prepared_.end()) p.value.prepared = packed->second.prepared;
  return p;
}

Matrix Parameters::entry_of(Matrix block, const ParameterEntry& entry) const {
  Matrix m = block.columns(entry.offset, entry.cols);
  m.rows = entry.rows;
  m.stride = entry.cols;
  return m;
}

Matrix Parameters::fp32_weights(const ParameterEntry& entry) const {
  return entry_of(fp32_weights_, entry);
}

Matrix Parameters::read_only(size_t first, int64_t rows) const {
  const ParameterEntry& e = table_[first];
  if (e.vector) return read_only_->vectors.columns(e.offset - vectors_from_, rows);
  const auto found = read_only_->tables.find(first);
  return found == read_only_->tables.end() ? Matrix{} : found->second;
}

void Parameters::observe_inputs(
    const std::function<void(const std::string& name, Matrix input)>& observer) {
  for (size_t i = 0; i < table_.size(); ++i)
    observers_[i] = [observer, name = table_[i].name](Matrix input) { observer(name, input); };
}

void Parameters::prepare_inference() {
  if (read_only_ || planned_) return;
  for (size_t i = 0; i < table_.size();) {
    size_t end = i + 1;
    while (end < table_.size() && table_[end].joined) ++end;
    if (table_[i].multiplied) {
      const int count = int(end - i);
      Matrix w = get(table_[i].name, count).value;
      prepared_[{i, count}] = backend_->prepare(w);
    }
    i = end;
  }
}

}  // namespace tx
