#!/bin/sh
# Kills a training N times (default 200) at random moments, resumes it, and compares model and
# state of every finished run byte for byte with those of an uninterrupted run. A quarter each in
# fp32 and bf16, with one and two threads. Two epochs, two batches per step, dropout, validation
# and patience; every save is in the middle of a shuffle window. Takes some minutes.
#
#   sh tests/bench/resume_kills.sh BUILD [N] [RANKS]
#
# With RANKS, from 2 to 8, every start is by mpirun with a random number of ranks from 1 to RANKS,
# of which a random one is killed; one thread each, half of the kills in fp32 and half in bf16.
# The uninterrupted run has one rank.
set -eu
build=$(cd "${1:?"usage: resume_kills.sh BUILD [N]"}" && pwd)
TX_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
TX_BUILD=$build KILLS=${2:-200} RANKS=${3:-0}
export TX_SOURCE TX_BUILD KILLS RANKS
export OMP_WAIT_POLICY=passive # on a busy machine, spinning threads would slow down the others
exec sh "$TX_SOURCE/tests/cli/run.sh" "$TX_SOURCE/tests/bench/resume_kills_body.sh"
