#include "lib/base/log.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::run_in_child;

BOOST_AUTO_TEST_CASE(every_line_carries_the_name) {
  const auto child = run_in_child([] {
    const Log log("tx-x");
    log.info("one\ntwo");
    log.warn("careful");
    log.error("broken");
    log.live("not a terminal");
    return 0;
  });
  BOOST_TEST(child.err == "tx-x: one\ntx-x: two\ntx-x: warning: careful\ntx-x: broken\n");
  BOOST_TEST(child.out == "");
}

BOOST_AUTO_TEST_CASE(quiet_leaves_out_information_alone) {
  const auto child = run_in_child([] {
    const Log log("tx-x", true);
    log.info("talk");
    log.warn("careful");
    log.error("broken");
    return 0;
  });
  BOOST_TEST(child.err == "tx-x: warning: careful\ntx-x: broken\n");
}

BOOST_AUTO_TEST_CASE(lost_stderr_is_no_error) {
  const auto child = run_in_child([] {
    close(2);
    Log("tx-x").info("into the void");
    return 0;
  });
  BOOST_TEST(child.status == 0);
}

BOOST_AUTO_TEST_CASE(untrusted_text_is_escaped) {
  const auto child = run_in_child([] {
    const Log log("tx-x");
    log.info("a\x1B[2Jb");
    log.warn("FILE\ntx-x: all is well");
    log.error(DataError("FILE\n\xE2\x80\xAE: bad").what());
    log.error(Error("FILE\n: bad", "what to do").what());
    return 0;
  });
  BOOST_TEST(child.err ==
             "tx-x: a\\u001b[2Jb\ntx-x: warning: FILE\\ntx-x: all is well\n"
             "tx-x: FILE\\n\\u202e: bad\ntx-x: FILE\\n: bad\ntx-x: what to do\n");
}
