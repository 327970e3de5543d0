. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run
cp run/last.safetensors model.safetensors
