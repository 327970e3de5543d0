#!/bin/sh
# Training speed against PyTorch: source + target tokens/s on the same ids. The two take turns, so
# that changes of the machine affect both. Needs an idle machine.
#
#   sh tests/bench/train_speed.sh SRC TGT [OPTION=VALUE]...
# BIN=build/bin   directory of the tools        PYTHON=python3  an interpreter with torch
# SHAPE=base      d256: d 256, 3 + 3 layers; small: d 128, 4 + 4
# THREADS=2       of each
# ROUNDS=3        the median counts             STEPS=12        of PyTorch; tx runs three times as many
# TOKENS=4096     tokens of a batch on its longer side
# BF16=yes        also PyTorch in bf16; without bf16 instructions it is 10 times as slow as fp32
#
# tx runs in the precision that it selects and in fp32.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
src=${1:?"usage: train_speed.sh SRC TGT [OPTION=VALUE]..."} tgt=${2:?"usage: train_speed.sh SRC TGT"}
shift 2
BIN=build/bin PYTHON=python3 SHAPE=base THREADS=2 ROUNDS=3 STEPS=12 TOKENS=4096 BF16=yes
for setting; do
  case $setting in
    BIN=* | PYTHON=* | SHAPE=* | THREADS=* | ROUNDS=* | STEPS=* | TOKENS=* | BF16=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "train_speed.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-bpe" train --vocab-size 8000 -o "$work/bpe.model" "$src" "$tgt" 2> "$work/log"
"$BIN/tx-bpe" encode -m "$work/bpe.model" --ids < "$src" > "$work/src.ids"
"$BIN/tx-bpe" encode -m "$work/bpe.model" --ids < "$tgt" > "$work/tgt.ids"
case $SHAPE in
  base) tx_shape="--preset base" torch_shape="" ;;
  d256)
    tx_shape="--preset base --d-model 256 --d-ff 1024 --heads 4 --layers 3"
    torch_shape="--d-model 256 --d-ff 1024 --heads 4 --layers 3" ;;
  small)
    tx_shape="--preset tiny"
    torch_shape="--d-model 128 --d-ff 256 --heads 4 --layers 4 --dropout 0.3" ;;
  *) echo "train_speed.sh: unknown shape '$SHAPE'" >&2; exit 2 ;;
esac

ours() {  # PRECISION: the median rate in the log without its first line
  rm -rf "$work/run"
  # shellcheck disable=SC2086
  "$BIN/tx-train" $tx_shape --norm-position post --src "$src" --tgt "$tgt" --vocab "$work/bpe.model" \
    --max-length 250 --batch-tokens "$TOKENS" --steps $((STEPS * 3)) --log-every 4 --save-every 0 \
    --precision "$1" --threads "$THREADS" -q -o "$work/run"
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$work/run/log.jsonl" | sed 1d | median
}
median() { sort -n | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
theirs() {  # [--bf16]
  # shellcheck disable=SC2086
  "$PYTHON" "$here/peers/torch_train.py" "$work/src.ids" "$work/tgt.ids" $torch_shape \
    --steps "$STEPS" --threads "$THREADS" --batch-tokens "$TOKENS" "$@"
}

for round in $(seq "$ROUNDS"); do
  ours auto >> "$work/tx"
  theirs >> "$work/fp32"
  ours fp32 >> "$work/tx32"
  if [ "$BF16" = yes ]; then theirs --bf16; else echo 0; fi >> "$work/bf16"
  echo "round $round: tx $(tail -n 1 "$work/tx"), fp32 $(tail -n 1 "$work/tx32")," \
    "PyTorch fp32 $(tail -n 1 "$work/fp32"), bf16 $(tail -n 1 "$work/bf16")" >&2
done
awk -v tx="$(median < "$work/tx")" -v tx32="$(median < "$work/tx32")" \
  -v fp32="$(median < "$work/fp32")" -v bf16="$(median < "$work/bf16")" \
  -v what="$SHAPE, $THREADS threads, batches of $TOKENS" 'BEGIN {
  printf "%s, tokens/s: tx %d, ", what, tx
  if (bf16 > 0) printf "PyTorch bf16 %d (%.2f times); ", bf16, tx / bf16
  printf "tx fp32 %d, PyTorch fp32 %d ", tx32, fp32
  printf "(%.2f times; tx %.2f times)\n", tx32 / fp32, tx / fp32 }'
