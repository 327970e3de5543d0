# A disk that is full, fails or disappears costs only the checkpoint being written: the message
# has the file and the free space, and the run resumes bit-identically from the previous
# checkpoint.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers must be preloaded first
small_text
whole_run
expect_whole() { # CHECKPOINT: the message names it, and both its files exist
  [ -e "stopped/model-$1.safetensors" ] && [ -e "stopped/state-$1.safetensors" ] ||
    fail "the checkpoint of step $1 is incomplete"
  [ -z "$(ls -A stopped | grep '^[.]tx-')" ] || fail "a temporary file is left: $(ls -A stopped)"
}

# bad_disk FAULT TEXT: runs into the fault and expects TEXT in the message.
bad_disk() {
  status=0
  LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT=$1 begin_run || status=$?
  [ $status -eq 1 ] || fail "status $status instead of 1 with $1: $(cat stopped.log)"
  grep -q "cannot [a-z]* stopped.*: $2 (.* MiB free" stopped.log || fail "$1: $(cat stopped.log)"
  step=$(sed -n 's/^tx-train: the checkpoint of step \([0-9]*\) is complete; resume with.*/\1/p' stopped.log)
  [ -n "$step" ] || fail "$1: the message names no checkpoint: $(cat stopped.log)"
  expect_whole "$step"
  finish_run "$1"
}

# At the start of the run, and during a save.
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

# A failed start leaves no files.
status=0
LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT="write ENOSPC stopped/ $((begin_bytes + 99))" \
  begin_run || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1 at the start: $(cat stopped.log)"
grep -q 'cannot write stopped/.*No space left on device (.* MiB free' stopped.log ||
  fail "$(cat stopped.log)"
expect_no_file stopped

# The directory disappears.
runner=exec
small_train $resume_options --epochs 0 --minutes 1 --patience 0 -o stopped 2> stopped.log &
runner=
until [ -e stopped/last.safetensors ]; do sleep 0.1; done
mv stopped gone
status=0
wait $! || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat stopped.log)"
grep -q 'cannot [a-z]* stopped[/:].*No such file' stopped.log || fail "$(cat stopped.log)"
grep -q 'was stopped removed or unmounted?' stopped.log || fail "$(cat stopped.log)"
