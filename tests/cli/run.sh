#!/bin/sh
# Runs one test script in a fresh folder: sh run.sh SCRIPT [WORD...]. The environment holds TX_SOURCE (this
# source tree) and TX_BUILD (the build folder); the script finds the tools in PATH and the words of
# lib.sh, and ends with status 0, or 77 for "skipped".
set -eu
script=$1
shift
: "${TX_SOURCE:?}" "${TX_BUILD:?}"
room=$(mktemp -d "${TMPDIR:-/tmp}/tx-test.XXXXXX")
trap 'chmod -R u+rwx "$room"; rm -rf "$room"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$room/work" "$room/last"
TX_LAST=$room/last
PATH=$TX_BUILD/bin:$TX_BUILD/tests:$PATH
LC_ALL=C.UTF-8
NO_COLOR=1
unset CDPATH
export TX_SOURCE TX_BUILD TX_LAST PATH LC_ALL NO_COLOR
cd "$room/work"
TX_SCRIPT=$script sh -eu -c '. "$TX_SOURCE/tests/cli/lib.sh"; . "$TX_SCRIPT"' sh "$@"
