# --last and --best select checkpoints of a run directory.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
write_text valid 20
train_small run --valid-src valid.src --valid-tgt valid.tgt

expect_status 0 tx-avg --last 2 -o last run
expect_stderr <<'EOF'
tx-avg: averaged run/model-3.safetensors
tx-avg: averaged run/model-4.safetensors
EOF
grep -aqF 'tx-avg --last 2 run' last || fail "the command is not in the model"

# By step number, not by name; states and step 0 do not count.
cp run/model-4.safetensors run/model-10.safetensors
cp run/model-1.safetensors run/model-0.safetensors
cp run/model-1.safetensors run/model-99x.safetensors
cp run/model-1.safetensors run/model-0100.safetensors
expect_status 0 tx-avg --last 2 -o last run
last_stderr | tail -n 2 > chosen
printf 'tx-avg: averaged run/model-%s.safetensors\n' 4 10 > wanted
expect_same chosen wanted
rm run/model-10.safetensors

# --best: by the validation loss in each model's provenance.
awk -F '[:,]' '/validation_loss/ { print $4, $2 }' run/log.jsonl | sort -g | head -n 2 |
  awk '{ print $2 }' | sort -n > steps
expect_status 0 tx-avg --best 2 -o best run
sed 's,.*,tx-avg: averaged run/model-&.safetensors,' steps > wanted
expect_stderr < wanted

# Of a better checkpoint that was removed since: a warning.
best=$(awk -F '[:,]' '/validation_loss/ { print $4, $2 }' run/log.jsonl | sort -g | awk 'NR == 1 { print $2 }')
mv run/model-$best.safetensors away
expect_status 0 tx-avg --best 2 -o best run
expect_stderr_contains "warning: --best: run no longer has the checkpoint of step $best, which was better than"
mv away run/model-$best.safetensors

# Runs with other seeds have other weights.
train_small seed --seed 2
expect_status 0 tx-avg -o mixed run seed
expect_stderr_contains 'was trained with seed 2, run/'
expect_status 0 tx-avg -o same run run/model-1.safetensors
expect_stderr_lacks 'seed'

expect_status 1 tx-avg --last 5 -o none run
expect_stderr 'tx-avg: --last 5: run holds only 4 models; use --last 4'
expect_status 1 tx-avg --best 5 -o none run
expect_stderr 'tx-avg: --best 5: run holds only 4 models with a validation loss; use --best 4'
train_small other
expect_status 1 tx-avg --best 1 -o none other
expect_stderr 'tx-avg: --best 1: other holds no model with a validation loss'
mkdir empty
expect_status 1 tx-avg --last 1 -o none empty
expect_stderr 'tx-avg: --last 1: empty holds no model'
expect_status 1 tx-avg --last 1 -o none missing
expect_stderr 'tx-avg: cannot read missing: No such file or directory'
expect_no_file none

expect_usage_error '--last cannot be used with --best' tx-avg --last 1 --best 1 -o none run
expect_usage_error 'needs one run directory' tx-avg --last 1 -o none run other
expect_usage_error 'needs one run directory' tx-avg --best 1 -o none best
expect_usage_error '--last 0' tx-avg --last 0 -o none run
expect_usage_error 'missing option: -o FILE' tx-avg --last 1 run
expect_usage_error 'MODEL' tx-avg -o none
expect_no_file none
