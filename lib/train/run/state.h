// What a training knows at a step beside weights, moments and what its parts keep: the counters of
// a state file, tx-run(5).
#pragma once
#include <cstdint>
#include <string>

#include "lib/base/json.h"

namespace tx {

// What a stop left undone of a step; it is done first when the run goes on.
enum class Unfinished {
  nothing,
  validation,  // the model has not been measured
  score        // --valid-command has not scored the saved model
};

struct TrainState {
  int64_t step = 0;     // the last one taken
  int64_t skipped = 0;  // updates left out so far
  int64_t tokens = 0;   // tokens read so far, over all sides
  Unfinished unfinished = Unfinished::nothing;

  // The object of the state file. `parts` are the members that SpikePolicy, Validator and Feed keep
  // (their state()), which stand between the counters and `unfinished`.
  Json to_json(const Json& parts) const;
  // The counters of that object. Throws Json::exception where one is missing, DataError that begins
  // with `where` for an `unfinished` that this version does not know.
  static TrainState from_json(const Json& state, const std::string& where);
};

}  // namespace tx
