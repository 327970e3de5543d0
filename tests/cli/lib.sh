# Functions for the test scripts under tests/cli. A script looks like this:
#
#   printf 'a\n' > ref
#   expect_status 0 tx-bleu ref < hyp
#   expect_stdout <<'EOF'
#   ...
#   EOF
#
# A failing assertion ends the script with a message and status 1.

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  for stream in stdout stderr; do
    [ -s "$TX_LAST/$stream" ] || continue
    echo "--- $stream" >&2
    head -c 2000 "$TX_LAST/$stream" >&2
  done
  exit 1
}

# skip REASON: ends the script as skipped; tests/check.sh accepts this only for the labels gpu,
# peer, browser, node, terminal, mpi and wheel.
skip() {
  echo "skipped: $*" >&2
  exit 77
}

# need_node: skips the script without Node.js 17 or later.
need_node() { node -e 'new DOMException' 2> /dev/null || skip "no Node.js 17 or later here"; }

# expect_status N COMMAND...: runs COMMAND, saves its outputs for the functions below, and expects
# status N (128 + n if signal n ended it).
expect_status() {
  wanted=$1
  shift
  status=0
  "$@" > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
  [ "$status" -eq "$wanted" ] || fail "status $status instead of $wanted: $*"
}

# expect_stdout [TEXT]: standard output is TEXT and a newline or, without TEXT, the standard input.
expect_stdout() {
  if [ $# -gt 0 ]; then printf '%s\n' "$1" > "$TX_LAST/wanted"; else cat > "$TX_LAST/wanted"; fi
  expect_wanted stdout
}

expect_stderr() {
  if [ $# -gt 0 ]; then printf '%s\n' "$1" > "$TX_LAST/wanted"; else cat > "$TX_LAST/wanted"; fi
  expect_wanted stderr
}

expect_wanted() { # STREAM
  cmp -s "$TX_LAST/wanted" "$TX_LAST/$1" && return
  diff "$TX_LAST/wanted" "$TX_LAST/$1" | head -20 >&2
  fail "$1 is not as expected"
}

expect_stdout_file() { # FILE: byte for byte
  cmp "$1" "$TX_LAST/stdout" >&2 || fail "standard output is not $1"
}

expect_empty_stdout() {
  [ ! -s "$TX_LAST/stdout" ] || fail "standard output should be empty"
}

expect_empty_stderr() {
  [ ! -s "$TX_LAST/stderr" ] || fail "standard error should be empty"
}

# These take fixed strings, not patterns.
expect_stdout_contains() { grep -qF -e "$1" "$TX_LAST/stdout" || fail "standard output lacks: $1"; }
expect_stderr_contains() { grep -qF -e "$1" "$TX_LAST/stderr" || fail "standard error lacks: $1"; }
expect_stdout_lacks() { ! grep -qF -e "$1" "$TX_LAST/stdout" || fail "standard output has: $1"; }
expect_stderr_lacks() { ! grep -qF -e "$1" "$TX_LAST/stderr" || fail "standard error has: $1"; }

expect_stdout_lines() { # N
  lines=$(wc -l < "$TX_LAST/stdout")
  [ "$lines" -eq "$1" ] || fail "$lines lines on standard output instead of $1"
}

expect_same() { cmp "$1" "$2" >&2 || fail "$1 and $2 differ"; }
expect_file() { [ -s "$1" ] || fail "$1 is missing or empty"; }
expect_no_file() { [ ! -e "$1" ] || fail "$1 should not exist"; }

# expect_usage_error TEXT COMMAND...: status 2, no standard output, a message that begins with the
# tool's name, contains TEXT and refers to --help.
expect_usage_error() {
  text=$1
  shift
  expect_status 2 "$@"
  expect_empty_stdout
  expect_stderr_contains "$text"
  expect_stderr_contains "try $1 --help"
  grep -q "^$1: " "$TX_LAST/stderr" || fail "the message does not start with $1:"
}

# expect_error TEXT COMMAND...: status 1, no standard output and a message that begins with the tool's
# name and contains TEXT. A TEXT that begins with the name is the whole message.
expect_error() {
  text=$1
  shift
  expect_status 1 "$@"
  expect_empty_stdout
  case $text in
    "$1: "*) expect_stderr "$text" ;;
    *) expect_stderr_contains "$text" ;;
  esac
  grep -q "^$1: " "$TX_LAST/stderr" || fail "the message does not start with $1:"
}

# each_row FUNCTION [WORD...]: runs FUNCTION TEXT WORD... ARGUMENTS for each line "ARGUMENTS => TEXT"
# of standard input. FUNCTION is expect_error, expect_usage_error or one of the script.
each_row() {
  cat > "$TX_LAST/rows"
  check=$1
  shift
  while IFS= read -r row <&9; do
    eval "$check \"\${row#* => }\" \"\$@\" ${row%% => *}" < /dev/null 9<&-
  done 9< "$TX_LAST/rows"
}

# watch_memory PID: waits until it ends; sets peak to its peak anonymous memory in KiB (polled).
watch_memory() {
  peak=0
  while kill -0 "$1" 2> /dev/null; do
    now=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2> /dev/null || true)
    [ "${now:-0}" -le $peak ] || peak=$now
    sleep 0.05
  done
}

# tools: prints the names of the tools.
tools() {
  for source in "$TX_SOURCE"/tools/*.cpp; do
    [ -e "$source" ] || continue
    basename "$source" .cpp
  done
}

# commands TOOL: "TOOL", or "TOOL COMMAND" for each command of a tool that has several.
commands() {
  words=$("$1" --completion)
  case $words in
    -*) echo "$1" ;;
    *) for word in $words; do echo "$1 $word"; done ;;
  esac
}

# last_stdout: the standard output of the last expect_status.
last_stdout() { cat "$TX_LAST/stdout"; }
last_stderr() { cat "$TX_LAST/stderr"; }
