#!/bin/sh
# Training speed against PyTorch, source + target pieces a second on the same ids, the two in turn
# so that a change of the machine's mood meets both. Nothing else should run beside it.
#
#   sh tests/bench/train_speed.sh SRC TGT [OPTION=VALUE]...
# BIN=build/bin   where the tools are           PYTHON=python3  an interpreter that has torch
# SHAPE=base      or small: d 128, 4 + 4 layers THREADS=2       of each
# ROUNDS=3        the median counts             STEPS=12        of PyTorch; tx runs three times as many
set -eu
here=$(cd "$(dirname "$0")" && pwd)
src=${1:?"usage: train_speed.sh SRC TGT [OPTION=VALUE]..."} tgt=${2:?"usage: train_speed.sh SRC TGT"}
shift 2
BIN=build/bin PYTHON=python3 SHAPE=base THREADS=2 ROUNDS=3 STEPS=12
for setting; do
  case $setting in
    BIN=* | PYTHON=* | SHAPE=* | THREADS=* | ROUNDS=* | STEPS=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "train_speed.sh: no setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-bpe" train --vocab-size 8000 -o "$work/bpe.model" "$src" "$tgt" 2> "$work/log"
"$BIN/tx-bpe" encode -m "$work/bpe.model" --ids < "$src" > "$work/src.ids"
"$BIN/tx-bpe" encode -m "$work/bpe.model" --ids < "$tgt" > "$work/tgt.ids"
if [ "$SHAPE" = small ]; then
  tx_shape="--preset tiny" torch_shape="--d-model 128 --d-ff 256 --heads 4 --layers 4 --dropout 0.3"
else
  tx_shape="--preset base" torch_shape=""
fi

ours() {  # PRECISION: the median rate of the log's lines after the first
  rm -rf "$work/run"
  # shellcheck disable=SC2086
  "$BIN/tx-train" $tx_shape --norm-position post --src "$src" --tgt "$tgt" --vocab "$work/bpe.model" \
    --max-length 250 --batch-tokens 4096 --steps $((STEPS * 3)) --log-every 4 --save-every 0 \
    --precision "$1" --threads "$THREADS" -q -o "$work/run"
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$work/run/log.jsonl" | sed 1d | median
}
median() { sort -n | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
theirs() {  # [--bf16]
  # shellcheck disable=SC2086
  "$PYTHON" "$here/peers/torch_train.py" "$work/src.ids" "$work/tgt.ids" $torch_shape \
    --steps "$STEPS" --threads "$THREADS" "$@"
}

for round in $(seq "$ROUNDS"); do
  ours auto >> "$work/tx"
  theirs >> "$work/fp32"
  theirs --bf16 >> "$work/bf16"
  echo "round $round: tx $(tail -n 1 "$work/tx"), PyTorch fp32 $(tail -n 1 "$work/fp32")," \
    "bf16 $(tail -n 1 "$work/bf16")" >&2
done
tx=$(median < "$work/tx") fp32=$(median < "$work/fp32") bf16=$(median < "$work/bf16")
awk -v tx="$tx" -v fp32="$fp32" -v bf16="$bf16" -v shape="$SHAPE" -v threads="$THREADS" 'BEGIN {
  printf "%s, %d threads, pieces a second: tx %d, PyTorch fp32 %d (%.2f times), bf16 %d (%.2f times)\n",
         shape, threads, tx, fp32, tx / fp32, bf16, tx / bf16 }'
