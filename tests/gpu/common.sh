# Functions of check.sh, bench.sh and measure.sh, which run from a build tree or an unpacked bundle.

# begin NAME REPORT [BUILD]: sets the environment, empties the report, and skips without a GPU, or
# with DRY=1 sets device=cpu.
begin() {
  name=$1
  root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
  TX_SOURCE=$root
  TX_BUILD=$(cd "${3:-$root/build}" 2> /dev/null && pwd) || skip "no build in ${3:-$root/build}"
  case $2 in /*) report=$2 ;; *) report=$PWD/$2 ;; esac
  PATH=$TX_BUILD/bin:$TX_BUILD/tests:$PATH
  outside=${LD_LIBRARY_PATH-} # for programs of the machine, which must not use a bundled libstdc++
  [ ! -d "$TX_BUILD/lib/bundled" ] ||
    LD_LIBRARY_PATH=$TX_BUILD/lib:$TX_BUILD/lib/bundled${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  LC_ALL=C.UTF-8 NO_COLOR=1
  export TX_SOURCE TX_BUILD PATH LD_LIBRARY_PATH LC_ALL NO_COLOR
  deadline=$(($(date +%s) + ${TX_SECONDS:-570}))
  found=0 device=cuda
  reason=$(no_gpu) || found=$?
  case $found in
    0) if [ "${DRY:-0}" -eq 1 ]; then device=cpu; else skip "$reason"; fi ;;
    2)
      echo "failed: $reason" >&2
      exit 1
      ;;
  esac
  work=$(mktemp -d "${TMPDIR:-/tmp}/tx-gpu.XXXXXX") || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM HUP
  python_script
  : > "$report" || exit 1
  say "$name, $(date -u '+%Y-%m-%d %H:%M UTC'), $(uname -srm)"
  tx-train --version 2>&1 | while read -r line; do say "  $line"; done
  if command -v nvidia-smi > /dev/null 2>&1; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used,clocks.sm,power.limit \
      --format=csv 2>&1 | while read -r line; do say "  $line"; done
  fi
}

# Writes work/python, which runs PYTHON with the libraries of the machine.
python_script() {
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "'$outside'" "${PYTHON:-python3}" > "$work/python"
  chmod +x "$work/python"
}

# no_gpu: asks a GPU test; prints why there is no GPU. Status 1 if there is one, 2 if the test does
# not start.
no_gpu() {
  for test in "$TX_BUILD"/tests/gpu-*; do
    [ -x "$test" ] || { echo "no tests for the GPU in $TX_BUILD/tests" && return 0; }
    answer=$("$test" --list_content 2>&1)
    case $? in
      0) return 1 ;;
      77) echo "$answer" | sed -n 's/^skipped: //p' | head -n 1 ;;
      *)
        echo "$(basename "$test") does not start: $(echo "$answer" | head -n 1)"
        return 2
        ;;
    esac
    return 0
  done
}

skip() {
  echo "skipped: $*" >&2
  exit 77
}

say() { printf '%s\n' "$*" | tee -a "$report"; }

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# seconds_left MAX: the remaining seconds, at most MAX.
seconds_left() {
  left=$((deadline - $(date +%s)))
  if [ "$left" -lt "$1" ]; then echo "$left"; else echo "$1"; fi
}
