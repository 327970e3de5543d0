# Loss spikes are logged, skipped or rewound, and recorded; a run killed at any of these points
# resumes bit-identically.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
# The lines in the middle of the training text do not match.
awk 'NR % 9 == 4 { $0 = "zz zz zz zz zz zz" } 1' train.de > broken && mv broken train.de
spike="--spike-window 3 --spike-threshold 1.2 --spike-floor 0 --epochs 1 --save-every 4 --keep 3"

count() { grep -c "\"action\":\"$1\"" whole/log.jsonl || true; } # ACTION

# Logged: the weights are those of a run without spike detection.
whole_run $spike --on-spike log
[ "$(count logged)" -ge 1 ] || fail "no spike: $(cat whole.log)"
mv whole logged
whole_run --epochs 1 --save-every 4 --keep 3 --spike-threshold 0
[ "$(count logged)" -eq 0 ] || fail "a spike without a threshold"
last=$(readlink whole/last.safetensors)
[ "$(weights_hash "whole/$last")" = "$(weights_hash "logged/$last")" ] ||
  fail "logging a spike changed the weights"
rm -rf whole

# Skipped.
whole_run $spike --on-spike skip
[ "$(count skipped)" -ge 1 ] || fail "nothing was skipped: $(cat whole.log)"
[ "$(weights_hash "whole/$(readlink whole/last.safetensors)")" != "$(weights_hash "logged/$last")" ] ||
  fail "skipping changes nothing"
stop_at model:3 state:3 links:4
rm -rf whole

# Rewound.
whole_run $spike --on-spike rewind
[ "$(count rewound)" -ge 1 ] || fail "nothing was rewound: $(cat whole.log)"
stop_at rewind:1 rewound:1 model:4 sync:9 links:5
random_kills 2 9

# Rewinding to before the best model, whose predecessor was pruned: there is no best model then,
# and the score of the removed one does not count. Killed at the next save.
status=0
TX_FAILPOINT=links:12 small_train --schedule constant --lr 0.03 --seed 9 --save-every 8 \
  --save-minutes 0.00001 --valid-every 5 --on-spike rewind --spike-window 3 \
  --spike-threshold 1.05 --spike-floor 0 --keep 2 -o behind 2> behind.log || status=$?
[ $status -eq 137 ] || fail "status $status instead of 137: $(cat behind.log)"
grep -q 'step 11: loss spike.*rewinding to step 8' behind.log || fail "$(cat behind.log)"
grep -aq '"step":9,.*"best_score":null' behind/state-9.safetensors || fail 'the score of the removed best model is kept'

# A run that spikes on any text is ended, not rewound forever.
status=0
small_train --schedule constant --lr 0.05 --save-every 8 --on-spike rewind --spike-window 3 \
  --spike-threshold 0.1 --spike-floor 0 --steps 40 -o circle 2> circle.log || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat circle.log)"
grep -q 'another loss spike, after 10 rewinds to the checkpoint of step' circle.log ||
  fail "$(cat circle.log)"
good=$(sed -n 's/.*the last good checkpoint is \(.*\): start a new run from it.*/\1/p' circle.log)
tx-train --init "$good" --src train.en --tgt train.de --batch-tokens 200 --threads 1 --steps 2 \
  -o another 2> another.log || fail "$(cat another.log)"

# --replay is bit-identical; the record of another step is an error.
for flight in whole/flight-*.safetensors; do
  expect_status 0 tx-train --replay "$flight"
  expect_stdout_contains "spike: loss "
  expect_stdout_contains "encoder.layers.0.self_attn.q_proj.weight"
  expect_stderr_contains "bit-identical to the record"
done
expect_status 1 tx-train --replay "$flight" --seed 77
expect_stderr_contains "differs from the record"
expect_status 1 tx-train --replay whole/last.safetensors
expect_stderr_contains "is not a flight record"
