# label: gpu
# On the GPU a save is written while training continues: steps finish before it, and its bytes are
# those of the step at which it began. If the run is killed meanwhile, or the disk fails, the
# previous checkpoint is kept.
. "$TX_SOURCE/tests/cli/cuda.sh"
[ "${TX_SANITIZE:-}" != ON ] || exit 0 # the sanitizers must be preloaded first
[ -e "$TX_BUILD/tests/libfault.so" ] || fail "no libfault.so, which delays the saves"
small_text
train() { # RUN OPTION...
  run=$1
  shift
  small_train --device cuda --precision bf16 --steps 5 --save-every 2 --keep 9 --dropout 0.2 \
    -o "$run" "$@" 2> "$run.log"
}
train whole || fail "$(cat whole.log)"
# The run waits for the save of its last step.
train short --steps 2 || fail "$(cat short.log)"
for file in model-2 state-2; do
  hash=$(weights_hash short/$file.safetensors)
  [ -n "$hash" ] && [ "$hash" = "$(weights_hash whole/$file.safetensors)" ] ||
    fail "$file is not that of a run that ended there"
done

# hold RUN: blocks its second save until the file "hold" is removed; returns when step 4 is done.
hold() {
  touch hold
  runner=exec
  LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT="fsync HOLD $1/.tx- 5" train "$1" &
  runner=
  tries=0
  until grep -q '"step":4,' "$1/log.jsonl" 2> /dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 3000 ] && kill -0 $! 2> /dev/null ||
      fail "no step 4 during the save: $(cat "$1.log")"
    sleep 0.1
  done
  [ -e "$1/state-0.safetensors" ] && [ ! -e "$1/model-2.safetensors" ] || fail "$(ls "$1")"
}
hold held
sleep 1 # the save of step 4 waits for that of step 2
! grep -q '"step":5,' held/log.jsonl || fail "step 5 began while a save was waiting"
rm hold
wait $! || fail "$(cat held.log)"
same_run whole held

hold killed
kill -9 $!
wait $! 2> /dev/null || true
rm hold
[ ! -e killed/model-2.safetensors ] || fail "an unfinished save was left"
tx-train --resume killed 2> killed.log || fail "$(cat killed.log)"
same_run whole killed

status=0
LD_PRELOAD=$TX_BUILD/tests/libfault.so TX_FAULT="open EROFS bad/.tx- 5" train bad || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat bad.log)"
grep -q 'cannot write bad/.*Read-only file system' bad.log || fail "$(cat bad.log)"
grep -q 'the checkpoint of step 0 is complete; resume with' bad.log || fail "$(cat bad.log)"
tx-train --resume bad 2> bad.log || fail "$(cat bad.log)"
same_run whole bad
