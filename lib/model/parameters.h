// The one parameter table of a model and the flat blocks that hold it. The table's order is the
// layout: q, k, v of a layer adjacent, cross-attention k, v of all layers adjacent, matrices before
// vectors, so that several weights are one product and weight decay is one range. Padding of the
// vocabulary (zeros) exists in the blocks only.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/model/config.h"
#include "lib/model/division.h"
#include "lib/model/model_part.h"
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
  bool multiplied = false;  // a product reads it; false for tables that are only looked up
  bool joined = false;      // follows its predecessor without a gap
  Split split = Split::none;
};

// Of a part of a model what all parts have alike stands together, see common_blocks().
std::vector<ParameterEntry> parameter_table(const ModelConfig& config, bool part = false);
// The range of blocks of norm_block elements in which the entries stand that all parts have alike,
// and no others; `table` is that of a part.
Share common_blocks(const std::vector<ParameterEntry>& table);
int64_t parameter_count(const ModelConfig& config);  // without padding
constexpr int64_t padded_vocabulary(int64_t v) { return (v + 63) / 64 * 64; }

// Where a model that only computes forward finds its weights.
struct WeightSource {
  virtual ~WeightSource() = default;
  // padded_rows rows, those of padding zero; of a vector one row.
  virtual WeightRows rows(const ParameterEntry& entry) const = 0;
  // The entries as one matrix of 8-bit weights where they lie like that already; they must stay
  // there as long as the parameters. `groups` is null where they do not.
  virtual Int8Weights int8(std::span<const ParameterEntry> joined) const = 0;
  virtual void finished(const ParameterEntry&) const {}  // its rows are not read again
};

// Adam's two moments, flat blocks of one size.
struct Moments {
  Matrix first, second;
};

class Parameters {
 public:
  // dtype of activations: bf16 keeps an fp32 master and a bf16 copy, f64 holds everything in
  // double. training adds gradients and Adam's two moments, of several ranks those of the shards of
  // `self` alone. Memory is zero until initialise() or loading.
  // Of a part of the model, config() and table() are its own; its weights are slices of those of
  // the whole (part_of() of model_part.h), and `self` is among the ranks that have that part.
  Parameters(Backend& backend, const ModelConfig& config, DType dtype, bool training,
             RankOf self = {}, const ModelPart& part = {});
  // Of a training that is only planned: the same blocks as views without memory, which nothing may
  // read or write.
  struct Planned {};
  Parameters(Backend& backend, const ModelConfig& config, DType dtype, RankOf self, Planned);
  // For inference alone, and prepared for it: each weight in the one form that is read, no master.
  // `weights`: f32 or bf16, as activations are then; i8, with activations of f32.
  Parameters(Backend& backend, const ModelConfig& config, DType weights,
             const WeightSource& source);
  // Room for what a checkpoint holds of this model: the master and whole moments.
  struct Kept {};
  Parameters(Backend& backend, const ModelConfig& config, DType dtype, Kept);
  // Room on `backend` for what a checkpoint holds of `of`: the master and the moments of all ranks,
  // which take() copies. Both backends are of one device; the copy is complete when take() returns.
  Parameters(Backend& backend, const Parameters& of);
  void take(const Parameters& of, const Moments& whole);
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  Backend& backend() const { return backend_; }
  const ModelConfig& config() const { return config_; }
  const ModelPart& part() const { return part_; }
  const ModelConfig& whole() const { return whole_; }  // config() but for a part
  const std::vector<ParameterEntry>& table() const { return table_; }
  bool planned() const { return planned_; }  // without memory
  DType dtype() const { return dtype_; }     // of activations
  // Of the keys and values that decoding keeps: bf16 beside 8-bit weights, else of activations.
  DType cache_dtype() const { return int8_ ? DType::bf16 : dtype_; }
  static size_t bytes(const ModelConfig& config, DType dtype, bool training, RankOf self = {});
  static int64_t elements(const ModelConfig& config, const ModelPart& part = {});  // of a block

  void initialise(uint32_t seed);  // Xavier uniform, N(0, 1/d_model), zeros, ones (tx-paper(7))
  void begin_step();  // the next contribution to every gradient assigns; a dry run ends that too
  void finish_gradients();  // zeroes gradients that no contribution reached
  // Contributions to the gradient of a table entry so far; of joined entries those to the first.
  int written(size_t entry) const { return *written_[entry]; }
  void refresh_copy();       // bf16 copy of the master
  void prepare_inference();  // packs the weights for matmul_invariant; when called again, in place

  // `count` table entries from `name` on as one (sum of rows, cols) matrix, or (1, sum) vector.
  Parameter get(const std::string& name, int count = 1);
  bool has(const std::string& name) const { return index_.count(name) > 0; }

  // The unpadded entry in the master block: (rows, cols), f32 or f64.
  Matrix master(const ParameterEntry& entry) const;
  // Same entry of any block of this layout.
  Matrix entry_of(Matrix block, const ParameterEntry& entry) const;
  Matrix master() const { return master_; }  // whole blocks, (1, elements)
  Matrix gradients() const { return gradients_; }
  // (1, division().held(self().rank)): all that this rank updates, one shard after another; the
  // layout of whole blocks where it is the only one.
  Matrix moment1() const { return moments_.first; }
  Matrix moment2() const { return moments_.second; }
  const Moments& moments() const { return moments_; }
  const Division& division() const { return division_; }
  RankOf self() const { return self_; }
  Matrix copy() const { return copy_; }              // empty unless bf16
  int64_t decayed() const { return vectors_from_; }  // elements before the first vector

 private:
  Parameters(Backend& backend, const ModelConfig& config, DType dtype,
             const ModelPart& part = {});  // without memory
  Matrix allocate(DType dtype, int64_t elements);
  void allocate_blocks(bool training, RankOf self);
  void upload_row(Matrix to, const std::vector<double>& row);
  // What a model for inference holds beside its packed weights, instead of blocks.
  struct ReadOnly {
    Matrix vectors;                   // all of them, f32
    std::map<size_t, Matrix> tables;  // by place in the table: rows that are looked up
  };
  void read_tables(DType weights, const WeightSource& source);
  void read_vectors(const WeightSource& source);
  Matrix read_only(size_t first, int64_t rows) const;
  Backend& backend_;
  ModelConfig config_, whole_;
  ModelPart part_;
  std::vector<ParameterEntry> table_;
  std::map<std::string, size_t> index_;
  std::vector<std::unique_ptr<int>> written_;
  std::map<std::pair<size_t, int>, Matrix> prepared_;
  DType dtype_;
  bool int8_ = false, planned_ = false;
  int64_t elements_ = 0, vectors_from_ = 0;
  RankOf self_;
  Division division_;
  Matrix master_, gradients_, copy_;
  Moments moments_;
  std::unique_ptr<ReadOnly> read_only_;
};

}  // namespace tx
