# Options without effect, invalid values, seeds.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_texts="--src train.en --tgt train.de"
refused '--layers 0: must be from 1 to 1,000' --layers 0
refused '--batch-tokens 1: give a number from 2 to 16,777,216' --batch-tokens 1
refused '--rotary-base 1e10: must be from 1 to 1,000,000,000' --positions rotary --rotary-base 1e10
refused '--d-k 0: must be from 1 to 65,536' --d-k 0
refused '--layers cannot be used with both' --layers 1 --encoder-layers 2 --decoder-layers 3
refused '--max-positions needs --positions learned' --max-positions 40
refused '--lr cannot be used with --schedule paper: scale it with --lr-factor' --schedule paper
refused '--lr-factor needs --schedule paper' --schedule linear --lr 0.1 --lr-factor 2
refused '--beta2 needs --optimizer adam' --optimizer sgd --beta2 0.9
refused '--momentum needs --optimizer muon' --momentum 0.9
refused '--spike-window needs --spike-threshold' --spike-threshold 0 --spike-window 9
refused '--on-spike needs --spike-threshold' --spike-threshold 0 --on-spike skip
refused '--valid-every needs --valid-src' --valid-every 2
refused '--tune cannot be used with --device cpu' --tune --device cpu
refused '--vocab cannot be used with --vocab-src' --vocab-src bpe.model
refused '--vocab cannot be used with --init: the vocabulary of its model is used' --init run
refused '--describe cannot be used with --parity' --parity --describe
refused '--vocab has an empty value: expected FILE|words' --vocab=
refused '--profile cannot be used with --describe' --describe --profile
small_texts="$small_texts --valid-src valid.en --valid-tgt valid.de"

# The advice in these messages works.
expect_status 0 small_train --describe --tune
expect_stderr_contains 'warning: --tune has no effect on a CPU'
expect_status 0 tx-train --describe --lr-factor 0.1
expect_status 0 tx-train --describe --schedule inverse-sqrt --lr 0.1

# An empty command, in both spellings, removes that of the configuration.
small_train --steps 2 --valid-command 'echo 3' -o run 2> log || fail "$(cat log)"
expect_usage_error '--out cannot be used with --resume: a resumed run keeps its options' \
  tx-train --resume run -o none
expect_usage_error '--config cannot be used with --resume' tx-train --resume run --config file
expect_usage_error '--preset cannot be used with --config run/config.json' \
  tx-train --config run/config.json --preset big -o none
for spelling in --valid-command= "--valid-command "; do
  if [ "$spelling" = --valid-command= ]; then set -- "$spelling"; else set -- --valid-command ""; fi
  tx-train --config run/config.json "$@" -o without 2> log || fail "$(cat log)"
  ! grep -q validation_score without/log.jsonl || fail "$spelling is ignored"
  rm -r without
done

# All 64 bits of a seed have an effect.
for seed in 1 4294967297 18446744073709551615; do
  small_train --steps 1 --seed $seed -o seed-$seed 2> log || fail "$(cat log)"
  weights_hash seed-$seed/last.safetensors
done > hashes
[ "$(sort -u hashes | wc -l)" -eq 3 ] || fail "two seeds give the same model: $(cat hashes)"

# A run directory or model is accepted as vocabulary and as configuration.
hash=$(weights_hash run/last.safetensors)
[ -n "$hash" ] || fail 'no checksum'
begin="tx-train --src train.en --tgt train.de --steps 2 --quiet"
for config in run run/config.json; do
  rm -rf again
  expect_status 0 $begin --config $config -o again
  [ "$(weights_hash again/last.safetensors)" = "$hash" ] || fail "--config $config trains another model"
done
begin="tx-train --src train.en --tgt train.de --preset toy --steps 1 --threads 1 --quiet"
for vocabulary in '--vocab run' '--vocab run/last.safetensors' \
  '--vocab-src run --vocab-tgt run/last.safetensors'; do
  rm -rf again
  # shellcheck disable=SC2086
  expect_status 0 $begin $vocabulary -o again
  tx-bpe vocab -m again > listed
  tx-bpe vocab -m bpe.model | cmp - listed || fail "$vocabulary is another vocabulary"
done
expect_status 0 tx-bleu --tokenize spm -m bpe.model valid.de -i valid.en
last_stdout > wanted
expect_status 0 tx-bleu --tokenize spm -m run valid.de -i valid.en
expect_stdout_file wanted
# With a model of two vocabularies each side uses its own; training on one text accepts only one.
tx-bpe train --vocab-size 290 -o small.model train.en 2> /dev/null
rm -rf again
expect_status 0 $begin --tie none --vocab-src small.model --vocab-tgt bpe.model -o two
expect_status 0 $begin --tie none --vocab two -o again
tx-bpe vocab -m two > wanted
tx-bpe vocab -m again | cmp - wanted || fail 'the source vocabulary differs'
expect_usage_error '--vocab two has two vocabularies' \
  tx-train --kind decoder --src train.en --vocab two --steps 1 -o none
