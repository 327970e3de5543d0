# A step whose loss is not finite does not change the weights: it is counted and logged; the first
# such step in a row is recorded, and the newest two records are kept. Too many in a row end the
# run, and the last good checkpoint is kept and named.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

# diverge STATUS OPTION...: a run whose first update breaks the weights.
diverge() {
  wanted=$1
  shift
  rm -rf run
  status=0
  small_train --schedule constant --lr 1e38 --warmup 0 --steps 60 --save-every 2 "$@" -o run \
    2> run.log || status=$?
  [ $status -eq "$wanted" ] || fail "status $status instead of $wanted: $(cat run.log)"
}

# good: prints the checkpoint in the message, to which the link to the last one points.
good() {
  sed -n 's/.*; the last good checkpoint is \(run.*\): start a new run from it.*/\1/p' run.log
}
expect_good() { # STEP
  [ "$(good)" = "run/model-$1.safetensors" ] || fail "$(cat run.log)"
  [ "$(readlink run/last.safetensors)" = "model-$1.safetensors" ] || fail "$(ls -l run)"
  expect_file "run/state-$1.safetensors"
}

diverge 1
grep -q 'step 3: loss or gradients are not finite; the update was skipped' run.log ||
  fail "$(cat run.log)"
grep -q 'step 21: loss or gradients of 20 consecutive steps were not finite (--max-skips)' run.log ||
  fail "$(cat run.log)"
! grep -q 'resume with: tx-train' run.log || fail "the advice repeats the failure: $(cat run.log)"
expect_good 0
tx-train --init "$(good)" --src train.en --tgt train.de --batch-tokens 200 --threads 1 --steps 2 \
  -o another 2> another.log || fail "$(cat another.log)"
[ "$(cd run && echo flight-*)" = flight-1.safetensors ] || fail "$(ls run)"
expect_status 0 tx-train --replay run/flight-1.safetensors
expect_stdout_contains "not finite: loss "
expect_stderr_contains "bit-identical to the record"
last_stdout > wanted
expect_status 0 tx-train --replay run
expect_stdout_file wanted
rm -rf none && mkdir none
LC_ALL=C sed 's/"xxh3"/"Xxh3"/; s/"precision":"fp32"/"precision":"auto"/' run/flight-1.safetensors > open
expect_status 1 tx-train --replay open
expect_stderr 'tx-train: open does not name its precision'
expect_status 1 tx-train --replay none
expect_stderr_contains 'none has no flight record'
rmdir none

# Without a limit the run ends normally; --keep does not remove the good checkpoint.
diverge 0 --max-skips 0 --keep 1
expect_file run/model-0.safetensors
[ "$(ls run/model-*.safetensors | wc -l)" -eq 2 ] || fail "$(ls run)"
skipped=$(sed -n 's/.*"skipped":\([0-9]*\).*/\1/p' run/log.jsonl | tail -n 1)
[ "$skipped" -eq 59 ] && [ "$skipped" = "$(grep -c '"incident":"not finite"' run/log.jsonl)" ] ||
  fail "$skipped updates skipped: $(cat run/log.jsonl)"

# A resumed run continues to count.
diverge 1 --max-skips 7 --save-every 1
mv run whole
status=0
TX_FAILPOINT=links:5 diverge 137 --max-skips 7 --save-every 1
expect_status 1 tx-train --resume run
expect_stderr_contains "step 8: loss or gradients of 7 consecutive steps"
same_run whole run

# Weights that are not finite are never saved.
diverge 1 --optimizer sgd --clip-norm 0 --lr 1e300 --save-every 1 --keep 1
grep -q 'step 1: not all weights are finite: the training has diverged' run.log || fail "$(cat run.log)"
expect_good 0
expect_no_file run/model-1.safetensors
