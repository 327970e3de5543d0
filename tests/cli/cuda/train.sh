# label: gpu
# Training on the GPU: the CPU's losses, reproducible bytes, and checkpoints that resume on both
# devices.
. "$TX_SOURCE/tests/cli/cuda.sh"
small_text
options="--dropout 0.1 --attention-dropout 0.1 --relu-dropout 0.1 --steps 8 --save-every 4"
# shellcheck disable=SC2086  # a list of words
for run in cpu cuda again; do
  device=cuda
  [ $run = cpu ] && device=cpu
  small_train $options --device $device -o $run 2> $run.log || fail "$(cat $run.log)"
  losses $run > $run.losses
done
[ "$(wc -l < cuda.losses)" -eq 8 ] || fail "the log does not have 8 losses: $(cat cuda/log.jsonl)"
same_run cuda again
near() { # A B
  paste "$1" "$2" | awk '{d = $2 - $4; if (d < 0) d = -d; if (!(d <= 1e-4 * $2)) bad = 1}
    END {exit bad}' || fail "losses differ: $(paste "$1" "$2")"
}
near cpu.losses cuda.losses
for device in cpu cuda; do
  # shellcheck disable=SC2086
  small_train $options --optimizer muon --device $device -o muon 2> muon.log || fail "$(cat muon.log)"
  losses muon > muon-$device.losses
  rm -r muon
done
near muon-cpu.losses muon-cuda.losses
cmp -s cuda.losses muon-cuda.losses && fail "--optimizer muon has no effect"
cp -r cuda other
expect_status 0 tx-train --resume cuda --device cpu --steps 10
expect_stderr_contains "--device cpu instead of cuda"
expect_status 0 tx-train --resume cpu --device cuda --steps 10
# bf16 with accumulation; --recompute does not change the bytes.
for run in kept recomputed; do
  word=
  [ $run = recomputed ] && word=--recompute
  # shellcheck disable=SC2086
  small_train --device cuda --precision bf16 --accumulate 2 --norm-position pre --steps 6 $word -o $run \
    2> $run.log || fail "$(cat $run.log)"
done
[ "$(weights_hash kept/last.safetensors)" = "$(weights_hash recomputed/last.safetensors)" ] ||
  fail "weights differ with --recompute"
# Without a visible GPU, --version gives the reason.
CUDA_VISIBLE_DEVICES='' expect_status 0 tx-train --version
expect_stdout_contains 'not used: no GPU can be used: '
expect_stdout_contains 'CUDA_VISIBLE_DEVICES is ""'
CUDA_VISIBLE_DEVICES='' expect_status 2 small_train --device cuda -o hidden
unset CUDA_VISIBLE_DEVICES
