# label: mpi
# --minutes on several ranks: all take part in measuring, and the run equals one with --steps on
# one rank.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/train.sh"
small_text
fitted() { # COUNT OPTION...
  count=$1
  shift
  # shellcheck disable=SC2086  # a list of words
  timeout 100 mpirun --oversubscribe --bind-to none -n "$count" tx-train $small_texts --vocab bpe.model \
    --layers 1 --d-model 32 --heads 2 --d-ff 64 --schedule linear --lr 0.01 --batch-tokens 200 \
    --accumulate 5 --threads 1 --precision fp32 --device cpu --quiet "$@"
}
expect_status 0 fitted 2 --minutes 0.05 -o clock
steps=$(sed -n 's/.*"steps": \([0-9]*\),/\1/p' clock/config.json)
expect_status 0 tx-train --resume clock --minutes 0 --quiet  # in case the clock cut the last steps
expect_status 0 fitted 1 --steps "$steps" -o counted
[ "$(weights_hash "clock/model-$steps.safetensors")" = \
  "$(weights_hash "counted/model-$steps.safetensors")" ] || fail "--minutes and --steps $steps differ"
