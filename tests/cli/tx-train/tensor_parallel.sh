# label: mpi
# --tensor-parallel: losses equal those of one rank up to rounding, files are those of the whole
# model, and a run resumes with another number of shards.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/train.sh"
small_text
on_parts() ( # RANKS PARTS OPTION...
  runner="timeout 100 mpirun -q --oversubscribe --bind-to none -n $1"
  parts=$2
  shift 2
  small_train --device cpu --heads 4 --accumulate 2 --dropout 0.1 --attention-dropout 0.1 \
    --relu-dropout 0.1 --log-gradients --tensor-parallel "$parts" "$@"
)
# near A B: the figures in the logs, of steps and validations, are equal up to rounding.
near() {
  for side in "$1" "$2"; do
    grep -E '"(loss|validation_loss)"' "$side/log.jsonl" |
      grep -oE '"(step|loss|validation_loss|gradient_norm|[a-z.]*layers[.]0|accuracy)":[-0-9.e]*' |
      tr -d '"' |
      tr ':' ' ' > "figures-$side"
  done
  [ "$(wc -l < "figures-$1")" -ge 30 ] || fail "the log of $1 has few figures"
  grep -q layers "figures-$1" || fail "the log of $1 has no gradient norms by layer"
  paste -d ' ' "figures-$1" "figures-$2" > both
  awk '$1 != $3 || ($2 - $4) ^ 2 > (2e-5 * $2) ^ 2 { print; wrong = 1 } END { exit wrong }' both ||
    fail "$1 and $2 differ"
}

expect_status 0 on_parts 1 1 -o one
tx-decode -m one/model-12.safetensors --precision fp32 --quiet valid.en > one.out
[ "$(grep -c . one.out)" -gt 30 ] || fail "one rank learned nothing"
for ranks_parts in "2 2" "4 4" "4 2"; do
  # shellcheck disable=SC2086  # two numbers
  expect_status 0 on_parts $ranks_parts -o run
  [ "$(grep -c '^tx-train: 12 steps' "$TX_LAST/stderr")" = 1 ] || fail "not exactly one rank prints the end"
  name=$(echo "$ranks_parts" | tr ' ' -)
  mv run "$name"
  near one "$name"
  tx-decode -m "$name/model-12.safetensors" --precision fp32 --quiet valid.en > "$name.out"
  cmp one.out "$name.out" >&2 || fail "$name has different translations"
done
# Shards have the same dropout masks as the whole model; without dropout, losses differ.
expect_status 0 on_parts 2 2 --relu-dropout 0 -o unmasked
(near one unmasked) > /dev/null 2>&1 && fail "masks of the feed-forward network have no effect"

# A run with two shards resumes with one and then four, as an uninterrupted run.
expect_status 0 on_parts 2 2 -o run
rm run/*-6.safetensors run/*-9.safetensors run/*-12.safetensors
expect_status 0 tx-train --resume run --tensor-parallel 1 --steps 6
expect_status 0 timeout 100 mpirun -q --oversubscribe --bind-to none -n 4 \
  tx-train --resume run --tensor-parallel 4 --steps 12
near one run

# A recurrent decoder is not divided.
expect_status 0 on_parts 1 1 --decoder-memory ssru -o recurrent
expect_status 0 on_parts 2 2 --decoder-memory ssru -o recurrent-2
near recurrent recurrent-2

# One text: models of kind decoder and encoder, with later blocks.
small_texts="--src train.en --valid-src valid.en"
for kind in decoder encoder; do
  set -- --kind $kind --context 40 --positions rotary --norm-type rms --activation swiglu
  set -- "$@" --kv-heads 2
  expect_status 0 on_parts 1 1 "$@" -o "$kind-1"
  expect_status 0 on_parts 2 2 --recompute "$@" -o "$kind-2"
  near $kind-1 $kind-2
done
small_texts="--src train.en --tgt train.de"

# Without norms and biases the ranks have no weights in common.
set -- --norm-type none --no-ffn-bias --no-residual
expect_status 0 on_parts 1 1 "$@" -o bare-1
expect_status 0 on_parts 2 2 "$@" -o bare-2
near bare-1 bare-2

# Unsupported combinations are errors before anything is written.
refused() { # MESSAGE RANKS PARTS OPTION...
  message=$1
  shift
  expect_status 2 on_parts "$@" -o refused
  expect_stderr_contains "$message"
  [ ! -e refused ] || fail "a run was started"
}
refused '--tensor-parallel 2 needs a multiple of 2 ranks, not 1' 1 2
refused '--tensor-parallel 2 needs a multiple of 2 ranks, not 3' 3 2
refused '--accumulate 1 is less than the 2 replicas of the model' 4 2 --accumulate 1
refused '--tensor-parallel 2 is not supported with --valid-metric bleu' 2 2 --valid-src valid.en \
  --valid-tgt valid.de --valid-metric bleu
expect_status 2 on_parts 3 3 -o refused
expect_stderr_contains '--tensor-parallel 3 does not divide --heads 4'

# Rank 0 also holds the whole model, with fp32 weights for any precision: its plan counts them.
small_train --precision bf16 --describe > /dev/null 2>&1 || exit 0 # not supported here
[ "$TX_SANITIZE" != ON ] || exit 0                                # the sanitizers use more memory
on_parts 2 2 --precision bf16 --d-model 512 --d-ff 2048 --layers 3 --batch-tokens 600 --steps 2 \
  --save-every 2 -o wide 2> run.log &
job=$!
while kill -0 $job 2> /dev/null && [ -z "$(rank_process 0)" ]; do sleep 0.05; done
watch_memory "$(rank_process 0)"
wait $job || fail "$(cat run.log)"
planned=$(sed -n 's/.*memory plan: \([0-9]*\)\.[0-9] MiB.*/\1/p' run.log)
echo "planned $planned MiB, used $((peak / 1024)) MiB"
[ $((peak * 10)) -le $((planned * 1024 * 11)) ] && [ $((peak * 10)) -ge $((planned * 1024 * 9)) ] ||
  fail "rank 0: planned $planned MiB, used $((peak / 1024)) MiB"
