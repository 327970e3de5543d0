# --recompute takes less memory for activations and gives the same bytes.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
for options in "--precision fp32 --norm-position post" "--precision fp32 --norm-position pre --dropout 0.2 --activation gelu" \
  "--precision bf16 --norm-position pre --attention-dropout 0.1 --relu-dropout 0.1"; do
  # shellcheck disable=SC2086  # a list of words
  recomputed $options --layers 3 || continue # no bf16 here
  # A run may be resumed without it.
  expect_status 0 tx-train --resume again --no-recompute --steps 15
  expect_status 0 tx-train --resume kept --steps 15
  [ "$(weights_hash kept/model-15.safetensors)" = "$(weights_hash again/model-15.safetensors)" ] ||
    fail "$options: weights differ after --no-recompute"
done
memory() { sed -n "s/^ *$1 *\([0-9]*\)[.].* MiB/\1/p"; } # NAME: whole MiB
tx-train --describe --layers 6 --d-model 256 --d-ff 1024 2> /dev/null > without
tx-train --describe --layers 6 --d-model 256 --d-ff 1024 --recompute 2> /dev/null > with
[ "$(memory activations < without)" = "$(memory 'without --recompute' < with)" ] || fail "$(cat with)"
[ "$(memory activations < with)" = "$(memory 'with --recompute' < without)" ] || fail "$(cat without)"
[ "$(memory activations < with)" -lt $(($(memory activations < without) * 2 / 3)) ] ||
  fail "--recompute saves too little: $(cat without)"

# Validation may need more memory than the training of so few layers.
for shape in '--d-ff 128 --norm-type rms' '--d-ff 32' '--d-ff 64 --norm-position pre'; do
  rm -rf run
  # shellcheck disable=SC2086  # words
  tx-train --src train.en --tgt train.de --vocab bpe.model --valid-src valid.en --valid-tgt valid.de \
    --preset toy --recompute --layers 1 --d-model 32 --heads 1 $shape --batch-tokens 1500 --threads 1 \
    --steps 2 --save-every 1 -o run 2> run.log || fail "$shape: $(cat run.log)"
done
