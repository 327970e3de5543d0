#!/bin/sh
# Writes the smallest task that needs attention: read a sequence of digits, write it backwards.
#
#   sh reverse.sh FOLDER      2,000 pairs for training, 100 for validation, 500 for the test:
#                             FOLDER/train.src ("3 5 7 9 4"), train.tgt ("4 9 7 5 3"), valid.*,
#                             test.*
#
# Lengths 3 to 8 come about equally often; no sequence stands in the files twice. The files are
# the same every time.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: reverse.sh FOLDER" >&2
  exit 2
fi
mkdir -p "$1"
cd "$1"
awk '
# The minimal standard generator of Park and Miller: rand() differs from one awk to the next.
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
