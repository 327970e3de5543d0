// Small models of every kind for tests of properties, with their logits and gradients.
#pragma once
#include <boost/test/unit_test.hpp>

#include "tests/model_support.h"

namespace tx_test {

inline tx::ModelConfig small_config(const std::string& norm = "post",
                                    const std::string& positions = "sinusoid",
                                    tx::ModelKind kind = tx::ModelKind::encoder_decoder) {
  tx::ModelConfig c;
  c.set_kind(kind);
  c.set_vocabularies(37);
  c.set_layers(2);
  c.d_model = 32;
  c.d_ff = 72;
  c.heads = 4;
  c.d_v = 12;  // d_k is 8
  c.norm.name = norm;
  c.activation = c.pre_norm() ? tx::Activation::gelu : tx::Activation::relu;
  c.positions.name = positions;
  c.max_positions = 80;
  c.attention_bias = norm == "pre";
  c.resolve();
  return c;
}

// Configurations that together use every block that is not in the paper.
inline std::vector<tx::ModelConfig> later_configs(
    tx::ModelKind kind = tx::ModelKind::encoder_decoder) {
  std::vector<tx::ModelConfig> all;
  const auto add = [&](const std::string& norm, const std::string& positions, auto&& change) {
    tx::ModelConfig c = small_config(norm, positions, kind);
    change(c);
    c.resolve();
    all.push_back(c);
  };
  add("pre", "rotary", [](tx::ModelConfig& c) {
    c.norm_type = tx::NormType::rms, c.activation = tx::Activation::swiglu;
    c.kv_heads = 2, c.attention_bias = c.feed_forward_bias = false;
  });
  add("post", "alibi", [](tx::ModelConfig& c) {
    c.window = 9, c.activation = tx::Activation::geglu, c.output_bias = true;
    c.tie = tx::Tie::embeddings;
  });
  add("post", "rotary", [](tx::ModelConfig& c) {
    c.kv_heads = 1, c.window = 5, c.rotary_scaling = tx::RotaryScaling::llama3;
    c.rotary_factor = 4, c.rotary_length = 40, c.activation = tx::Activation::silu;
  });
  add("pre", "fairseq", [](tx::ModelConfig& c) {
    c.position_offset = 2, c.activation = tx::Activation::gelu_tanh, c.scaled_embeddings = false;
  });
  add("post", "halves", [](tx::ModelConfig& c) {
    c.activation = tx::Activation::gelu_sigmoid, c.scaled_attention = false;
  });
  add("post", "learned", [](tx::ModelConfig& c) {
    c.position_offset = 3, c.max_positions = 83, c.kv_heads = 2, c.norm_type = tx::NormType::rms;
  });
  add("post", "none",
      [](tx::ModelConfig& c) { c.window = 1, c.embedding_norm = c.final_norm = true; });
  add("pre", "rotary", [](tx::ModelConfig& c) {
    c.norm_type = tx::NormType::rms, c.attention_output_bias = false, c.head_norm = true;
    c.kv_heads = 2;
  });
  add("pre", "relative", [](tx::ModelConfig& c) {
    c.norm_type = tx::NormType::rms, c.activation = tx::Activation::geglu_tanh;
    c.distance_buckets = 12, c.distance_reach = 30, c.scaled_embeddings = false;
  });
  if (kind == tx::ModelKind::encoder)
    add("post", "learned", [](tx::ModelConfig& c) {
      c.embedding_norm = c.output_layer = c.output_bias = true, c.activation = tx::Activation::gelu;
    });
  for (const char* norm : {"post", "pre"})
    add(norm, "sinusoid", [](tx::ModelConfig& c) { c.residual = false; });
  // Without norms, large embeddings would amplify rounding errors.
  add("post", "sinusoid",
      [](tx::ModelConfig& c) { c.norm_type = tx::NormType::none, c.scaled_embeddings = false; });
  add("pre", "rotary", [](tx::ModelConfig& c) {
    c.norm_type = tx::NormType::none, c.residual = c.scaled_embeddings = false;
    c.attention_bias = c.feed_forward_bias = false;
  });
  if (kind != tx::ModelKind::encoder_decoder) return all;
  add("post", "sinusoid", [](tx::ModelConfig& c) {
    c.decoder_memory = tx::DecoderMemory::ssru, c.attention_bias = true;
  });
  add("pre", "rotary", [](tx::ModelConfig& c) {
    c.decoder_memory = tx::DecoderMemory::ssru, c.norm_type = tx::NormType::rms, c.kv_heads = 2;
  });
  return all;
}

// `length` pseudo-random ids from 4 up, determined by the name.
inline std::vector<int32_t> ids_of(const std::string& name, size_t length, int vocabulary = 37) {
  std::vector<int32_t> ids;
  for (double x : value(name, 0, length))
    ids.push_back(4 + int32_t((x + 1) / 2 * (vocabulary - 4)));
  return ids;
}

// A sentence of given lengths; source and target rows count <eos> and <bos>.
inline Sentence sentence_of(uint32_t pair, size_t source_rows, size_t target_rows) {
  Sentence s;
  s.pair = pair;
  s.source = ids_of("source " + std::to_string(pair), source_rows - 1);
  s.source.push_back(3);
  s.labels = ids_of("target " + std::to_string(pair), target_rows - 1);
  s.target = s.labels;
  s.target.insert(s.target.begin(), 2);
  s.labels.push_back(3);
  return s;
}

using Rows = std::vector<std::vector<double>>;

class SmallModel {
 public:
  SmallModel(const tx::ModelConfig& config, tx::DType dtype, bool prepared = false, int threads = 2)
      : backend(backend_for(dtype, threads)),
        dtype(dtype),
        parameters(prepared ? tx::Parameters::only_weights(backend, config, dtype)
                            : tx::Parameters::for_training(backend, config, dtype)) {
    fill_weights(backend, parameters);
    if (prepared) parameters.prepare_inference();
    model = std::make_unique<tx::Transformer>(backend, parameters, 80);
  }

