# --epochs N ends a run after exactly N epochs, however full its batches are, and the learning rate
# falls to 0 at that step; the run resumes bit-identically.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

whole_epochs() { # RUN N: it read the text N times and ended by the schedule that was fitted to that
  rows=$(sed -n 's/.*"tokens":\([0-9]*\).*/\1/p' "$1/log.jsonl" | tail -n 1)
  steps=$(readlink "$1/last.safetensors" | tr -dc 0-9)
  [ "$(setting "$1" steps)" = "$steps" ] || fail "$1: $steps steps instead of $(setting "$1" steps)"
  tail -n 3 "$1/log.jsonl" | grep -q "\"epoch\":$2," || fail "$1: $(tail -n 3 "$1/log.jsonl")"
  epoch=$(grep -ao '"\(pairs\|tokens\)":[0-9]*' "$1/train.ids" |
    awk -F : '/pairs/ { pairs = $2; next } { sum += $2 + pairs } END { print sum }')
  [ "$(setting "$1" bpe-dropout)" != 0.0 ] || [ "$rows" -eq $((epoch * $2)) ] ||
    fail "$1: $rows tokens instead of $2 times $epoch"
  tail -n 3 "$1/log.jsonl" | grep -q '"learning_rate":0.0,' || fail "$1: $(tail -n 3 "$1/log.jsonl")"
}
expect_epochs() { # N OPTION...
  n=$1
  shift
  rm -rf run
  expect_status 0 tx-train --threads 1 --precision fp32 --log-every 1 --epochs $n -o run "$@"
  whole_epochs run $n
}

# A language model whose batches hold few long sequences: fine-tuning, and preset auto.
expect_status 0 tx-train -q --kind decoder --preset toy --src train.en --vocab bpe.model --threads 1 --steps 2 -o first
for long in '--context 100 --cross-documents' '--context 100 --documents paragraphs'; do
  # shellcheck disable=SC2086
  expect_epochs 3 --kind decoder --init first --src train.en $long --batch-tokens 180 --accumulate 2
  # shellcheck disable=SC2086
  expect_epochs 2 --kind decoder --vocab bpe.model --src train.en $long --batch-tokens 180
done
expect_stderr_lacks 'warning'

# --batch-tokens auto: the batches are known after the settings are chosen.
texts="--src train.en --tgt train.de --vocab bpe.model"
# shellcheck disable=SC2086
{
  expect_status 2 tx-train $texts --batch-tokens auto --memory 1M -o none
  auto="--batch-tokens auto --memory $(sed -n 's/.*give --memory \([0-9]*M\).*/\1/p' "$TX_LAST/stderr")"
  expect_epochs 1 $texts $auto
  [ "$(setting run batch_tokens_resolved)" -lt 2000 ] || fail "$(setting run batch_tokens_resolved)"
  expect_epochs 2 $texts --bpe-dropout 0.3 --accumulate 3
}

# Killed and resumed, it has the same bytes; more epochs are counted anew.
# shellcheck disable=SC2086
set -- $texts $auto --epochs 1 --threads 1 --precision fp32 --save-every 15 --log-every 1
expect_status 0 tx-train "$@" -o whole
TX_FAILPOINT=state:3 expect_status 137 tx-train "$@" -o stopped
expect_status 0 tx-train --resume stopped
same_run whole stopped
expect_status 0 tx-train --resume stopped
expect_stderr_contains 'nothing to do'
expect_status 0 tx-train --resume stopped --epochs 2
expect_stderr_contains 'tx-train: --epochs 2: '
tail -n 3 stopped/log.jsonl | grep -q '"epoch":2,' || fail "$(tail -n 3 stopped/log.jsonl)"
tail -n 3 stopped/log.jsonl | grep -q '"learning_rate":0.0,' || fail "$(tail -n 3 stopped/log.jsonl)"
[ "$(setting stopped steps)" = "$(readlink stopped/last.safetensors | tr -dc 0-9)" ] || fail "$(ls stopped)"
