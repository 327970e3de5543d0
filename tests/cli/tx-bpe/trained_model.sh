# -m accepts a trained model or its run directory and uses the vocabulary in it.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 40
train_small run
tx-bpe train --type words -o words train.src train.tgt
tx-bpe encode -m words --ids train.src > wanted.ids
for model in run run/model-4.safetensors; do
  expect_status 0 tx-bpe encode -m "$model" --ids train.src
  cmp "$TX_LAST/stdout" wanted.ids || fail "-m $model and the word list encode differently"
  expect_status 0 tx-bpe decode -m "$model" --ids wanted.ids
  cmp "$TX_LAST/stdout" train.src || fail "-m $model does not restore the text"
done
head -c 3000 run/model-4.safetensors > short.safetensors
expect_status 1 tx-bpe encode -m short.safetensors train.src
