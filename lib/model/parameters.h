// The parameter table of a model and the flat blocks that hold the weights, their gradients and the
// optimizer state. The table's order is the layout: q, k, v of a layer are adjacent, so are k, v of
// the cross-attentions of all layers (one product computes them), and matrices precede vectors
// (weight decay). The vocabulary is padded with zeros in the blocks, not in files.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/model/config.h"
#include "lib/model/division.h"
#include "lib/model/tensor_parallel.h"
#include "lib/tensor/tensor.h"

namespace tx {

struct ParameterEntry {
  enum class Init { xavier, embedding, zeros, ones };
  std::string name;  // as in the file: encoder.layers.0.self_attn.q_proj.weight
  int64_t rows = 1, cols = 0;
  bool vector = false;  // the file's shape is [cols], else [rows, cols] = [out, in]
  Init init = Init::zeros;
  double init_scale = 1;
  int64_t padded_rows = 1, padded_cols = 0;  // rows and columns in the block
  int64_t offset = 0;                        // elements from the block's start
  bool lookup = false;                       // learned positions: read in full precision
  bool multiplied = false;  // read by a product; false for tables that are only looked up
  bool joined = false;      // follows the previous entry without a gap
  Split split = Split::none;
  int tokens = -1;  // the side of which each token has a row, in output.bias a column; -1: none
  int64_t per_token() const { return vector ? 1 : cols; }  // elements
};

// In the table of a tensor-parallel shard the replicated entries are adjacent.
std::vector<ParameterEntry> parameter_table(const ModelConfig& config, bool sharded = false);
// The range of blocks of norm_block elements of only the replicated entries, in a shard's table.
ElementRange replicated_blocks(const std::vector<ParameterEntry>& table);
int64_t parameter_count(const ModelConfig& config);  // without padding
constexpr int64_t padded_vocabulary(int64_t v) { return (v + 63) / 64 * 64; }

// The weights of a model for inference.
struct WeightSource {
  virtual ~WeightSource() = default;
  // padded_rows rows, padding being zero; one row for a vector.
  virtual WeightRows rows(const ParameterEntry& entry) const = 0;
  // The entries as one matrix of 8-bit weights that can be used in place, which must outlive the
  // parameters. `groups` is null if there is none.
  virtual Int8Weights int8(std::span<const ParameterEntry> joined) const = 0;
  virtual void finished(const ParameterEntry&) const {}  // its rows are not read again
};

// Flat blocks of one size: Adam's m and v; for matrices that Muon updates, momentum and zeros.
struct OptimizerState {
  Matrix first, second;
};

class Parameters {
 public:
  // dtype: of activations. bf16 has fp32 weights, which the optimizer updates, and bf16 weights,
  // which products read; f64 has everything in double. Memory is zero until initialise() or
  // loading.

  // Weights, gradients and the optimizer state, with several ranks only of the shards of `self`.
  // With a tensor-parallel shard, config() and table() describe the shard. Its weights are slices
  // of the model's (shard_of()), and `self` counts the ranks that have the same shard.
  static Parameters for_training(Backend& backend, const ModelConfig& config, DType dtype,
                                 RankOf self = {}, const ModelShard& shard = {});
  // The same blocks as views without memory, not to be read or written.
  static Parameters for_planning(Backend& backend, const ModelConfig& config, DType dtype,
                                 RankOf self);
  // The weights alone.
  static Parameters only_weights(Backend& backend, const ModelConfig& config, DType dtype);
  // For inference only, and prepared for it: each weight once, in the form that is read.
  // `weights`: f32 or bf16, also the dtype of activations; or i8 with f32 activations.
  static Parameters for_inference(Backend& backend, const ModelConfig& config, DType weights,
                                  const WeightSource& source);
  // Memory for a checkpoint: the fp32 weights and the optimizer state of all ranks.
  static Parameters for_saving(Backend& backend, const ModelConfig& config, DType dtype);
  // A copy of `of`, which has another backend of the same device; complete when this returns.
  void take(const Parameters& of, const OptimizerState& whole);
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  Backend& backend() const { return backend_; }
  const ModelConfig& config() const { return config_; }
  const ModelShard& shard() const { return shard_; }
  const ModelConfig& whole() const {
    return whole_;
  }  // of the whole model; config() without shards
  const std::vector<ParameterEntry>& table() const { return table_; }
  bool planned() const { return planned_; }  // without memory
  DType dtype() const { return dtype_; }     // of activations
  // Of the cached keys and values in decoding: bf16 with 8-bit weights, else as activations; also
  // with an Int8Weights::input_factor, to be exact.
  DType cache_dtype() const { return int8_ && !fixed_inputs_ ? DType::bf16 : dtype_; }
  static size_t bytes(const ModelConfig& config, DType dtype, bool training, RankOf self = {});
  static int64_t elements(const ModelConfig& config, const ModelShard& shard = {});  // of a block

