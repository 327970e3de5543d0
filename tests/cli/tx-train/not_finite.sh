# A loss that is not finite moves nothing: it is counted, logged and recorded, ten times at most.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --schedule constant --lr 1e38 --warmup 0 --steps 30 --save-every 20 -o run 2> run.log ||
  fail "$(cat run.log)"
grep -q 'step 3: loss or gradients are not finite; the update was skipped' run.log ||
  fail "$(cat run.log)"
[ "$(ls run/flight-* | wc -l)" -eq 10 ] || fail "$(ls run)"
skipped=$(sed -n 's/.*"skipped":\([0-9]*\).*/\1/p' run/log.jsonl | tail -n 1)
[ "$skipped" -gt 10 ] && [ "$skipped" = "$(grep -c '"incident":"not finite"' run/log.jsonl)" ] ||
  fail "$skipped updates skipped: $(cat run/log.jsonl)"
# The weights of step 20 are still those of step 30.
[ "$(weights_hash run/model-20.safetensors)" = "$(weights_hash run/model-30.safetensors)" ] ||
  fail "a skipped update moved weights"
expect_status 0 tx-train --replay run/flight-1.safetensors
expect_stdout_contains "not finite: loss "
expect_stderr_contains "the same bits as recorded"
