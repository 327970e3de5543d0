# label: mpi
# Training over several ranks: the bytes of a checkpoint do not depend on their number, and only
# rank 0 prints. 400 pairs in batches of 200 tokens: the last step of an epoch is short.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/train.sh"
small_text
on_ranks() ( # COUNT OPTION...
  runner="timeout 100 mpirun --oversubscribe --bind-to none -n $1"
  shift
  small_train --device cpu --accumulate 5 --dropout 0.1 --log-gradients "$@"
)
gradient_norms() { grep -o '"gradient_norms":{[^}]*}' "$1/log.jsonl" > "$1.norms"; } # RUN
same_checkpoints() { # A B: compares those of the last step
  for kind in model state; do
    cmp "$1/$kind-12.safetensors" "$2/$kind-12.safetensors" >&2 || fail "the ${kind}s of $1 and $2 differ"
  done
}

for runs in 'fp32 1 2 3 4' 'bf16 1 3'; do
  precision=${runs%% *}
  for count in ${runs#* }; do
    expect_status 0 on_ranks $count --precision $precision -o run
    grep -c '^tx-train: 12 steps' "$TX_LAST/stderr" > lines
    [ "$(cat lines)" = 1 ] || fail "$count ranks print their end $(cat lines) times"
    ! grep -v '^tx-train: ' "$TX_LAST/stderr" || fail "mpirun prints a message"
    mv run "$precision-$count"
    same_checkpoints $precision-1 $precision-$count
    gradient_norms $precision-$count
    [ "$(wc -l < $precision-$count.norms)" = 12 ] || fail "no gradient norms by layer"
    expect_same $precision-1.norms $precision-$count.norms
  done
done
! cmp -s fp32-1/model-3.safetensors fp32-1/model-12.safetensors || fail "nothing was learned"

# The optimizer state that a rank holds, in MiB.
optimizer_state() { # RANKS
  expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n "$1" \
    tx-train --describe --device cpu --preset tiny --batch-tokens 512 --accumulate 4
  awk '$1 == "optimizer" { print $3 }' "$TX_LAST/stdout"
}
whole=$(optimizer_state 1)
part=$(optimizer_state 4)
awk "BEGIN { exit !($whole > 3.9 * $part && $whole < 4.1 * $part) }" ||
  fail "of 4 ranks one holds $part MiB of optimizer state, a single one $whole"

# A run stopped after step 6 on 4 ranks resumes on 2; with BPE-dropout, other optimizers and SimCut.
for optimizer in "sgd --lr 0.5" "muon --lr 0.01"; do
  # shellcheck disable=SC2086  # a list of words
  set -- --bpe-dropout 0.1 --consistency simcut --optimizer $optimizer
  expect_status 0 on_ranks 1 "$@" -o run
  mv run whole
  expect_status 0 on_ranks 4 "$@" -o run
  rm run/*-9.safetensors run/*-12.safetensors
  expect_status 0 timeout 100 mpirun --oversubscribe --bind-to none -n 2 tx-train --resume run --quiet
  same_checkpoints run whole
  rm -r run whole
done

# Tokens that are added to a model, while the rows of the others stay.
printf 'zwei\n' > tokens
for count in 1 3; do
  expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n $count tx-train --init fp32-1 \
    --add-tokens tokens --freeze-old-tokens --src train.en --tgt train.de --device cpu --threads 1 \
    --batch-tokens 200 --accumulate 5 --steps 12 --save-every 12 -o grown-$count
done
same_checkpoints grown-1 grown-3
expect_status 2 timeout 60 mpirun --oversubscribe --bind-to none -n 2 tx-train --resume grown-1 --tensor-parallel 2
expect_stderr_contains "--tensor-parallel cannot be used with --freeze-old-tokens, as in this run"

# Fewer batches than ranks, and a rank with different options.
expect_status 2 on_ranks 3 --accumulate 2 -o few
[ "$(grep -c 'tx-train: --accumulate 2 is less than the 3 ranks' "$TX_LAST/stderr")" = 1 ] ||
  fail "rank 0 does not report too many ranks"
[ ! -e few ] || fail "a run was started"
train="tx-train --src train.en --tgt train.de --vocab bpe.model --preset toy --threads 1
  --device cpu --batch-tokens 400 --accumulate 2 --steps 2 --quiet -o other"
# shellcheck disable=SC2086  # lists of words
expect_status 1 timeout 60 mpirun --oversubscribe --bind-to none -n 1 $train : -n 1 $train --lr 0.5
expect_stderr_contains "tx-train: rank 1 on $(hostname): options differ from rank 0's"
# A rank that may use other instructions.
isa=AVX2
[ "$(uname -m)" = x86_64 ] || isa=NEON
# shellcheck disable=SC2086
expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n 1 $train -o isa : -n 1 env TX_MAX_ISA=$isa $train -o isa
expect_stderr_contains "tx-train: warning: rank 1 on $(hostname) has other CPU instructions or libraries than rank 0"
# shellcheck disable=SC2086
expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n 2 $train -o same
expect_stderr_lacks 'instructions'
# Where --preset auto is given, the other ranks take rank 0's choice.
# shellcheck disable=SC2086
expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n 2 $train --preset auto

# A killed rank ends the run, which can be resumed.
expect_status 0 on_ranks 1 --steps 300 --save-every 100 -o run2
mv run2 long
(on_ranks 3 --steps 300 --save-every 100 -o run2 > killed 2>&1 || echo "status $?" >> killed) &
until [ -e run2/state-100.safetensors ] || grep -q status killed; do sleep 0.1; done
kill -9 "$(rank_process 2)"
begin=$(date +%s)
wait
[ $(($(date +%s) - begin)) -lt 30 ] || fail "the other ranks continued"
grep -q "^tx-train: rank 2 on $(hostname) ended without an error message" killed || fail "$(cat killed)"
grep -q "status" killed || fail "the run ended without an error"
expect_status 0 timeout 100 mpirun --oversubscribe --bind-to none -n 2 tx-train --resume run2 --quiet
cmp run2/model-300.safetensors long/model-300.safetensors >&2 || fail "the killed run differs"
