# label: gpu
# Decoding on the GPU: the CPU's output in fp32, batch-invariance, ensembles, n-best lists.
. "$TX_SOURCE/tests/cli/cuda.sh"
small_text
small_train --device cpu --steps 60 --save-every 30 -o run 2> run.log || fail "$(cat run.log)"
head -n 12 valid.en > text
for options in "--beam 1" "--beam 4 --nbest 3 --scores" "--sample --seed 3"; do
  for device in cpu cuda; do
    # shellcheck disable=SC2086  # a list of words
    tx-decode -m run $options --device $device --precision fp32 < text |
      awk -F '\t' '{print $NF}' > $device
  done
  same=$(paste -d '\n' cpu cuda | awk 'NR % 2 {line = $0; next} line == $0' | wc -l)
  [ "$same" -ge $(($(wc -l < cpu) * 99 / 100)) ] || fail "$options: $(diff cpu cuda)"
done
for precision in fp32 bf16; do
  expect_status 0 tx-decode -m run --device cuda --precision $precision --check-invariance text
done
expect_status 0 tx-decode -m run/model-30.safetensors -m run/model-60.safetensors --device cuda text
# Byte tokens of an untrained model: valid UTF-8, and batch-invariant.
make_model bytes vocabulary bpe.model
for options in "--beam 1" "--beam 4 --nbest 4" "--sample --nbest 3"; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -m bytes $options --device cuda text
  expect_stdout_lacks "$(printf '\357\277\275')"
done
expect_status 0 tx-decode -m bytes --device cuda --check-invariance text
# --memory on the GPU: another batch, the same bytes.
expect_status 0 tx-decode -m run --device cuda --scores text
last_stdout > usual
expect_usage_error "--memory 1M cannot hold a line" tx-decode -m run --device cuda --memory 1M
enough=$(last_stderr | sed -n 's/.*: --memory \([0-9]*M\) would fit it.*/\1/p')
expect_status 0 tx-decode -m run --device cuda --memory "$enough" --scores text
expect_stdout_file usual
expect_status 0 tx-attn-dump -m run --device cuda text
expect_stdout_lines 12