  // Steps do not change the rows of the first `tokens` tokens of each side; empty: of none.
  void freeze(const std::vector<int64_t>& tokens);
  const std::vector<ElementRange>& frozen() const { return frozen_; }  // ascending
  void initialise(uint32_t seed);  // Xavier uniform, N(0, 1/d_model), zeros, ones (tx-paper(7))
  void begin_step();  // the next contribution to a gradient assigns; call it again after a dry run
  void finish_gradients();  // zeroes gradients without a contribution
  // Contributions to the gradient of a table entry so far; joined entries count at the first.
  int written(size_t entry) const { return *written_[entry]; }
  void refresh_bf16_weights();  // rounds the fp32 weights to the bf16 weights
  // From now on, get() returns weights whose products call `observer` with the name of the weight
  // (of joined ones the first) and their input.
  void observe_inputs(const std::function<void(const std::string& name, Matrix input)>& observer);
  void prepare_inference();  // packs weights for matmul_invariant; later calls repack in place

  // `count` table entries from `name` on as one (sum of rows, cols) matrix, or (1, sum) vector.
  Parameter get(const std::string& name, int count = 1);
  bool has(const std::string& name) const { return index_.count(name) > 0; }

  // The entry in the block of fp32 weights, without padding: (rows, cols), f32 or f64.
  Matrix fp32_weights(const ParameterEntry& entry) const;
  // The same entry of any block of this layout.
  Matrix entry_of(Matrix block, const ParameterEntry& entry) const;
  Matrix fp32_weights() const { return fp32_weights_; }  // whole blocks, (1, elements)
  Matrix gradients() const { return gradients_; }
  // (1, division().held(self().rank)): all shards of this rank; whole blocks with one rank.
  Matrix moment1() const { return optimizer_state_.first; }
  Matrix moment2() const { return optimizer_state_.second; }
  const OptimizerState& optimizer_state() const { return optimizer_state_; }
  const Division& division() const { return division_; }
  RankOf self() const { return self_; }
  Matrix bf16_weights() const { return bf16_weights_; }  // empty unless bf16
  int64_t decayed() const { return vectors_from_; }      // elements before the first vector

 private:
  // Without memory; then `fill`.
  Parameters(Backend& backend, const ModelConfig& config, DType dtype, const ModelShard& shard);
  Parameters(Backend& backend, const ModelConfig& config, DType dtype, const ModelShard& shard,
             const std::function<void(Parameters&)>& fill)
      : Parameters(backend, config, dtype, shard) {
    fill(*this);
  }
  Matrix allocate(DType dtype, int64_t elements);
  void allocate_blocks(bool training, RankOf self);
  void upload_row(Matrix to, const std::vector<double>& row);
  // For inference: the weights that are not packed, instead of blocks.
  struct ReadOnly {
    Matrix vectors;                   // all of them, f32
    std::map<size_t, Matrix> tables;  // by index in the table: rows that are looked up
  };
  void read_tables(DType weights, const WeightSource& source);
  void read_vectors(const WeightSource& source);
  Matrix read_only(size_t first, int64_t rows) const;
  Backend& backend_;
  ModelConfig config_, whole_;
  ModelShard shard_;
  std::vector<ParameterEntry> table_;
  std::map<std::string, size_t> index_;
  std::vector<std::unique_ptr<int>> written_;
  std::map<std::pair<size_t, int>, Matrix> prepared_;
  std::map<size_t, std::function<void(Matrix)>> observers_;  // by index in the table
  DType dtype_;
  bool int8_ = false, fixed_inputs_ = false, planned_ = false;
  int64_t elements_ = 0, vectors_from_ = 0;
  RankOf self_;
  Division division_;
  std::vector<ElementRange> frozen_;
  Matrix fp32_weights_, gradients_, bf16_weights_;
  OptimizerState optimizer_state_;
  std::unique_ptr<ReadOnly> read_only_;
};

// The data flow as a text diagram (Figure 1 of the paper): computations from top to bottom, the
// shapes between them, and the parameters that each reads, once for a stack of equal layers.
std::string data_flow(const ModelConfig& config);

}  // namespace tx
