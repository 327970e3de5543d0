#include "lib/ranks/mpi/watch.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/log.h"

namespace tx::mpi {

namespace {

enum Tag { beat_tag, failure_tag, end_tag, done_tag, number_tag };

constexpr auto turn_length = std::chrono::milliseconds(100);
constexpr int turns_per_beat = 10;
// In turns. answer: the wait for another rank to confirm that it ends. grace: after it a rank that
// still computes or saves is killed. next_reports: how much longer each rank waits than the rank
// below it before it reports that rank 0 was killed.
constexpr int answer = 20, grace = 80, next_reports = 15;
constexpr size_t max_text = 2000;  // bytes of a failure, which MPI sends eagerly

std::string bytes_of(int number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

int number_of(const std::string& bytes) {
  int number = 0;
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

}  // namespace

Watch::Watch(MPI_Comm ranks, std::vector<RankCard> cards, const std::string& tool)
    : ranks_(ranks),
      cards_(std::move(cards)),
      tool_(tool),
      me_([&] {
        int rank = 0;
        MPI_Comm_rank(ranks, &rank);
        return rank;
      }()),
      pulse_(me_, int(cards_.size())) {
  thread_ = start_without_signals(thread_error_, [this] { run(); });
}

Watch::~Watch() {
  stop_ = true;
  thread_.join();
}

void Watch::run() {
  while (!stop_) {
    std::this_thread::sleep_for(turn_length);
    const std::lock_guard guard(lock());
    try {
      turn(turns_);
    } catch (const std::exception& e) {
      if (!ending_) note(name(me_) + ": " + e.what());
    }
    ++turns_;
  }
}

void Watch::turn(int64_t number) {
  receive();
  finish_sends();
  if (!ending_ && status_ < 0) find_dead_ranks();
  if (number % turns_per_beat == 0) beat();
  hurry();
}

void Watch::send(int to, int tag, std::string bytes) {
  Sent& sent = sent_.emplace_back();
  sent.to = to;
  sent.tag = tag;
  sent.bytes = std::move(bytes);
  mpi::check(MPI_Isend(sent.bytes.data(), int(sent.bytes.size()), MPI_BYTE, to, tag, ranks_,
                       &sent.request),
             "MPI_Isend");
}

void Watch::finish_sends() {
  for (auto sent = sent_.begin(); sent != sent_.end();) {
    int done = 0;
    mpi::check(MPI_Test(&sent->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    sent = done ? sent_.erase(sent) : std::next(sent);
  }
}

void Watch::receive() {
  for (;;) {
    int there = 0, size = 0;
    MPI_Status status;
    mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_, &there, &status), "MPI_Iprobe");
    if (!there) return;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes(size_t(size), '\0');
    mpi::check(MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, ranks_,
                        MPI_STATUS_IGNORE),
               "MPI_Recv");
    take(status.MPI_SOURCE, status.MPI_TAG, bytes);
  }
}

void Watch::take(int from, int tag, const std::string& bytes) {
  pulse_.heard(from);
  if (tag == failure_tag) note(bytes);
  if (tag == done_tag) ++done_;
  if (tag == end_tag) {
    status_ = number_of(bytes);
    late_ = 0;
  }
  if (tag == number_tag) received_number_ = number_of(bytes);
}

// Sends no further heartbeat while one is pending.
void Watch::beat() {
  for (const int peer : pulse_.peers()) {
    bool pending = false;
    for (const Sent& sent : sent_) pending |= sent.to == peer && sent.tag == beat_tag;
    if (!pending) send(peer, beat_tag, "");
  }
  const int silent = pulse_.beat();
  if (silent >= 0 && !ending_ && status_ < 0)
    lose(silent, " has not responded for " + std::to_string(Pulse::patience) +
                     " s: its process is stopped, or its machine or the network is down");
}

// Finds killed ranks of this machine. If rank 0 was, the lowest reports it: others wait longer.
void Watch::find_dead_ranks() {
  const RankCard& mine = cards_[size_t(me_)];
  for (int r = 0; r < int(cards_.size()); ++r) {
    const RankCard& card = cards_[size_t(r)];
    const bool near = mine.process_space != 0 && card.process_space == mine.process_space &&
                      std::strcmp(card.host, mine.host) == 0;
    if (r == me_ || !near || ::kill(pid_t(card.process), 0) == 0 || errno != ESRCH) continue;
    if (r > 0 || turns_without_rank_0_++ >= next_reports * (me_ - 1))
      lose(r, " ended without an error message: it was probably killed");
  }
}

// If rank 0 is lost, this rank reports it.
void Watch::lose(int rank, const std::string& how) {
  note(name(rank) + how);
  if (rank > 0 || first()) return;
  say(failure_);
  abort(1);
}

// Rank 0 keeps the first failure for its training thread; the others send it to rank 0.
void Watch::note(const std::string& what) {
  if (ending_ || failed_ || status_ >= 0) return;
  failure_ = what;
  failed_ = true;
  if (!first()) send(0, failure_tag, what.substr(0, max_text));
}

// Once the run must end: ends the process if the training thread does not do so within `grace`.
void Watch::hurry() {
  const bool must_end = first() ? failed_ && !taken_ : status_ >= 0;
  if (ending_ || !must_end || ++late_ <= grace) return;
  if (first()) {
    say(failure_);
    abort(1);
  }
  remove_temporaries();
  ::_exit(status_);
}

void Watch::check() {
  if (status_ >= 0) throw Error("rank 0 ended the run");
  if (!failed_ || !first()) return;
  taken_ = true;
  const std::lock_guard guard(lock());
  throw Error(failure_);
}

int Watch::end(int status, const std::string& why) {
  return first() ? end_all(status) : end_here(why);
}

int Watch::end_all(int status) {
  {
    const std::lock_guard guard(lock());
    ending_ = true;
    for (size_t r = 1; r < cards_.size(); ++r) send(int(r), end_tag, bytes_of(status));
  }
  const int others = int(cards_.size()) - 1;
  if (within(answer, [&] { return done_ == others; })) return status;
  const std::lock_guard guard(lock());
  abort(status);
}

int Watch::end_here(const std::string& why) {
  {
    const std::lock_guard guard(lock());
    note(name(me_) + ": " + why);
  }
  while (!within(answer, [&] { return status_ >= 0; })) continue;
  {
    const std::lock_guard guard(lock());
    ending_ = true;
    send(0, done_tag, "");
  }
  within(answer, [&] { return sent_.empty(); });
  return status_;
}

// Waits up to `turns` for the condition, which is checked under lock().
template <class Condition>
bool Watch::within(int turns, const Condition& condition) {
  const int64_t end = turns_ + turns;
  for (;;) {
    {
      const std::lock_guard guard(lock());
      if (condition()) return true;
      if (turns_ > end) return false;
    }
    std::this_thread::sleep_for(turn_length / 10);
  }
}

void Watch::send_number(int number) {
  const std::lock_guard guard(lock());
  for (size_t r = 1; r < cards_.size(); ++r) send(int(r), number_tag, bytes_of(number));
}

std::string Watch::name(int rank) const { return name_of_rank(rank, cards_[size_t(rank)].host); }

void Watch::say(const std::string& what) const { Log(tool_).error(what); }

void Watch::abort(int status) const {
  remove_temporaries();
  MPI_Abort(MPI_COMM_WORLD, status);
  ::_exit(status);
}

}  // namespace tx::mpi
