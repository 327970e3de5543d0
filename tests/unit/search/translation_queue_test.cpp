// Requests in, translations out: order, batches, latency, failures.
#include "lib/search/engine/translation_queue.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <thread>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

namespace {

using Clock = std::chrono::steady_clock;

struct Numbered : TranslationRequest {
  explicit Numbered(int number, int again = 0) : number(number), again(again) {}
  std::vector<size_t> finish(std::span<Source> parts, std::vector<Translation>& found) override {
    if (number == fails) throw DataError("request " + std::to_string(number));
    if (again-- > 0) {  // another of its parts each time
      const size_t part = size_t(again) % parts.size();
      parts[part].ids.push_back(parts[part].ids.front());
      return {part};
    }
    for (const Source& part : parts) ids.push_back(part.ids);
    for (const Translation& t : found) answers.push_back(exact(t));
    at = Clock::now();
    return {};
  }
  static constexpr int fails = -1;
  int number, again;
  std::vector<std::vector<int>> ids;
  std::vector<std::string> answers;
  Clock::time_point at;
};

std::unique_ptr<Numbered> take(TranslationQueue& queue) {
  return std::unique_ptr<Numbered>(static_cast<Numbered*>(queue.take().release()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(requests_of_any_number_of_parts_come_back_in_order) {
  const Translator translator = tiny_translator(options_of(3, 100));
  const std::vector<Source> sources = random_sources(400);
  const std::vector<Translation> wanted = translator.translate(sources);
  TranslationQueue queue(translator, 0);
  size_t requests = 0;
  std::thread writer([&] {
    for (size_t i = 0, number = 0; i < sources.size(); number = ++requests) {
      const size_t end = std::min(sources.size(), i + 1 + number % 3);
      queue.put(std::make_unique<Numbered>(int(number)),
                {sources.begin() + ptrdiff_t(i), sources.begin() + ptrdiff_t(end)});
      i = end;
    }
    queue.close();
  });
  size_t source = 0;
  int number = 0;
  for (; const auto request = take(queue); ++number) {
    BOOST_TEST(request->number == number);
    BOOST_TEST(request->ids.size() == request->answers.size());
    for (size_t i = 0; i < request->ids.size(); ++i, ++source) {
      BOOST_TEST(request->ids[i] == sources[source].ids, boost::test_tools::per_element());
      BOOST_TEST(request->answers[i] == exact(wanted[source]));
    }
  }
  writer.join();
  BOOST_TEST(source == sources.size());
  BOOST_TEST(size_t(number) == requests);
}

BOOST_AUTO_TEST_CASE(parts_that_a_request_changes_are_translated_again) {
  const Translator translator = tiny_translator(options_of(3, 100));
  const std::vector<Source> sources = random_sources(200);
  TranslationQueue queue(translator, 0);
  std::thread writer([&] {
    for (size_t i = 0; i + 1 < sources.size(); i += 2)
      queue.put(std::make_unique<Numbered>(int(i), int(i) % 7), {sources[i], sources[i + 1]});
    queue.close();
  });
  size_t number = 0;
  for (; const auto request = take(queue); number += 2) {
    BOOST_TEST(size_t(request->number) == number);
    size_t longer = 0;
    for (size_t k = 0; k < 2; ++k) {
      const std::vector<int>& ids = request->ids[k];
      longer += ids.size() - sources[number + k].ids.size();
      const std::vector<Source> changed = {{ids, 1, {}}};
      BOOST_TEST(request->answers[k] == exact(translator.translate(changed).front()));
    }
    BOOST_TEST(longer == number % 7);
  }
  writer.join();
  BOOST_TEST(number == sources.size());
}

BOOST_AUTO_TEST_CASE(a_batch_waits_for_the_latency_unless_it_is_full_or_the_last) {
  const Translator translator = tiny_translator(options_of(1, 64));
  const Source source{{5, 6, 7}, 1, {}};
  constexpr int hour = 3600 * 1000, most = 16 * 64 / 3 + 1;
  {
    TranslationQueue queue(translator, 100);
    const auto begin = Clock::now();
    for (int i = 0; i < 3; ++i) queue.put(std::make_unique<Numbered>(i), {source});
    for (int i = 0; i < 3; ++i)
      BOOST_TEST((take(queue)->at - begin >= std::chrono::milliseconds(100)));
  }
  {
    TranslationQueue queue(translator, hour);
    for (int i = 0; i < most; ++i) queue.put(std::make_unique<Numbered>(i), {source});
    for (int i = 0; i < most; ++i) BOOST_TEST(take(queue)->number == i);
  }
  TranslationQueue queue(translator, hour);
  queue.put(std::make_unique<Numbered>(0), {source});
  queue.close();
  BOOST_TEST(take(queue)->number == 0);
  BOOST_TEST(!take(queue));
}

BOOST_AUTO_TEST_CASE(blank_sources_are_answered_without_a_model) {
  const Translator translator = tiny_translator(options_of());
  TranslationQueue queue(translator, 0);
  queue.put(std::make_unique<Numbered>(0), {Source{}});
  queue.put(std::make_unique<Numbered>(1), {Source{}, Source{{5}, 1, {}}});
  queue.close();
  BOOST_TEST(take(queue)->answers.front() == exact(blank_translation({})));
  const auto request = take(queue);
  BOOST_REQUIRE(request->answers.size() == 2u);
  BOOST_TEST(request->answers.front() == exact(blank_translation({})));
  BOOST_TEST(request->answers.back() != request->answers.front());
}

BOOST_AUTO_TEST_CASE(a_failure_reaches_both_ends) {
  const Translator translator = tiny_translator(options_of(2));
  for (const std::vector<int>& ids : {std::vector<int>{}, {5, 6}}) {  // blank, and not
    TranslationQueue queue(translator, 0);
    queue.put(std::make_unique<Numbered>(0), {Source{{7}, 1, {}}});
    queue.put(std::make_unique<Numbered>(Numbered::fails), {Source{ids, 1, {}}});
    const auto take_all = [&] {
      while (take(queue)) {
      }
    };
    BOOST_TEST(message_of<DataError>(take_all) == "request -1");
    BOOST_TEST(queue.stopped());
    BOOST_TEST(!queue.put(std::make_unique<Numbered>(1), {Source{{7}, 1, {}}}));
  }
}

BOOST_AUTO_TEST_CASE(a_queue_that_nobody_reads_blocks_and_can_be_stopped) {
  const Translator translator = tiny_translator(options_of(1, 64));
  TranslationQueue queue(translator, 0);
  std::atomic<int> put = 0;
  std::thread writer([&] {
    while (queue.put(std::make_unique<Numbered>(put), {Source{{5, 6, 7}, 1, {}}})) ++put;
  });
  while (put == 0) std::this_thread::yield();
  for (int before = -1; before != put;) {
    before = put;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  BOOST_TEST(put < 2000);
  queue.stop();
  writer.join();
  while (const auto request = take(queue)) BOOST_TEST(request->number < put);
}

namespace {

// finish() waits until the next request is finished.
struct Waiting : TranslationRequest {
  Waiting(std::promise<void>* started, std::future<void>* until) : started(started), until(until) {}
  std::vector<size_t> finish(std::span<Source>, std::vector<Translation>&) override {
    if (started) started->set_value();
    if (until) in_time = until->wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    return {};
  }
  std::promise<void>* started;
  std::future<void>* until;
  bool in_time = true;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_request_does_not_wait_for_an_earlier_one_if_a_thread_is_left) {
  const Translator translator = tiny_translator(options_of(2));
  const Source source{{5, 6, 7}, 1, {}};
  TranslationQueue queue(translator, 0);
  std::promise<void> first, second;
  std::future<void> second_done = second.get_future();
  queue.put(std::make_unique<Waiting>(&first, &second_done), {source});
  first.get_future().wait();  // the only worker so far is busy from here on
  queue.put(std::make_unique<Waiting>(&second, nullptr), {source});
  const auto found = queue.take();
  BOOST_TEST(static_cast<const Waiting&>(*found).in_time);
}
