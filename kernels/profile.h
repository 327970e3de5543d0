// Where a backend's time goes (tx-train --profile): calls of kernels counted under the names of
// groups, with the bytes that they move and the products that they compute. A backend measures the
// time. Free of CUDA and OpenMP.
#pragma once
#include <map>
#include <string>

#include "kernels/roofline.h"

namespace tx {

class GroupTimes {
 public:
  // `group` takes the same words on every backend; "fp32" in it chooses that rate.
  void count(const std::string& group, Work work) { ++groups_[group].calls[work]; }
  void add(const std::string& group, double seconds) { groups_[group].seconds += seconds; }
  double seconds() const;  // of all groups
  // One line per group, the longest first: calls, milliseconds, the roofline's least time, and that
  // over the time taken. Of `whole` seconds, where they are given, what no group took, and all.
  std::string lines(const Rates& rates, double whole = 0) const;

 private:
  struct Group {
    std::map<Work, int64_t> calls;
    double seconds = 0;
  };
  std::map<std::string, Group> groups_;
};

}  // namespace tx
