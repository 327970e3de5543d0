// One process as one of the ranks of a training: joining the others, and one message and an end for
// all of them where one fails.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "lib/ranks/communicator.h"

namespace tx {

class Team {
 public:
  explicit Team(std::string tool) : tool_(std::move(tool)) {}
  // All ranks, which wait for each other here once; null where the process stands alone. Error, of
  // one rank, where it has another tx than rank 0.
  World* join();
  // What is done from here on is for rank 0 alone, without the others, as are the processes it
  // starts; true where this is another rank, which has nothing to do.
  bool left_to_rank_0();

 private:
  friend int run_as_rank(const char* tool, const std::function<int(Team&)>& body);
  int fail();
  std::string tool_;
  std::unique_ptr<World> world_;
  bool alone_ = false;  // left_to_rank_0() was called: no other rank waits for this one
};

// What a tool of several ranks does within run_tool(). Where `body` throws on some of them, or
// never comes to its end because a rank is gone, the run of all ends, and rank 0 says why, of
// another rank with its number and host. Returns the exit status. What rank 0 throws where it was
// left alone is thrown on, as by a process that stands alone.
int run_as_rank(const char* tool, const std::function<int(Team&)>& body);

}  // namespace tx
