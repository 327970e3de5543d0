// When a checkpoint is due, the order of a save, which checkpoints are kept; the saver, which
// writes at once on the CPU; the counters of a training state.
#include "lib/train/run/checkpointer.h"

#include <boost/test/unit_test.hpp>
#include <deque>
#include <new>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/state_file.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;

namespace {

struct Fixture {
  tx_test::TempFolder folder;
  tx_test::SampleModel model;
  Vocabularies vocabularies{model.words, 2};
  RunDirectory run = RunDirectory::create(folder / "run");
  double now = 1000;
  std::vector<int64_t> told;
  Json config = Json::object();
  std::deque<TrainOptions> options;

  Checkpointer make(int keep, int64_t save_every, double save_minutes, Saver::Gather gather = {}) {
    TrainOptions& of = options.emplace_back();
    of.keep = keep;
    of.save_every = save_every;
    of.save_minutes = save_minutes;
    return Checkpointer(
        run, model.parameters, vocabularies, of, config,
        [this](int64_t step) { told.push_back(step); }, std::move(gather), [this] { return now; });
  }
  static Checkpointer::Content content(int64_t step, int64_t best = -1, int64_t good = 0) {
    return {step, Json{{"step", step}}, Json{{"step", step}}, best, good};
  }
  bool whole(int64_t step) const {
    return file_exists(run.model(step)) && file_exists(run.state(step));
  }
  std::string link(const std::string& name) const {
    const std::string path = run.file(name + ".safetensors");
    return std::filesystem::is_symlink(path) ? std::filesystem::read_symlink(path).string() : "";
  }
};

using Steps = std::vector<int64_t>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(checkpointer, Fixture)

BOOST_AUTO_TEST_CASE(due_by_steps_or_by_the_clock) {
  const Checkpointer steps = make(5, 10, 2);
  BOOST_TEST((steps.due(10) && steps.due(20) && !steps.due(11)));
  const Checkpointer clock = make(5, 0, 2);
  BOOST_TEST((!clock.overdue() && !clock.due(10)));
  now += 120;
  BOOST_TEST((clock.overdue() && clock.due(11)));
  BOOST_TEST((steps.overdue() && !steps.due(11)));  // a safety save, not a scheduled one
  const Checkpointer never = make(5, 10, 0);
  now += 1e6;
  BOOST_TEST(!never.overdue());
}

BOOST_AUTO_TEST_CASE(a_save_starts_the_clock_anew) {
  Checkpointer c = make(5, 0, 1);
  now += 60;
  BOOST_TEST(c.overdue());
  c.save(content(3));
  BOOST_TEST(!c.overdue());
}

BOOST_AUTO_TEST_CASE(saved_models_are_linked_and_logged) {
  Checkpointer c = make(5, 10, 0);
  BOOST_TEST(c.saved() == -1);
  c.save(content(10, 10, 11));
  BOOST_TEST(whole(10));
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(told == Steps{10}, boost::test_tools::per_element());
  BOOST_TEST(link("last") == "model-10.safetensors");
  BOOST_TEST(link("best") == "model-10.safetensors");
  c.save(content(20, 10, 21));
  BOOST_TEST(link("last") == "model-20.safetensors");
  BOOST_TEST(link("best") == "model-10.safetensors");
  BOOST_TEST(to_text(read_state(run.state(20))) == R"({"step":20})");
}

BOOST_AUTO_TEST_CASE(the_newest_of_the_schedule_stay_with_the_best_and_the_last_good_one) {
  Checkpointer c = make(2, 10, 0);
  for (const int64_t step : {0, 10, 20, 30, 35, 40}) c.save(content(step, 10, step + 1));
  BOOST_TEST(run.complete_steps() == (Steps{10, 30, 40}), boost::test_tools::per_element());
  c.save(content(45, 10, 35));  // by a signal; weights are only known good before step 35
  BOOST_TEST(run.complete_steps() == (Steps{10, 30, 40, 45}), boost::test_tools::per_element());
  BOOST_TEST(c.newest_on_schedule(41) == 40);
  BOOST_TEST(c.newest_on_schedule(40) == 30);
  BOOST_TEST(c.newest_on_schedule(30) == -1);  // that of step 20 was removed
}

BOOST_AUTO_TEST_CASE(a_former_schedule_counts_for_its_steps) {
  config["saves_before"] = {{{"until", 12}, {"every", 4}}, {{"until", 20}, {"every", 5}}};
  Checkpointer c = make(3, 10, 0);
  for (const int64_t step : {4, 8, 10, 15, 18, 20, 30}) c.save(content(step, -1, 0));
  BOOST_TEST(run.complete_steps() == (Steps{15, 20, 30}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_model_is_scored_between_its_model_and_its_state) {
  Checkpointer c = make(5, 10, 0);
  c.save_scored(content(10), [&](const Checkpointer::WriteState& write_state) {
    BOOST_TEST(file_exists(run.model(10)));
    BOOST_TEST(!file_exists(run.state(10)));
    Checkpointer::Content scored = content(10, 10);
    scored.state["score"] = 27;
    write_state(scored);
    BOOST_TEST(whole(10));
  });
  BOOST_TEST(to_text(read_state(run.state(10))) == R"({"step":10,"score":27})");
  BOOST_TEST(link("best") == "model-10.safetensors");
  c.score_again(10, [&](const Checkpointer::WriteState& write_state) { write_state(content(10)); });
  BOOST_TEST(to_text(read_state(run.state(10))) == R"({"step":10})");
}

BOOST_AUTO_TEST_CASE(a_save_that_fails_leaves_the_checkpoint_before_it) {
  Checkpointer c = make(5, 10, 0);
  c.save(content(10));
  const auto fail = [](const Checkpointer::WriteState&) { throw Error("no shell"); };
  BOOST_CHECK_THROW(c.save_scored(content(20), fail), Error);
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(!file_exists(run.model(20)));
  BOOST_TEST(c.resume_hint().starts_with("the checkpoint of step 10 is complete; resume with: "));
  // A failure after both files are written removes nothing.
  const auto late = [](const Checkpointer::WriteState& write_state) {
    write_state(content(30));
    throw Error("no score");
  };
  BOOST_CHECK_THROW(c.save_scored(content(30), late), Error);
  BOOST_TEST(c.saved() == 30);
  BOOST_TEST(whole(30));
  BOOST_TEST(told == Steps{10}, boost::test_tools::per_element());
  std::filesystem::remove(run.model(30));
  BOOST_TEST(c.resume_hint().starts_with("the checkpoint of step 30 is missing too: "));
}

BOOST_AUTO_TEST_CASE(a_save_that_cannot_begin_is_not_reported) {
  bool broken = false;
  Checkpointer c = make(5, 10, 0, [&] {
    if (broken) throw Error("rank 1 is gone");
    return model.parameters.optimizer_state();
  });
  c.save(content(10));
  broken = true;
  BOOST_CHECK_THROW(c.save(content(20)), Error);
  c.finish_save();
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(told == Steps{10}, boost::test_tools::per_element());
  BOOST_TEST(c.resume_hint().starts_with("the checkpoint of step 10 is complete; resume with: "));
  broken = false;
  c.save(content(30));
  BOOST_TEST(c.saved() == 30);
}

// For example, the write runs out of memory.
BOOST_AUTO_TEST_CASE(a_save_that_fails_with_another_exception_leaves_no_half_checkpoint) {
  Checkpointer c = make(5, 10, 0);
  c.save(content(10));
  const auto fail = [](const Checkpointer::WriteState&) { throw std::bad_alloc(); };
  BOOST_CHECK_THROW(c.save_scored(content(20), fail), std::bad_alloc);
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(!file_exists(run.model(20)));
}

BOOST_AUTO_TEST_CASE(going_back_removes_what_came_later) {
  Checkpointer c = make(5, 10, 0);
  for (const int64_t step : {10, 20, 30}) c.save(content(step, 20));
  c.go_back(10, -1);
  BOOST_TEST(c.saved() == 10);
  BOOST_TEST(run.complete_steps() == Steps{10}, boost::test_tools::per_element());
  BOOST_TEST(link("last") == "model-10.safetensors");
  BOOST_TEST(link("best") == "");
}

BOOST_AUTO_TEST_CASE(a_run_that_was_killed_before_its_links_gets_them) {
  {
    Checkpointer c = make(5, 10, 0);
    for (const int64_t step : {10, 20, 30}) c.save(content(step, 20));
  }
  run.unlink("last");
  run.unlink("best");
  Checkpointer c = make(1, 10, 0);
  c.resume(30, 20, 0, 2);  // the earlier value of --keep
  BOOST_TEST(c.saved() == 30);
  BOOST_TEST(link("last") == "model-30.safetensors");
  BOOST_TEST(link("best") == "model-20.safetensors");
  BOOST_TEST(run.complete_steps() == (Steps{20, 30}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct SaverFixture {
  Backend backend = make_backend(Device::cpu, 1);
  Parameters parameters;
  Saver saver;
  SaverFixture()
      : parameters(Parameters::for_training(backend, tx_test::small_config(), DType::f32)),
        saver(parameters) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(saver, SaverFixture)

BOOST_AUTO_TEST_CASE(the_cpu_writes_at_once_and_takes_no_memory) {
  BOOST_TEST(Saver::bytes(parameters) == 0u);
  const Parameters* given = nullptr;
  saver.begin([&](const Parameters& p, const OptimizerState&) { given = &p; });
  BOOST_TEST((given == &parameters && saver.done()));
  saver.finish();
}

BOOST_AUTO_TEST_CASE(a_failure_is_thrown_once_and_another_save_may_follow) {
  saver.begin(
      [](const Parameters&, const OptimizerState&) { throw std::runtime_error("no room"); });
  BOOST_TEST(saver.done());
  BOOST_CHECK_THROW(saver.finish(), std::runtime_error);
  saver.finish();
  bool written = false;
  saver.begin([&](const Parameters&, const OptimizerState&) { written = true; });
  saver.finish();
  BOOST_TEST(written);
}

BOOST_AUTO_TEST_CASE(a_failure_that_was_not_asked_for_stops_the_next_save) {
  saver.begin(
      [](const Parameters&, const OptimizerState&) { throw std::runtime_error("no room"); });
  BOOST_CHECK_THROW(saver.begin([](const Parameters&, const OptimizerState&) {}), Bug);
  BOOST_CHECK_THROW(saver.finish(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(the_optimizer_state_is_gathered_when_the_save_begins) {
  OptimizerState whole = parameters.optimizer_state();
  std::swap(whole.first, whole.second);
  Saver of_ranks(parameters, [&] { return whole; });
  OptimizerState given;
  of_ranks.begin([&](const Parameters&, const OptimizerState& m) { given = m; });
  BOOST_TEST((given.first.data == whole.first.data && given.second.data == whole.second.data));
  of_ranks.finish();
  saver.begin([&](const Parameters&, const OptimizerState& m) { given = m; });
  BOOST_TEST(given.first.data == parameters.moment1().data);
  saver.finish();
}

BOOST_AUTO_TEST_SUITE_END()

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

BOOST_AUTO_TEST_CASE(missing_and_unknown_files_are_reported) {
  Json json = TrainState{}.to_json(Json::object());
  json["unfinished"] = "breakfast";
  BOOST_CHECK_EXCEPTION(TrainState::from_json(json, "state-0"), DataError, [](const Error& e) {
    return std::string(e.what()).starts_with(
        "state-0: the run stopped with its breakfast unfinished");
  });
  for (const char* key : {"step", "skipped", "tokens"}) {
    Json without = TrainState{}.to_json(Json::object());
    without.erase(key);
    BOOST_CHECK_THROW(TrainState::from_json(without, ""), DataError);
    for (const Json& odd : {Json(1e308), Json(1.5), Json("1"), Json(nullptr), Json(UINT64_MAX)}) {
      without[key] = odd;
      BOOST_CHECK_THROW(TrainState::from_json(without, ""), DataError);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
