// The main() of every Boost.Test executable. Beside failures it refuses what would look like a
// pass: a case that is switched off, and a case that checked nothing. A case whose precondition
// does not hold on this machine is skipped and named. An executable for the GPU (TX_TEST_DEVICE is
// set) ends with status 77 on a machine without one, before any case.
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>
#include <iostream>

#ifdef TX_TEST_DEVICE
#include "kernels/backend.h"
#endif

namespace ut = boost::unit_test;

namespace {

struct Inspector : ut::test_tree_visitor {
  int cases = 0, faults = 0;

  void visit(const ut::test_case& test) override {
    ++cases;
    const auto& result = ut::results_collector.results(test.p_id);
    const bool off = test.p_default_status == ut::test_unit::RS_DISABLED;
    const bool ran = test.p_run_status == ut::test_unit::RS_ENABLED && !result.p_skipped;
    const bool checked = result.p_assertions_passed + result.p_assertions_failed > 0;
    if (!off && test.p_run_status == ut::test_unit::RS_ENABLED && result.p_skipped)
      std::cerr << test.full_name() << ": skipped, its precondition does not hold\n";
    if (!off && (!ran || checked)) return;
    ++faults;
    std::cerr << test.full_name() << (off ? ": is switched off\n" : ": checks nothing\n");
  }
};

bool list_only(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--list_content") || word.starts_with("--help")) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef TX_TEST_DEVICE
  const std::string reason = tx::no_gpu_reason();
  if (!reason.empty()) {
    std::cerr << "skipped: " << reason << "\n";
    return 77;
  }
#endif
  const int status = ut::unit_test_main([] { return true; }, argc, argv);
  if (status != 0 || list_only(argc, argv)) return status;
  Inspector inspector;
  ut::traverse_test_tree(ut::framework::master_test_suite(), inspector, true);
  if (inspector.cases == 0) std::cerr << "no test case\n";
  return inspector.cases > 0 && inspector.faults == 0 ? 0 : 1;
}