  // For inference only, with the weights of `of`, which are f32 on the CPU.
  SmallModel(const SmallModel& of, tx::DType weights)
      : backend(tx::make_backend(tx::Device::cpu, 2)),
        dtype(weights == tx::DType::i8 ? tx::DType::f32 : weights),
        parameters(tx::Parameters::for_inference(backend, of.parameters.config(), weights,
                                                 Fp32Source(of.parameters))),
        model(std::make_unique<tx::Transformer>(backend, parameters, 80)) {}

  // f(context) in an arena of exactly the size that a dry run needs.
  template <class F>
  auto run(F&& f) {
    tx::Arena arena(backend, peak_of(backend, dtype, f));
    tx::Context context(backend, arena, dtype);
    return f(context);
  }
  Rows host_rows(const tx::Tensor& t, int64_t cols) {
    const std::vector<double> all = to_host(backend, t.value());
    Rows rows;
    for (auto row = all.begin(); row != all.end(); row += t.cols())
      rows.emplace_back(row, row + cols);
    return rows;
  }
  // Logits of all target rows of a batch, the sentences one after another.
  Rows logits(const std::vector<Sentence>& sentences, const tx::DropoutRates& masks = {}) {
    const PackedBatch batch(backend, sentences, sides());
    const auto f = [&](tx::Context& c) { return model->forward(c, batch.sides, masks); };
    tx::Arena arena(backend, peak_of(backend, dtype, f));
    tx::Context context(backend, arena, dtype);
    return host_rows(f(context), model->config().target().vocabulary);
  }
  Rows encoded(const Sentence& sentence) {
    const PackedBatch batch(backend, {sentence});
    const auto f = [&](tx::Context& c) { return model->hidden(c, {batch.sides.data(), 1}); };
    tx::Arena arena(backend, peak_of(backend, dtype, f));
    tx::Context context(backend, arena, dtype);
    return host_rows(f(context), model->config().d_model);
  }
  // All gradients of the batches as one step, in the layout of the block.
  std::vector<double> gradients(const std::vector<std::vector<Sentence>>& batches,
                                tx::DropoutRates masks, double loss_scale = 1) {
    Record record(backend);
    tx::StepRecord r;
    r.step = 3;
    r.loss_scale = loss_scale;
    record.set(r);
    masks.record = record.data;
    parameters.begin_step();
    for (const std::vector<Sentence>& sentences : batches) {
      const PackedBatch batch(backend, sentences, sides());
      const auto f = [&](tx::Context& c) {
        forward_backward(c, *model, batch, masks, .1, record.data);
      };
      tx::Arena arena(backend, size_t(1) << 23);
      tx::Context context(backend, arena, dtype);
      context.recompute = recompute;
      f(context);
      BOOST_TEST(arena.in_use() == 0u);
      peak = arena.peak();
    }
    parameters.finish_gradients();
    return to_host(backend, parameters.gradients());
  }

  // The loss that gradients() differentiates.
  double loss(const std::vector<Sentence>& sentences) {
    Record record(backend);
    const PackedBatch batch(backend, sentences, sides());
    run([&](tx::Context& c) {
      cross_entropy(c, model->forward(c, batch.sides), batch.label_ids,
                    model->config().target().vocabulary, .1, record.data);
      return 0;
    });
    return record.get().loss;
  }
  size_t sides() const { return parameters.config().sides.size(); }

  tx::Backend backend;
  tx::DType dtype;
  tx::Parameters parameters;
  std::unique_ptr<tx::Transformer> model;
  bool recompute = false;  // in gradients()
  size_t peak = 0;         // of the arena in gradients()
};

// Largest difference over largest magnitude.
inline double difference(const Rows& x, const Rows& expected) {
  BOOST_REQUIRE(x.size() == expected.size());
  double off = 0, largest = 0;
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < x[i].size(); ++j) {
      off = std::max(off, std::isfinite(x[i][j]) ? std::abs(x[i][j] - expected[i][j]) : INFINITY);
      largest = std::max(largest, std::abs(expected[i][j]));
    }
  BOOST_REQUIRE(largest > 0);
  return off / largest;
}

inline std::vector<tx::DType> dtypes() { return {tx::DType::f64, tx::DType::f32, tx::DType::bf16}; }

}  // namespace tx_test
