. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
tx-bpe train --vocab-size 300 -o bpe.model train.src train.tgt
train_small run --vocab bpe.model
cp -r "$TX_SOURCE/tests/golden/marian" opus
cp -r "$TX_SOURCE/tests/golden/llama" llama
