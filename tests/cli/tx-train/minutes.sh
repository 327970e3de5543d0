# --minutes: without --steps, the steps that fit are measured before the run, which is then
# bit-identical to one with --steps; a time too short for one step leaves no files; a resumed run
# reports the time used; log lines have the fraction of the limit that ends the run.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
shape="--layers 1 --d-model 32 --heads 2 --d-ff 64 --schedule linear --lr 0.01 --batch-tokens 200"
train() {
  # shellcheck disable=SC2086  # lists of words
  tx-train $small_texts --vocab bpe.model $shape --threads 1 --precision fp32 "$@"
}

# Killed before its first checkpoint, it continues without a clock to the recorded number of steps.
status=0
TX_FAILPOINT=state:2 train --minutes 0.15 -o clock 2> clock.err || status=$?
[ $status -eq 137 ] || fail "status $status: $(cat clock.err)"
steps=$(setting clock steps)
grep -q "minutes 0.15: training for .* to train the same model again: --steps $steps\$" clock.err ||
  fail "$(cat clock.err)"
[ "$steps" -lt 100000 ] || fail "the steps are the preset's"
expect_status 0 tx-train --resume clock --minutes 0
expect_stderr_contains "resuming clock after step 0"
expect_status 0 train -q --steps "$steps" -o steps
for name in warmup schedule lr save-every; do
  [ "$(setting clock $name)" = "$(setting steps $name)" ] || fail "another $name"
done
[ "$(weights_hash clock/last.safetensors)" = "$(weights_hash steps/last.safetensors)" ] ||
  fail "--minutes and --steps $steps give different models"
expect_status 0 tx-train --resume clock
expect_stderr_contains "nothing to do: --steps $steps ended this run at step $steps; raise that limit"

# Too short for one step.
expect_status 2 train --minutes 0.0001 -o none
expect_stderr_contains "--minutes 0.0001 is too short: starting and one step take about "
expect_no_file none
expect_status 2 train --minutes 0.0001 --steps 5 -o none
expect_stderr_contains "--minutes 0.0001 is too short: preparation took "
expect_no_file none

# The clock ends the run: fractions are those of --minutes.
expect_status 0 train --steps 0 --schedule constant --minutes 0.1 --log-every 1 -o short
grep -q 'step 1, epoch 1: .* tokens/s; .* % of --minutes 0.1$' "$TX_LAST/stderr" ||
  fail "$(last_stderr)"
grep -Eq 'step [0-9]+, .* [0-9.]+ % of --minutes 0.1, 0:00:0[0-9] left$' "$TX_LAST/stderr" ||
  fail "$(last_stderr)"
expect_status 0 tx-train --resume short --minutes 0.01
grep -q -e '--minutes 0.01 (0.[0-9]* used) ended this run at step [0-9]*' "$TX_LAST/stderr" ||
  fail "$(last_stderr)"
at=$(readlink short/last.safetensors | tr -dc 0-9)
expect_status 0 tx-train --resume short --minutes 1000 --steps "$((at + 1))"
grep -q ' --minutes 1000: 0.[0-9]* used, [0-9.]* left$' "$TX_LAST/stderr" ||
  fail "$(last_stderr)"

# A schedule that does not fit.
expect_status 0 train --steps 2 --warmup 2 -o cut
expect_stderr_contains "warning: --steps 2 ends this run, before the end of its warm-up of 2 steps"
expect_status 0 train --epochs 1 --steps 500 --warmup 5 -o epoch
grep -q 'warning: --epochs 1 ends this run after about [0-9]* steps, but --schedule linear reaches 0 at step 500: give --steps [0-9]*$' \
  "$TX_LAST/stderr" || fail "$(last_stderr)"
expect_status 0 train --steps 2 -o fits
expect_stderr_lacks "warning"
