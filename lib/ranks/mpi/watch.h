// The thread that beats for a rank, hears the others, and passes on why a run ends. What is sent
// goes through rank 0: a failure to it, and from it to all that the run ends. All of it is small
// enough to be under way at once, and none of it waits for the thread that trains.
#pragma once
#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "lib/base/first_error.h"
#include "lib/ranks/mpi/calls.h"
#include "lib/ranks/pulse.h"
#include "lib/ranks/world.h"

namespace tx::mpi {

class Watch {
 public:
  // `ranks`: of this watch alone. Not under lock().
  Watch(MPI_Comm ranks, std::vector<RankCard> cards, const std::string& tool);
  ~Watch();  // stops listening
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::vector<RankCard>& cards() const { return cards_; }
  // Throws Error where the run has to end; for calls that wait.
  void check();
  bool failed_elsewhere() const { return failed_; }
  int end(int status, const std::string& why);  // as World::end()
  void tell(int number);
  int told() const { return told_; }

 private:
  struct Sent {  // on its way
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
  void look_for_the_dead();
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
  std::string failure_;  // what was found or told first
  int done_ = 0;         // of rank 0: the others that end
  int late_ = 0;         // turns in which the thread that trains has not heard that the run ends
  int turns_without_rank_0_ = 0;
  // Read by the thread that trains:
  std::atomic<bool> failed_ = false;  // failure_ is set
  std::atomic<bool> taken_ = false;   // and the thread that trains knows
  std::atomic<bool> ending_ = false;  // this rank ends, and reports nothing any more
  std::atomic<int> status_ = -1;      // that rank 0 said the run ends with
  std::atomic<int> told_ = 0;
  std::atomic<int64_t> turns_ = 0;
  std::atomic<bool> stop_ = false;
  FirstError lost_;  // of the thread
  std::thread thread_;
};

}  // namespace tx::mpi
