#!/bin/sh
# Runs a test script in a new directory: sh run.sh SCRIPT [WORD...]. The script gets TX_SOURCE
# (the source tree), TX_BUILD (the build directory), the tools in PATH and the functions of
# lib.sh, and ends with status 0, or 77 for skipped.
set -eu
script=$1
shift
: "${TX_SOURCE:?}" "${TX_BUILD:?}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/tx-test.XXXXXX")
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$dir/work" "$dir/last"
TX_LAST=$dir/last
PATH=$TX_BUILD/bin:$TX_BUILD/tests:$PATH
LC_ALL=C.UTF-8
NO_COLOR=1
unset CDPATH
export TX_SOURCE TX_BUILD TX_LAST PATH LC_ALL NO_COLOR
cd "$dir/work"
TX_SCRIPT=$script sh -eu -c '. "$TX_SOURCE/tests/cli/lib.sh"; . "$TX_SCRIPT"' sh "$@"
