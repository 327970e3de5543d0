# A disk that fills up, breaks or goes away costs the checkpoint being written and no other: the
# message names the file and the room left, and the run goes on from there to the same bytes.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers want to be preloaded first
small_text
whole_run
expect_whole() { # CHECKPOINT: the message names it, and both its files are there
  [ -e "stopped/model-$1.safetensors" ] && [ -e "stopped/state-$1.safetensors" ] ||
    fail "step $1 is no whole checkpoint"
  [ -z "$(ls -A stopped | grep '^[.]tx-')" ] || fail "a temporary file stays: $(ls -A stopped)"
}

# bad_disk FAULT TEXT: one run into the fault, TEXT in its message.
bad_disk() {
  status=0
  LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT=$1 begin_run || status=$?
  [ $status -eq 1 ] || fail "status $status instead of 1 with $1: $(cat stopped.log)"
  grep -q "cannot [a-z]* stopped.*: $2 (.* MiB free" stopped.log || fail "$1: $(cat stopped.log)"
  step=$(sed -n 's/^tx-train: the checkpoint of step \([0-9]*\) is whole; go on from it.*/\1/p' stopped.log)
  [ -n "$step" ] || fail "$1: no word of the checkpoint: $(cat stopped.log)"
  expect_whole "$step"
  finish_run "$1"
}

# What begins the run, and what a save takes.
begin_bytes=$(cat whole/*.ids whole/config.json | wc -c)
model=$(wc -c < whole/last.safetensors)
save=$((model * 3))
for place in $((model / 2)) $((model * 2)) $((save + model / 2)) $((save * 2 + model + 4096)); do
  bad_disk "write ENOSPC stopped/ $((begin_bytes + save + place))" "No space left on device"
done
bad_disk "write EIO stopped/ $((begin_bytes + save + model / 2))" "Input/output error"
bad_disk "fsync EIO /stopped 12" "Input/output error"
bad_disk "fsync EIO /stopped 13" "Input/output error"
bad_disk "fsync EIO /stopped 14" "Input/output error"
bad_disk "fsync EIO /stopped 15" "Input/output error"
bad_disk "open EROFS stopped/.tx- 6" "Read-only file system"

# A start that fails leaves nothing.
status=0
LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT="write ENOSPC stopped/ $((begin_bytes + 99))" \
  begin_run || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1 at the start: $(cat stopped.log)"
grep -q 'cannot write stopped/.*No space left on device (.* MiB free' stopped.log ||
  fail "$(cat stopped.log)"
expect_no_file stopped

# The directory vanishes.
runner=exec
small_train $resume_options --epochs 0 --minutes 1 --patience 0 -o stopped 2> stopped.log &
runner=
until [ -e stopped/last.safetensors ]; do sleep 0.1; done
mv stopped gone
status=0
wait $! || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat stopped.log)"
grep -q 'cannot [a-z]* stopped[/:].*No such file' stopped.log || fail "$(cat stopped.log)"
grep -q 'stopped vanished, or is no longer mounted' stopped.log || fail "$(cat stopped.log)"
