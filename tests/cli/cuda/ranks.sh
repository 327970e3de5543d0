# label: gpu
# Training over several GPUs, one rank each: the bytes of a checkpoint do not depend on the number
# of ranks, as on CPUs (tests/cli/tx-train/ranks.sh), and the ranks communicate by NCCL.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/cuda.sh"
case ${TX_NCCL:-} in
  *emulated*)
    export TX_EMULATED_GPUS=3
    gpus=3
    ;;
  *)
    gpus=$(nvidia-smi -L | wc -l)
    [ "$gpus" -ge 2 ] || skip "there is one GPU"
    [ "$gpus" -le 4 ] || gpus=4
    ;;
esac
small_text
on_ranks() ( # COUNT OPTION...
  runner="timeout 300 mpirun --oversubscribe --bind-to none -n $1"
  shift
  small_train --device cuda --accumulate 5 --dropout 0.1 --batch-tokens 100 --steps 4 --save-every 2 \
    "$@"
)
same_checkpoints() { # A B STEP
  for kind in model state; do
    cmp "$1/$kind-$3.safetensors" "$2/$kind-$3.safetensors" >&2 || fail "the ${kind}s of $1 and $2 differ"
  done
}

for precision in fp32 bf16; do
  for count in $(seq 1 "$gpus"); do
    export TX_EMULATED_NCCL_LOG="$PWD/calls-$precision-$count"
    expect_status 0 on_ranks "$count" --precision $precision -o run
    mv run "$precision-$count"
    same_checkpoints $precision-1 "$precision-$count" 4
  done
done
unset TX_EMULATED_NCCL_LOG
! cmp -s fp32-1/model-2.safetensors fp32-1/model-4.safetensors || fail "nothing was learned"

# A run stopped after step 2 resumes on two ranks.
cp -r "fp32-$gpus" run
rm run/*-4.safetensors
expect_status 0 timeout 300 mpirun --oversubscribe --bind-to none -n 2 tx-train --resume run --quiet
same_checkpoints run fp32-1 4

case ${TX_NCCL:-} in *emulated*) ;; *) exit 0 ;; esac
# The calls: none with one rank; sends and receives match, in groups, and the communicator is
# destroyed at the end.
[ ! -e calls-fp32-1.0 ] || fail "NCCL is used by a single rank"
for count in 2 3; do
  cat calls-fp32-$count.* > calls
  awk '$1 == "ncclSend" {sent += $3} $1 == "ncclRecv" {received += $3}
    ($1 == "ncclSend" || $1 == "ncclRecv") && $4 != "grouped" {bad = 1}
    $1 == "ncclAllGather" {gathered += $3} $1 == "ncclBroadcast" {broadcast += $3}
    END {exit !(sent > 0 && sent == received && gathered > 0 && broadcast > 0 && !bad)}' calls ||
    fail "unexpected calls: $(cut -d" " -f1,4 calls | sort | uniq -c)"
  for log in calls-fp32-$count.*; do
    [ "$(tail -n 1 "$log")" = ncclCommDestroy ] || fail "$log ends with $(tail -n 1 "$log")"
  done
done

# More ranks than GPUs.
TX_EMULATED_GPUS=2 expect_status 1 on_ranks 3 -o few
expect_stderr_contains "tx-train: rank 2 on $(hostname): the GPU of rank 0 is also this rank's"
[ "$(grep -c '^tx-train: rank' "$TX_LAST/stderr")" = 1 ] || fail "several ranks print: $(last_stderr)"
export TX_EMULATED_GPUS=3
TX_NCCL=/nowhere/libnccl.so.2 expect_status 2 on_ranks 2 -o missing
expect_stderr_contains 'ranks on GPUs need NCCL'
expect_no_file missing

# A killed rank ends the run.
(on_ranks 3 --steps 400 -o killed > output 2>&1 || echo "status $?" >> output) &
until [ -e killed/state-2.safetensors ] || grep -q status output; do sleep 0.1; done
for pid in $(pgrep -x tx-train); do
  folder=$(readlink "/proc/$pid/cwd" || true)
  [ "$folder" = "$PWD" ] || continue
  ! tr '\0' '\n' < "/proc/$pid/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 || kill -9 "$pid"
done
begin=$(date +%s)
wait
[ $(($(date +%s) - begin)) -lt 30 ] || fail "the other ranks continued"
grep -q 'status' output || fail "the run ended without an error"
