#!/bin/sh
# Kills a training N times (default 200) at random moments and compares each run that came to its
# end, model and state byte for byte, with one never stopped; a quarter each in fp32 and bf16, with
# one thread and two. Two epochs of two batches a step, dropout, validation and patience; every save
# falls into a half-used shuffle window. Takes some minutes.
#
#   sh tests/bench/resume_kills.sh BUILD [N] [RANKS]
#
# With RANKS, from 2 to 8, every start is one of mpirun with 1 to RANKS ranks, chosen at random, of
# which one is killed, chosen at random too; one thread each, half of the kills in fp32 and bf16. The
# run never stopped has one rank.
set -eu
build=$(cd "${1:?"usage: resume_kills.sh BUILD [N]"}" && pwd)
TX_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
TX_BUILD=$build KILLS=${2:-200} RANKS=${3:-0}
export TX_SOURCE TX_BUILD KILLS RANKS
export OMP_WAIT_POLICY=passive # on a busy machine waiting threads would take the others' time
exec sh "$TX_SOURCE/tests/cli/run.sh" "$TX_SOURCE/tests/bench/resume_kills_body.sh"
