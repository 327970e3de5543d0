#!/bin/sh
# Builds the fuzz targets with clang and runs each: sh tests/fuzz/fuzz.sh BUILD [SECONDS [NAME...]]
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
status=0
for name in "$@"; do
  room=$build/fuzz/$name
  mkdir -p "$room/corpus"
  "$build/tests/fuzz-$name" write-seeds "$room/corpus"
  if (cd "$room" && "$build/tests/fuzz-$name" corpus -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=4096 -close_fd_mask=2 -print_final_stats=1 \
    > log 2>&1); then
    verdict='no finding'
  else
    verdict="FINDING, see $room"
    status=1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$room/log")
  echo "$name: ${runs:-?} inputs in ${seconds} s, $verdict"
done
exit "$status"
