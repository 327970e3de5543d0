// The flight record, tx-run(5): what a step that went wrong was made of. The weights it began with,
// exactly, and a JSON object of the rest.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"

namespace tx {

// Writes atomically; the bytes depend on the arguments alone. `facts` is any JSON of finite values.
void save_flight(const std::string& path, const Parameters& parameters, const Json& facts);

// The file that --replay names: the file itself, or the newest flight record of a run directory.
// DataError where that has none.
std::string resolve_flight(const std::string& path);

class FlightReader {
 public:
  // DataError: empty, truncated, damaged, of a newer format, or not a flight record.
  explicit FlightReader(const std::string& path);
  const ModelConfig& config() const { return config_; }
  const Json& facts() const { return facts_; }
  // Fills the master weights and the bf16 copy; the parameters must have this configuration.
  void load(Parameters& parameters) const;

 private:
  SafetensorsReader file_;
  ModelConfig config_;
  Json facts_;
};

}  // namespace tx
