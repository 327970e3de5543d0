#!/bin/sh
# Runs the tests of a build directory and prints their numbers:
#   sh tests/check.sh BUILD [arguments of ctest, such as -L unit or -LE slow]
# A skipped test is a failure unless it has the label gpu (no GPU), peer (no software to compare
# with), browser (no Chromium), node (no Node.js), terminal (no pseudo-terminal), mpi (no mpirun) or
# wheel (no auditwheel).
set -u
build=${1:?"usage: tests/check.sh BUILD [ctest arguments]"}
shift
jobs=$(nproc 2> /dev/null || echo 2)
log=$(mktemp "${TMPDIR:-/tmp}/tx-check.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP

# A file passes the status of ctest through the pipe.
{
  ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error "$@" 2>&1
  echo $? > "$log.status"
} | tee "$log"
status=$(cat "$log.status")
rm -f "$log.status"

# Lines such as "  3/41 Test  #3: unit-base ...   Passed    0.31 sec", or "***Failed",
# "***Skipped".
count() { grep -cE "^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*$1" "$log"; }
passed=$(count ' Passed +[0-9.]+ sec$')
skipped=$(count '\*\*\*Skipped ')
failed=$(count '\*\*\*(Failed|Timeout|Exception|Not Run)')

may_skip=$(ctest --test-dir "$build" -N -L 'gpu|peer|browser|node|terminal|mpi|wheel' | sed -n 's/^ *Test *#[0-9]*: //p')
line='^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*Skipped .*'
for name in $(sed -nE "s/$line/\1/p" "$log"); do
  case " $(echo $may_skip) " in
    *" $name "*) ;;
    *)
      echo "$name: was skipped, which only tests labelled gpu, peer, browser, node, terminal, mpi or wheel may be"
      status=1
      ;;
  esac
done
[ "$passed" -gt 0 ] || status=1
[ "$failed" -eq 0 ] || status=1
echo "$passed tests passed, $failed failed, $skipped skipped"
[ "$status" -eq 0 ]
