// One model of model.json: builds it by fill_weights(), runs its batch, trains its ten steps.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <map>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "tests/model_support.h"

namespace tx_test {

using tx::DType;
using tx::Json;

inline Json golden_file(const std::string& name) {
  // The tests of a bundle (tests/gpu/bundle.sh) run on machines without the source tree.
  const char* const moved = std::getenv("TX_SOURCE");
  const std::string root = moved ? moved : TX_SOURCE_DIR;
  return tx::parse_json(tx::read_file(root + "/tests/golden/" + name), name);
}

inline const Json& golden() {
  static const Json all = golden_file("model.json");
  return all;
}

inline std::vector<Sentence> sentences_of(const Json& batch) {
  std::vector<Sentence> out;
  for (const Json& s : batch)
    out.push_back({s["pair"].get<uint32_t>(), s["source"].get<std::vector<int32_t>>(),
                   s["target"].get<std::vector<int32_t>>(),
                   s["labels"].get<std::vector<int32_t>>()});
  return out;
}

inline tx::ModelConfig config_of(const Json& c) {
  tx::ModelConfig m;
  m.sides.front().vocabulary = c["source_vocabulary"];
  m.sides.back().vocabulary = c["target_vocabulary"];
  m.sides.front().layers = c["encoder_layers"];
  m.sides.back().layers = c["decoder_layers"];
  m.d_model = c["d_model"];
  m.d_ff = c["d_ff"];
  m.heads = c["heads"];
  m.d_k = c["d_k"];
  m.d_v = c["d_v"];
  m.activation.name = c["activation"];
  m.norm.name = c["norm"];
  m.positions.name = c["positions"];
  m.max_positions = c["max_positions"];
  m.tie.name = c["tie"];
  m.attention_bias = c["attention_bias"];
  m.kv_heads = c.value("kv_heads", m.kv_heads);
  m.window = c.value("window", m.window);
  m.norm_type.name = c.value("norm_type", m.norm_type.name);
  m.decoder_memory.name = c.value("decoder_memory", m.decoder_memory.name);
  m.residual = c.value("residual", m.residual);
  m.scaled_attention = c.value("scaled_attention", m.scaled_attention);
  m.distance_buckets = c.value("distance_buckets", m.distance_buckets);
  m.distance_reach = c.value("distance_reach", m.distance_reach);
  m.head_norm = c.value("head_norm", m.head_norm);
  m.embedding_norm = c.value("embedding_norm", m.embedding_norm);
  m.final_norm = c.value("final_norm", m.final_norm);
  m.attention_output_bias = c.value("attention_output_bias", m.attention_output_bias);
  m.position_offset = c.value("position_offset", m.position_offset);
  m.rotary_base = c.value("rotary_base", m.rotary_base);
  m.rotary_scaling.name = c.value("rotary_scaling", m.rotary_scaling.name);
  m.rotary_factor = c.value("rotary_factor", m.rotary_factor);
  m.rotary_length = c.value("rotary_length", m.rotary_length);
  m.scaled_embeddings = c.value("scaled_embeddings", m.scaled_embeddings);
  m.feed_forward_bias = c.value("feed_forward_bias", m.feed_forward_bias);
  m.output_bias = c.value("output_bias", m.output_bias);
  m.norm_epsilon = c.value("norm_epsilon", m.norm_epsilon);
  m.resolve();
  return m;
}

inline tx::DropoutRates masks_of(const Json& c, const tx::StepRecord* record) {
  return {c["dropout"], c["attention_dropout"], c["relu_dropout"], c["seed"], record};
}

// One model of the file, built in one dtype.
class Golden {
 public:
  Golden(const Json& entry, DType dtype)
      : entry_(entry),
        c_(entry["config"]),
        dtype_(dtype),
        backend_(backend_for(dtype, 2)),
        parameters_(tx::Parameters::for_training(backend_, config_of(c_), dtype)),
        model_(backend_, parameters_, 70),
        record_(backend_) {
    fill_weights(backend_, parameters_);
  }

  double loss = 0, nll = 0;
  int64_t labels = 0;
  std::map<std::string, std::vector<double>> tensors;  // "logits" and the gradients by name

