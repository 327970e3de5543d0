// The background thread of a rank that sends and receives heartbeats, and reports why a run ends.
// Messages go through rank 0: a failure is sent to rank 0, which sends all others the end of the
// run. All messages are small enough for MPI to send eagerly; none waits for the training thread.
#pragma once
#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "lib/base/first_error.h"
#include "lib/ranks/communicator.h"
#include "lib/ranks/mpi/calls.h"
#include "lib/ranks/pulse.h"

namespace tx::mpi {

class Watch {
 public:
  // `ranks`: a communicator for this object only. Not under lock().
  Watch(MPI_Comm ranks, std::vector<RankCard> cards, const std::string& tool);
  ~Watch();  // ends the thread
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::vector<RankCard>& cards() const { return cards_; }
  // Throws Error if the run must end; for calls that wait.
  void check();
  bool failed_elsewhere() const { return failed_; }
  int end(int status, const std::string& why);  // as World::end()
  void send_number(int number);
  int received_number() const { return received_number_; }

 private:
  struct Sent {  // not yet complete
    MPI_Request request = MPI_REQUEST_NULL;
    int to = 0, tag = 0;
    std::string bytes;
  };

  bool first() const { return me_ == 0; }
  void run();
  void turn(int64_t number);
  void send(int to, int tag, std::string bytes);
  void finish_sends();
  void receive();
  void take(int from, int tag, const std::string& bytes);
  void beat();
  void find_dead_ranks();
  void lose(int rank, const std::string& how);
  void note(const std::string& what);
  void hurry();
  int end_all(int status);
  int end_here(const std::string& why);
  template <class Condition>
  bool within(int turns, const Condition& condition);
  std::string name(int rank) const;
  void say(const std::string& what) const;
  [[noreturn]] void abort(int status) const;

  MPI_Comm ranks_;
  std::vector<RankCard> cards_;
  std::string tool_;
  int me_ = 0;
  Pulse pulse_;
  // Under lock():
  std::list<Sent> sent_;
  std::string failure_;  // the first failure that this rank found or received
  int done_ = 0;         // on rank 0: how many others have ended
  int late_ = 0;         // turns since the run ended without the training thread noticing
  int turns_without_rank_0_ = 0;
  // Read by the training thread:
  std::atomic<bool> failed_ = false;  // failure_ is set
  std::atomic<bool> taken_ = false;   // the training thread has thrown it
  std::atomic<bool> ending_ = false;  // this rank is ending and reports nothing more
  std::atomic<int> status_ = -1;      // the exit status that rank 0 sent; -1: none
  std::atomic<int> received_number_ = 0;
  std::atomic<int64_t> turns_ = 0;
  std::atomic<bool> stop_ = false;
  FirstError thread_error_;
  std::thread thread_;
};

}  // namespace tx::mpi
