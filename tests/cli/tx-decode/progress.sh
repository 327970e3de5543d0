# label: terminal
# On a terminal the progress through a file is shown; not with -q, not for a pipe, not if the
# output goes to the terminal too, and not if standard error is no terminal.
. "$TX_SOURCE/tests/cli/small_run.sh"
command -v script > /dev/null || fail "this test needs script(1), of Debian's bsdutils"
script -qec true /dev/null < /dev/null > pty 2>&1 || skip "no pseudo-terminal here: $(cat pty)"

# shown COMMAND: runs it with a terminal as standard error and writes what it shows as lines.
shown() { TERM=xterm script -qec "$1" /dev/null < /dev/null | tr '\r' '\n'; }
write_text train 3000
shown "tx-bpe train --vocab-size 280 -o model train.src" > bar
grep -q '^tx-bpe: read 1024 lines, 0.0 MB' bar || fail "no progress: $(cat bar)"
train_small run
for _ in 1 2 3; do echo "w1 w2 w3"; done > text
decode="tx-decode -m run --threads 1"
shown "$decode < text > out" > bar
grep -q '^tx-decode: 1 of 3 lines (33.3 %)' bar || fail "no progress: $(cat bar)"
[ "$(wc -l < out)" -eq 3 ] || fail "$(cat out)"
gzip -k text
shown "$decode text.gz text > both" > bar
grep -q '^tx-decode: 1 line' bar || fail "no progress without a count: $(cat bar)"
shown "$decode < text 2> err | cat > out" > bar
! grep -q lines err || fail "not a terminal, and it shows: $(cat err)"
for silent in "$decode -q < text > out" "cat text | $decode > out" "$decode < text"; do
  shown "$silent" > bar
  ! grep -q lines bar || fail "$silent shows: $(cat bar)"
done
