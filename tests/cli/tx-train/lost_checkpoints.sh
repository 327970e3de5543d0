# A run that lost its states or models: starting and resuming give the same message, and its
# advice works.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train -o run 2> run.log || fail "$(cat run.log)"
cp -a run whole

# both STATUS TEXT: checks starting the run again (usage) and resuming it (data).
both() {
  expect_status 2 small_train -o run
  expect_stderr_contains "$1"
  expect_status 1 tx-train --resume run
  expect_stderr_contains "$1"
}

rm run/state-*
both 'run has models but no training state of any of them, and cannot be resumed'
advice=$(sed -n 's/.*start a new run from the newest model with \(--init [^;]*\).*/\1/p' "$TX_LAST/stderr")
[ "$advice" = "--init run/model-12.safetensors" ] || fail "$(last_stderr)"
# shellcheck disable=SC2086  # two words
tx-train $advice --src train.en --tgt train.de --batch-tokens 200 --threads 1 --steps 1 \
  -o another 2> another.log || fail "$(cat another.log)"

rm -rf run && cp -a whole run
rm run/model-*
both 'run has training states but no models, and cannot be resumed'
rm -rf run

# A run that is killed before its first save is started again.
status=0
TX_FAILPOINT=model:1 small_train -o run 2> run.log || status=$?
[ $status -eq 137 ] || fail "status $status instead of 137: $(cat run.log)"
expect_status 1 tx-train --resume run
expect_stderr_contains 'start it again with its original command'
expect_status 0 small_train -o run
same_run whole run
