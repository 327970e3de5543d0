// --replay reproduces the step of a flight record bit for bit, or reports what differs.
#include <cstdio>

#include "lib/base/error.h"
#include "lib/checkpoint/state_file.h"
#include "lib/diagnose/training.h"
#include "lib/train/run/flight.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

TrainOptions options_of(const std::string& file) {
  TrainOptions o;
  o.replay = file;
  o.device = Device::cpu;
  o.precision = Precision::fp32;
  o.threads = 1;  // a forked process has no OpenMP threads
  return o;
}

// Records a step that was held because of its loss, changes the record, and runs replay(); status 3
// is a DataError.
ChildResult replayed(const TinyText& text, const std::function<void(Json& facts)>& change) {
  const std::string file = text.folder / "flight";
  const TrainOptions options = options_of(file);
  {
    TinyModel m(options, int(text.words->size()), text.capacities);
    const StepRecord record = m.stepper.step(text.batches, 9, 0.01, 1.0);
    BOOST_TEST(record.spike == 1);
    Json facts = flight_facts(record, text.batches, m.parameters);
    change(facts);
    save_flight(file, m.parameters, facts);
  }
  return run_in_child([&] {
    try {
      return replay(options, Log("tx-train"));
    } catch (const DataError& e) {
      std::fputs(e.what(), stderr);
      return 3;
    }
  });
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(replaying, TinyText)

BOOST_AUTO_TEST_CASE(the_same_bits) {
  const ChildResult result = replayed(*this, [](Json&) {});
  BOOST_TEST(result.status == 0);
  BOOST_TEST(result.err == "tx-train: bit-identical to the record\n");
  BOOST_TEST(result.out.starts_with("step 9, spike: loss "));
  BOOST_TEST(result.out.find("\ntensor\tweight norm\tgradient norm\tnot finite\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_figure) {
  const ChildResult result = replayed(*this, [](Json& facts) { facts["result"]["loss"] = 1.5; });
  BOOST_TEST(result.status == 1);
  BOOST_TEST(result.err.find("differs from the record: loss is ") != std::string::npos);
  BOOST_TEST(result.err.find(" instead of 1.5; ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_damaged_record) {
  const auto refused = [&](const std::function<void(Json&)>& change) {
    return replayed(*this, change).status == 3;
  };
  BOOST_TEST(refused([](Json& facts) { facts["batches"] = Json::array(); }));
  BOOST_TEST(refused([](Json& facts) { facts["batches"][0]["sides"][0]["ids"][0] = 1 << 20; }));
  BOOST_TEST(refused([](Json& facts) { facts["batches"][0]["sides"][1]["offsets"][0] = 1; }));
  BOOST_TEST(refused([](Json& facts) { facts.erase("rate"); }));
}

BOOST_AUTO_TEST_CASE(damaged_links) {
  const auto status = [&](const std::function<void(Json & starts, Json & columns)>& change) {
    return replayed(*this,
                    [&](Json& facts) {
                      Json& batch = facts["batches"][0];
                      Json& links = batch["links"];
                      links = {{"starts", std::vector<int>(batch["labels"].size() + 1, 1)},
                               {"columns", {0}}};
                      links["starts"][0] = 0;
                      change(links["starts"], links["columns"]);
                    })
        .status;
  };
  BOOST_TEST(status([](Json&, Json&) {}) == 0);
  BOOST_TEST(status([](Json&, Json& columns) { columns[0] = -1; }) == 3);
  BOOST_TEST(status([](Json&, Json& columns) { columns[0] = 200; }) == 3);
  BOOST_TEST(status([](Json&, Json& columns) { columns.push_back(0); }) == 3);
  BOOST_TEST(status([](Json& starts, Json&) { starts[0] = 1; }) == 3);
  BOOST_TEST(status([](Json& starts, Json&) { starts[5] = 0; }) == 3);
  BOOST_TEST(status([](Json& starts, Json&) { starts.push_back(1); }) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
