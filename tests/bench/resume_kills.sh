#!/bin/sh
# Kills a training N times (default 200) at random moments and compares each run that came to its
# end, model and state byte for byte, with one never stopped; a quarter each in fp32 and bf16, with
# one thread and two. Takes some minutes.
#
#   sh tests/bench/resume_kills.sh BUILD [N]
set -eu
build=$(cd "${1:?"usage: resume_kills.sh BUILD [N]"}" && pwd)
TX_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
TX_BUILD=$build KILLS=${2:-200}
export TX_SOURCE TX_BUILD KILLS
exec sh "$TX_SOURCE/tests/cli/run.sh" "$TX_SOURCE/tests/bench/resume_kills_body.sh"
