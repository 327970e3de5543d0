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
