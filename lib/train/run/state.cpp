#include "lib/train/run/state.h"

#include "lib/base/error.h"

namespace tx {

namespace {

constexpr std::pair<Unfinished, const char*> names[] = {{Unfinished::nothing, ""},
                                                        {Unfinished::validation, "validation"},
                                                        {Unfinished::score, "score"}};

}  // namespace

Json TrainState::to_json(const Json& parts) const {
  Json state{{"step", step}, {"skipped", skipped}, {"tokens", tokens}};
  state.update(parts);
  for (const auto& [value, name] : names)
    if (value == unfinished && *name) state["unfinished"] = name;
  return state;
}

TrainState TrainState::from_json(const Json& state, const std::string& where) {
  TrainState s;
  s.step = state.at("step").get<int64_t>();
  s.skipped = state.at("skipped").get<int64_t>();
  s.tokens = state.at("tokens").get<int64_t>();
  const auto left = state.value("unfinished", std::string());
  for (const auto& [value, name] : names) {
    if (left != name) continue;
    s.unfinished = value;
    return s;
  }
  throw DataError(
      where + ": its step was left with the " + left +
      " unfinished, which this version does not know: resume with the one that wrote it");
}

}  // namespace tx