  // Fills the members above from the file's batch.
  void run() {
    const PackedBatch batch(backend_, sentences_of(entry_["batch"]));
    tx::StepRecord r;
    r.step = 1;
    r.loss_scale = 1.0 / double(batch.labels);
    record_.set(r);
    logits(batch);
    gradients({&batch});
    r = record_.get();
    labels = r.labels;
    loss = r.loss * r.loss_scale;
    nll = r.nll * r.loss_scale;
    for (const tx::ParameterEntry& e : parameters_.table())
      tensors[e.name] = to_host(backend_, parameters_.entry_of(parameters_.gradients(), e));
  }

  // Losses of the ten steps; gradient norms go to `norms`.
  std::vector<double> train(std::vector<double>& norms) {
    std::vector<double> losses;
    for (const Json& micro_batches : entry_["steps"]) {
      const tx::StepRecord r = training_step(micro_batches, int64_t(losses.size()) + 1);
      losses.push_back(r.loss * r.loss_scale);
      norms.push_back(r.gradient_norm);
    }
    return losses;
  }

 private:
  // Gradients of one or more micro-batches. Dry runs come first: they mark gradients as written.
  void gradients(const std::vector<const PackedBatch*>& batches) {
    const auto f = [&](tx::Context& context, const PackedBatch& batch) {
      forward_backward(context, model_, batch, masks_of(c_, record_.data), c_["label_smoothing"],
                       record_.data);
    };
    size_t bytes = 0;
    for (const PackedBatch* b : batches)
      bytes = std::max(bytes, peak_of(backend_, dtype_, [&](auto& context) { f(context, *b); }));
    tx::Arena arena(backend_, bytes);
    parameters_.begin_step();
    for (const PackedBatch* b : batches) {
      tx::Context context(backend_, arena, dtype_);
      f(context, *b);
    }
    parameters_.finish_gradients();
  }

  // A forward pass of its own: the loss overwrites its logits.
  void logits(const PackedBatch& batch) {
    const auto f = [&](tx::Context& context) {
      return model_.forward(context, batch.sides, masks_of(c_, record_.data));
    };
    tx::Arena arena(backend_, peak_of(backend_, dtype_, f));
    tx::Context context(backend_, arena, dtype_);
    const tx::Tensor padded = f(context);
    const std::vector<double> all = to_host(backend_, padded.value());
    std::vector<double>& to = tensors["logits"];
    for (int64_t i = 0; i < padded.rows(); ++i)
      to.insert(to.end(), all.begin() + i * padded.cols(),
                all.begin() + i * padded.cols() + model_.config().target().vocabulary);
  }

  tx::StepRecord training_step(const Json& micro_batches, int64_t number) {
    std::vector<std::unique_ptr<PackedBatch>> batches;
    tx::StepRecord r;
    int64_t labels = 0;
    for (const Json& b : micro_batches) {
      batches.push_back(std::make_unique<PackedBatch>(backend_, sentences_of(b)));
      labels += batches.back()->labels;
    }
    const double n = double(number), warmup = c_["warmup"];
    r.step = number;
    r.rate = std::min(1 / std::sqrt(n), n * std::pow(warmup, -1.5)) /
             std::sqrt(double(model_.config().d_model));
    r.loss_scale = 1.0 / double(labels);
    r.clip_norm = c_["clip_norm"];
    record_.set(r);
    gradients({batches[0].get(), batches[1].get()});
    tx::AdamSettings settings;
    settings.weight_decay = c_["weight_decay"];
    tx::Parameters& p = parameters_;
    const int64_t blocks = tx::norm_blocks(p.gradients().cols);
    const tx::Matrix squares =
        tx::matrix(backend_->allocate(size_t(blocks) * 8), DType::f64, 1, blocks);
    backend_->square_sums(p.gradients(), squares);
    backend_->gradient_norm(squares, record_.data);
    backend_->release(squares.data);
    backend_->adam(p.fp32_weights(), p.gradients(), p.moment1(), p.moment2(), p.bf16_weights(),
                   p.decayed(), settings, record_.data);
    return record_.get();
  }

  const Json& entry_;
  const Json& c_;
  DType dtype_;
  tx::Backend backend_;
  tx::Parameters parameters_;
  tx::Transformer model_;
  Record record_;
};

}  // namespace tx_test
