#!/bin/sh
# Writes the smallest task that needs attention: reverse a sequence of digits.
#
#   sh reverse.sh DIR         2,000 pairs for training, 100 for validation, 500 for the test:
#                             DIR/train.src ("3 5 7 9 4"), train.tgt ("4 9 7 5 3"), valid.*, test.*
#
# Lengths 3 to 8 are about equally frequent. No sequence occurs twice. The files are always the
# same.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: reverse.sh DIR" >&2
  exit 2
fi
mkdir -p "$1"
cd "$1"
awk '
# The minimal standard generator of Park and Miller: rand() differs between versions of awk.
function below(count) {
  state = state * 16807 % 2147483647
  return int(state / 2147483647 * count)
}

function write_pairs(part, count,    length_left, digit, forward, backward) {
  while (count > 0) {
    forward = backward = below(10)
    for (length_left = 2 + below(6); length_left > 0; --length_left) {
      digit = below(10)
      forward = forward " " digit
      backward = digit " " backward
    }
    if (forward in taken) continue
    taken[forward] = 1
    print forward > (part ".src")
    print backward > (part ".tgt")
    --count
  }
}

BEGIN {
  state = 1000003
  write_pairs("test", 500)
  write_pairs("valid", 100)
  write_pairs("train", 2000)
}'
