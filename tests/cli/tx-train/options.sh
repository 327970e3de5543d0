# An option that has no effect beside the others, values that are none, seeds.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
refused() { # TEXT OPTION...
  text=$1
  shift
  expect_usage_error "$text" tx-train --src train.en --tgt train.de --vocab bpe.model -o none "$@"
}
refused '--layers 0: must be from 1 to 1000' --layers 0
refused '--d-k 0: must be from 1 to 65536' --d-k 0
refused '--layers does not go with both' --layers 1 --encoder-layers 2 --decoder-layers 3
refused '--max-positions needs --positions learned' --max-positions 40
refused '--lr does not go with --schedule paper: scale it with --lr-factor' \
  --preset base --lr 0.1
refused '--lr-factor needs --schedule paper' --schedule linear --lr 0.1 --lr-factor 2
refused '--beta2 needs --optimizer adam' --optimizer sgd --beta2 0.9
refused '--spike-window needs --spike-threshold' --spike-threshold 0 --spike-window 9
refused '--on-spike needs --spike-threshold' --spike-threshold 0 --on-spike skip
refused '--bpe-dropout-epochs needs --bpe-dropout' --bpe-dropout-epochs 2
refused '--valid-every needs --valid-src' --valid-every 2
refused '--tune does not go with --device cpu' --tune --device cpu
refused '--vocab does not go with --vocab-src' --vocab-src bpe.model
refused '--vocab does not go with --init: its model brings its vocabulary' --init run
refused '--describe does not go with --parity' --parity --describe
refused '--vocab has an empty value: expected FILE|words' --vocab=
expect_usage_error '--profile does not go with --describe' tx-train --describe --profile
expect_no_file none

# The advice of these messages holds.
expect_status 0 small_train --describe --tune
expect_stderr_contains 'warning: --tune has no effect on a CPU'
expect_status 0 tx-train --describe --lr-factor 0.1
expect_status 0 tx-train --describe --schedule inverse-sqrt --lr 0.1

# Empty by either spelling, a command to run takes back that of the configuration.
small_train --steps 2 --valid-command 'echo 3' -o run 2> log || fail "$(cat log)"
expect_usage_error '--out does not go with --resume: a resumed run goes on in its own directory' \
  tx-train --resume run -o none
expect_usage_error '--config does not go with --resume' tx-train --resume run --config file
expect_usage_error '--preset does not go with --config run/config.json' \
  tx-train --config run/config.json --preset big -o none
for spelling in --valid-command= "--valid-command "; do
  if [ "$spelling" = --valid-command= ]; then set -- "$spelling"; else set -- --valid-command ""; fi
  tx-train --config run/config.json "$@" -o without 2> log || fail "$(cat log)"
  ! grep -q validation_score without/log.jsonl || fail "$spelling is passed over"
  rm -r without
done

# Every bit of a seed counts, and those that fitted before mean what they meant.
for seed in 1 4294967297 18446744073709551615; do
  small_train --steps 1 --seed $seed -o seed-$seed 2> log || fail "$(cat log)"
  weights_hash seed-$seed/last.safetensors
done > hashes
[ "$(sort -u hashes | wc -l)" -eq 3 ] || fail "two seeds give one model: $(cat hashes)"
