// The counters of a state file, both ways.
#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/train/run/checkpointer.h"

using namespace tx;

BOOST_AUTO_TEST_SUITE(train_state)

BOOST_AUTO_TEST_CASE(the_members_keep_their_order) {
  const TrainState s{7, 1, 900, Unfinished::nothing};
  BOOST_TEST(to_text(s.to_json(Json{{"incidents", 2}, {"packer", {{"epoch", 3}}}})) ==
             R"({"step":7,"skipped":1,"tokens":900,"incidents":2,"packer":{"epoch":3}})");
  const TrainState stopped{7, 1, 900, Unfinished::score};
  BOOST_TEST(to_text(stopped.to_json(Json{{"incidents", 2}})) ==
             R"({"step":7,"skipped":1,"tokens":900,"incidents":2,"unfinished":"score"})");
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const Unfinished left : {Unfinished::nothing, Unfinished::validation, Unfinished::score}) {
    const TrainState s{12, 3, 4567, left};
    const Json json = parse_json(to_text(s.to_json(Json{{"packer", 1}})), "state");
    const TrainState again = TrainState::from_json(json, "state-12");
    BOOST_TEST((again.step == 12 && again.skipped == 3 && again.tokens == 4567));
    BOOST_TEST((again.unfinished == left));
    BOOST_TEST(to_text(again.to_json(Json{{"packer", 1}})) == to_text(json));
  }
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_unknown_is_told) {
  Json json = TrainState{}.to_json(Json::object());
  json["unfinished"] = "breakfast";
  BOOST_CHECK_EXCEPTION(TrainState::from_json(json, "state-0"), DataError, [](const Error& e) {
    return std::string(e.what()).starts_with(
        "state-0: the run stopped with its breakfast unfinished");
  });
  for (const char* key : {"step", "skipped", "tokens"}) {
    Json without = TrainState{}.to_json(Json::object());
    without.erase(key);
    BOOST_CHECK_THROW(TrainState::from_json(without, ""), Json::exception);
  }
}

BOOST_AUTO_TEST_SUITE_END()
