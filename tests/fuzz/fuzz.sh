#!/bin/sh
# Builds the fuzz targets with clang and runs each, JOBS (1) at a time:
#   JOBS=2 sh tests/fuzz/fuzz.sh BUILD [SECONDS [NAME...]]
# What is found stays in BUILD/fuzz/NAME/, new inputs in BUILD/fuzz/NAME/corpus. Ends with a line a
# target: how many inputs it ran, and a status of 1 when one of them did harm.
set -eu
build=${1:?"usage: tests/fuzz/fuzz.sh BUILD [SECONDS [NAME...]]"}
seconds=${2:-60}
shift $(($# < 2 ? $# : 2))
source=$(cd "$(dirname "$0")/../.." && pwd)
if [ -z "${CXX:-}" ]; then
  for CXX in clang++ clang++-18 clang++-17 clang++-16 clang++-15 clang++-14; do
    ! command -v "$CXX" > /dev/null || break
  done
fi
export CXX
[ -e "$build/CMakeCache.txt" ] || cmake -S "$source" -B "$build" -DTX_FUZZ=ON -DTX_CUDA=OFF
cmake --build "$build" -j "${JOBS:-1}" --target fuzz
build=$(cd "$build" && pwd)
[ $# -gt 0 ] || set -- $(cd "$source/tests/fuzz" && ls ./*_fuzz.cpp | sed 's|^./||; s/_fuzz.cpp$//')

# fuzz NAME: leaves the line about it in a file.
fuzz() {
  room=$build/fuzz/$1
  mkdir -p "$room/corpus"
  rm -f "$room/verdict"  # of a run before
  "$build/tests/fuzz-$1" write-seeds "$room/corpus"
  verdict="FINDING, see $room"
  if (cd "$room" && "$build/tests/fuzz-$1" corpus -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=4096 -close_fd_mask=2 -print_final_stats=1 \
    > log 2>&1); then
    verdict='no finding'
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$room/log")
  echo "$1: ${runs:-?} inputs in ${seconds} s, $verdict" > "$room/verdict"
}

# As many at a time as there are jobs; all take the same time.
trap 'trap - TERM; kill 0' INT TERM HUP
status=0 begun=0
for name in "$@"; do
  fuzz "$name" &
  begun=$((begun + 1))
  [ $((begun % ${JOBS:-1})) -ne 0 ] || wait
done
wait
for name in "$@"; do
  cat "$build/fuzz/$name/verdict"
  ! grep -q FINDING "$build/fuzz/$name/verdict" || status=1
done
exit "$status"
