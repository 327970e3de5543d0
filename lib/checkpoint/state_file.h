// The training state and the flight record: the other files of a run directory, tx-run(5).
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"

namespace tx {

// The training state: the optimizer state (Adam's moments, exact), the position in the data, and
// counters, which together with the model resume a run. It names its model by checksum.

// Writes atomically; the bytes depend only on the arguments. `optimizer`: whole blocks, those of
// all ranks, in the memory of the parameters' backend; `state` is JSON without NaN or infinity;
// model_checksum is the value returned by save_model().
void save_state(const std::string& path, const Parameters& parameters,
                const OptimizerState& optimizer, const Json& state,
                const std::string& model_checksum);

// DataError unless the file is complete and belongs to the model with this checksum.
void check_state(const std::string& path, const ModelConfig& config,
                 const std::string& model_checksum);

// Fills `optimizer`, whole blocks as above, and returns `state`. DataError: empty, truncated,
// damaged, of a newer format, not a training state, or of a model with another checksum.
Json load_state(const std::string& path, const Parameters& parameters,
                const OptimizerState& optimizer, const std::string& model_checksum);

// Only `state`; does not verify the checksum. DataError: not a training state, or damaged.
Json read_state(const std::string& path);

// The flight record of a failed step: the weights before it (exact), its inputs and results.

// Writes atomically. `facts` is JSON without NaN or infinity.
void save_flight(const std::string& path, const Parameters& parameters, const Json& facts);

// The file that --replay reads: `path`, or a run directory's newest record. DataError: none.
std::string resolve_flight(const std::string& path);

class FlightReader {
 public:
  // DataError: empty, truncated, damaged, of a newer format, or not a flight record.
  explicit FlightReader(const std::string& path);
  const ModelConfig& config() const { return config_; }
  const Json& facts() const { return facts_; }
  // Fills the fp32 weights and the bf16 weights; the parameters must have this configuration.
  void load(Parameters& parameters) const;

 private:
  SafetensorsReader file_;
  ModelConfig config_;
  Json facts_;
};

}  // namespace tx
