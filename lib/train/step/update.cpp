#include "lib/train/step/update.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/base/figure.h"

namespace tx {
namespace {

// The number of square_sums() of the largest shard: vocabulary shards differ in size.
int64_t largest_part(const Parameters& of) {
  int64_t max = 0;
  for (int i = 0; i < of.shard().count; ++i)
    max = std::max(max, norm_blocks(Parameters::elements(of.whole(), {i, of.shard().count})));
  return max;
}

// "encoder.layers.0" of "encoder.layers.0.ffn_norm.bias", "encoder.norm" of "encoder.norm.bias".
std::string part_of_model(const std::string& weight) {
  const size_t layers = weight.find(".layers.");
  if (layers == std::string::npos) return weight.substr(0, weight.rfind('.'));
  return weight.substr(0, weight.find('.', layers + std::string(".layers.").size()));
}

}  // namespace

Update::Update(Parameters& parameters, const TrainOptions& options, StepRecord* record)
    : parameters_(parameters),
      sgd_(options.optimizer == Optimizer::sgd),
      settings_{options.beta1, options.beta2, options.epsilon, options.weight_decay},
      record_(record) {
  const int64_t blocks = norm_blocks(parameters.fp32_weights().cols);
  const auto allocate = [&](int64_t sums) {
    const size_t bytes = size_t(sums) * sizeof(double);
    void* data = parameters.backend()->allocate(bytes);
    parameters.backend()->zero(data, bytes);
    return matrix(data, DType::f64, 1, sums);
  };
  squares_ = allocate(blocks);
  if (!parameters.shard().whole())
    all_ = allocate(largest_part(parameters) * parameters.shard().count);
  if (options.optimizer == Optimizer::muon)
    muon_ = std::make_unique<Muon>(parameters, options.momentum, record);
}

Update::~Update() {
  parameters_.backend()->release(squares_.data);
  parameters_.backend()->release(all_.data);
}

// Of the gradient of one weight. Replicated parameters are counted once, on the first shard.
double Update::square_sum(const ParameterEntry& entry) {
  if (parameters_.shard().index > 0 && entry.split == Split::none) return 0;
  const int64_t elements = entry.padded_rows * entry.padded_cols;
  const Matrix squares = squares_.columns(0, norm_blocks(elements));
  parameters_.backend()->square_sums(part_of(parameters_.gradients(), {entry.offset, elements}),
                                     squares);
  std::vector<double> sums(size_t(squares.cols));
  parameters_.backend()->download(sums.data(), squares.data, sums.size() * sizeof(double));
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

Json Update::gradient_norms() {
  std::vector<std::string> parts;  // in the order of the table
  std::vector<double> sums;
  for (const ParameterEntry& e : parameters_.table()) {
    const std::string part = part_of_model(e.name);
    const size_t at = size_t(std::find(parts.begin(), parts.end(), part) - parts.begin());
    if (at == parts.size()) {
      parts.push_back(part);
      sums.push_back(0);
    }
    sums[at] += square_sum(e);
  }
  const ModelShard& shard = parameters_.shard();
  std::vector<double> all(sums.size() * size_t(shard.count));
  if (shard.whole())
    all = sums;
  else
    shard.ranks->gather_all(sums.data(), sums.size() * sizeof(double), all.data());
  Json norms = Json::object();
  for (size_t i = 0; i < parts.size(); ++i) {
    double sum = 0;
    for (size_t at = i; at < all.size(); at += parts.size()) sum += all[at];
    norms[parts[i]] = finite_or_null(std::sqrt(sum));
  }
  return norms;
}

// Replicated parameters are counted once, on the first shard.
void Update::decide() {
  const ModelShard& part = parameters_.shard();
  if (part.whole()) return parameters_.backend()->gradient_norm(squares_, record_);
  const int64_t each = all_.cols / part.count;
  const Matrix own = all_.columns(part.index * each, each);
  parameters_.backend()->zero(own.data, size_t(each) * sizeof(double));
  parameters_.backend()->copy(own.data, squares_.data, size_t(squares_.cols) * sizeof(double));
  const ElementRange common = replicated_blocks(parameters_.table());
  if (part.index > 0)
    parameters_.backend()->zero(own.columns(common.first, 1).data,
                                size_t(common.count) * sizeof(double));
  part.ranks->gather_all(own.data, size_t(each) * sizeof(double), all_.data);
  parameters_.backend()->gradient_norm(all_, record_);
}

std::vector<Update::Held> Update::held() const {
  const int64_t elements = parameters_.fp32_weights().cols;
  std::vector<Held> all;
  if (!shards_) all.push_back({{0, elements}, 0});
  const Division& division = parameters_.division();
  for (int round = 0; shards_ && round < division.rounds(); ++round)
    all.push_back({division.shard(round, parameters_.self().rank), division.own_first(round)});
  for (const ElementRange& frozen : parameters_.frozen()) {
    std::vector<Held> rest;
    for (const Held& one : all)
      for (const ElementRange& side :
           {ElementRange{0, frozen.first}, {frozen.end(), elements - frozen.end()}})
        if (const Held part = one.part(side); part.range.count > 0) rest.push_back(part);
    all = std::move(rest);
  }
  return all;
}

void Update::update(const Held& held, Matrix bf16_weights) {
  const auto& [range, state] = held;
  if (range.count == 0) return;
  const Matrix w = part_of(parameters_.fp32_weights(), range);
  const Matrix g = part_of(parameters_.gradients(), range);
  const Matrix copy = bf16_weights.empty() ? Matrix{} : part_of(bf16_weights, range);
  const int64_t decayed = std::clamp<int64_t>(parameters_.decayed() - range.first, 0, range.count);
  if (sgd_) return parameters_.backend()->sgd(w, g, 0, copy, decayed, settings_, record_);
  const ElementRange own{state, range.count};
  parameters_.backend()->adam(w, g, part_of(parameters_.moment1(), own),
                              part_of(parameters_.moment2(), own), copy, decayed, settings_,
                              record_);
}

void Update::update_all(Matrix bf16_weights) {
  const std::vector<Held> all = held();
  if (!muon_) {
    for (const Held& one : all) update(one, bf16_weights);
    return;
  }
  const ElementRange matrices = muon_->matrices();
  const ElementRange before{0, matrices.first};
  const ElementRange after{matrices.end(), parameters_.fp32_weights().cols - matrices.end()};
  std::vector<ElementRange> own;
  for (const Held& one : all) {
    const Held layers = one.part(matrices);
    if (layers.range.count == 0) continue;
    own.push_back(layers.range);
    muon_->average(layers.range, {layers.state, layers.range.count});
  }
  muon_->orthogonalise(shards_, own);
  for (const ElementRange& range : own) muon_->update(range, bf16_weights, settings_);
  for (const Held& one : all)
    for (const ElementRange& rest : {before, after}) update(one.part(rest), bf16_weights);
}

void Update::run() {
  for (const ElementRange& range : parameters_.frozen()) {  // the norm is that of the others
    const Matrix g = part_of(parameters_.gradients(), range);
    parameters_.backend()->zero(g.data, size_t(range.count) * size_of(g.dtype));
  }
  if (!shards_) {
    norm(parameters_.gradients());
    return update_all(parameters_.bf16_weights());
  }
  shards_->gather_squares(parameters_.gradients(), squares_);
  decide();
  update_all({});
  shards_->gather(parameters_.fp32_weights());
  parameters_.refresh_bf16_weights();
}

}  // namespace tx
