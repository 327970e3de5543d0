# --valid-metric selects the best model, for --patience and tx-avg --best too; changing it on
# --resume resets the best.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

# extreme FIELD -g|-gr: prints the first step of run/log.jsonl with the lowest or highest value.
extreme() {
  sed -n "s/.*\"step\":\([0-9]*\),.*\"$1\":\([^,}]*\).*/\2 \1/p" run/log.jsonl |
    sort -s -k 1,1"$2" | sed -n '1s/.* //p'
}
best() { readlink run/best.safetensors | tr -dc 0-9; }
# expect_best FIELD -g|-gr: expects that step as the best of the run and of tx-avg.
expect_best() {
  [ "$(best)" = "$(extreme "$@")" ] || fail "the best by $1 is $(best), not $(extreme "$@")"
  tx-avg --best 1 -o average run 2> average.log
  [ "$(cat average.log)" = "tx-avg: averaged run/model-$(best).safetensors" ] ||
    fail "the best by $1 is $(best): $(cat average.log)"
}

# A model that overfits. The seed is the first with which the best step by loss is neither that by
# perplexity nor that by accuracy; which one depends on the last bits.
learn() {
  rm -rf run
  small_train --label-smoothing 0.3 --lr 0.05 --steps 60 --log-every 60 --save-every 4 --keep 99 \
    --seed $seed -o run "$@" 2> run.log || fail "$(cat run.log)"
}
seed=1
until learn &&
  [ "$(extreme validation_loss g)" != "$(extreme validation_perplexity g)" ] &&
  [ "$(extreme validation_loss g)" != "$(extreme validation_accuracy gr)" ]; do
  seed=$((seed + 1))
  [ $seed -le 20 ] || fail 'no seed separates loss, perplexity and accuracy'
done
expect_best validation_loss g
grep -aq validation_metric run/last.safetensors && fail 'the default metric is recorded'
loss_best=$(best)
learn --valid-metric perplexity
expect_best validation_perplexity g
learn --valid-metric accuracy,loss
expect_best validation_accuracy gr
grep -aq 'validation_metric[^,]*accuracy' run/last.safetensors || fail 'the metric is not in the model'
learn --valid-metric accuracy --valid-metric perplexity
expect_best validation_accuracy gr
[ "$loss_best" != "$(extreme validation_accuracy gr)" ] || fail 'loss and accuracy agree'

# Another metric on --resume resets the best, with a message; the same metric does not.
expect_status 0 tx-train --resume run --valid-metric accuracy,loss --steps 64
! last_stderr | grep -q 'start again' || fail 'the same metric resets the best'
expect_status 0 tx-train --resume run --valid-metric loss --steps 68
expect_stderr_contains 'models are now compared by loss instead of accuracy: the best model and --patience start again'
[ "$(best)" = 68 ] || fail "the best is $(best)"
expect_status 0 tx-train --resume run --valid-command 'echo 3' --steps 72
expect_stderr_contains 'compared by command: echo 3 instead of loss'
[ "$(best)" = 72 ] || fail "the best is $(best)"
expect_status 0 tx-train --resume run --valid-command 'echo 2' --steps 76
expect_stderr_contains 'compared by command: echo 2 instead of command: echo 3'
[ "$(best)" = 76 ] || fail "the best is $(best)"
tx-avg --best 1 -o average run 2> average.log || fail "$(cat average.log)"
grep -q 'model-76' average.log || fail "$(cat average.log)"
expect_status 1 tx-avg --best 2 -o average run
expect_stderr 'tx-avg: --best 2: run holds only 1 model with a score of --valid-command; use --best 1'
expect_status 0 tx-train --resume run --valid-command '' --steps 80
expect_stderr_contains 'compared by loss instead of command: echo 2'
[ "$(best)" = 80 ] || fail "the best is $(best)"

# Exhausted patience is reset too. Without further steps nothing changes.
learn --patience 2 --valid-command 'echo 1'
[ "$(readlink run/last.safetensors)" = model-12.safetensors ] || fail 'patience did not end the run'
expect_status 0 tx-train --resume run --valid-command 'echo 5' --steps 12
expect_stderr_contains 'nothing to do'
[ "$(best)" = 4 ] || fail "the best is $(best)"
expect_status 0 tx-train --resume run --valid-command 'echo 5'
[ "$(readlink run/last.safetensors)" = model-24.safetensors ] || fail "$(readlink run/last.safetensors)"
[ "$(best)" = 16 ] || fail "the best is $(best)"

refused "--valid-metric blue: must be a comma-separated list of" --valid-metric blue
refused 'did you mean loss?' --valid-metric los
refused '--valid-metric: loss is given twice' --valid-metric loss,accuracy,loss
small_texts="--src train.en --tgt train.de"
refused '--valid-metric needs --valid-src' --valid-metric accuracy
