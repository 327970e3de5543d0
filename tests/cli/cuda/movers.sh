# label: gpu
# Communication between GPUs by NCCL, one process each; the emulated NCCL detects wrong calls.
. "$TX_SOURCE/tests/cli/cuda.sh"
emulated=
case ${TX_NCCL:-} in *emulated*) emulated=1 ;; esac
if [ "$emulated" ]; then
  export TX_EMULATED_GPUS=3
  gpus=3
else
  gpus=$(nvidia-smi -L | wc -l)
  [ "$gpus" -ge 2 ] || skip "there is one GPU"
  [ "$gpus" -le 8 ] || gpus=8
fi
expect_status 0 tx-train --version
grep -q '^NCCL: [0-9.]*$' "$TX_LAST/stdout" || fail "--version lacks NCCL"

# started WHAT COUNT: writes the output of every rank and its status to rank.N.
started() {
  rm -f id rank.*
  for rank in $(seq 0 $(($2 - 1))); do
    { timeout 60 gpu_ranks "$1" "$rank" "$2" id > "rank.$rank" 2>&1 ||
      echo "status $?" >> "rank.$rank"; } &
  done
  wait
}
for count in $(seq 1 "$gpus"); do
  started all "$count"
  for rank in $(seq 0 $((count - 1))); do
    [ "$(cat "rank.$rank")" = "rank $rank of $count" ] || fail "$count ranks: $(cat rank.*)"
  done
done
[ "$emulated" ] || exit 0

started sizes 2
grep -q 'rank 0 sends 64 bytes as kind 0 where rank 1 waits for 128' rank.1 || fail "$(cat rank.*)"
started record 2
grep -qF '!s_.capturing failed' rank.0 || fail "$(cat rank.*)"
# The other ranks do not wait for a peer that is gone.
begin=$(date +%s)
started gone 3
for rank in 0 2; do
  grep -q 'NCCL failed while moving bytes between ranks: remote process exited' rank.$rank ||
    fail "rank $rank: $(cat rank.$rank)"
  grep -q 'status 1' rank.$rank || fail "rank $rank: $(cat rank.$rank)"
done
[ $(($(date +%s) - begin)) -lt 20 ] || fail "the other ranks kept waiting"
# Two ranks on one GPU.
export TX_EMULATED_GPUS=1
started all 2
grep -q 'NCCL failed while joining the ranks: invalid usage' rank.1 || fail "$(cat rank.*)"
expect_status 0 env TX_NCCL=/nowhere/libnccl.so.2 tx-train --version
expect_stdout_contains 'NCCL: not found'
TX_NCCL=/nowhere/libnccl.so.2 started all 1
grep -q 'ranks on GPUs need NCCL' rank.0 || fail "$(cat rank.0)"
grep -q '/nowhere/libnccl.so.2: cannot open' rank.0 || fail "$(cat rank.0)"
