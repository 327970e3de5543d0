#!/bin/sh
# Builds the fuzz targets with clang and runs each for SECONDS (60), JOBS (1) in parallel:
#   JOBS=2 sh tests/fuzz/fuzz.sh BUILD [SECONDS [NAME...]]
# Findings are written to BUILD/fuzz/NAME/, new inputs to BUILD/fuzz/NAME/corpus. Prints a line per
# target with its number of inputs; status 1 if there are findings.
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

# fuzz NAME: runs it and writes its line to a file.
fuzz() {
  dir=$build/fuzz/$1
  mkdir -p "$dir/corpus"
  rm -f "$dir/verdict"  # of an earlier run
  "$build/tests/fuzz-$1" write-seeds "$dir/corpus"
  verdict="FINDING, see $dir"
  if (cd "$dir" && "$build/tests/fuzz-$1" corpus -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=4096 -close_fd_mask=2 -print_final_stats=1 \
    > log 2>&1); then
    verdict='no finding'
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")
  echo "$1: ${runs:-?} inputs in ${seconds} s, $verdict" > "$dir/verdict"
}

# JOBS in parallel; all take the same time.
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
