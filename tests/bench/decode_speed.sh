#!/bin/sh
# Decoding speed against CTranslate2 with the same weights on the same text: target pieces a second,
# <eos> counted, tx-decode's start-up included and CTranslate2's left out. In turn; nothing else
# should run beside it.
#
#   sh tests/bench/decode_speed.sh MODEL TEXT [SETTING=VALUE]...
# BIN=build/bin  where the tools are       PYTHON=python3  an interpreter that has ctranslate2
# THREADS=2      of each                   BEAM=4          width
# BATCH=32       sentences (CTranslate2);  TOKENS=1024     source pieces at a time (tx-decode)
# ROUNDS=3       the median counts         REF=            text to score both with (tx-bleu)
# DEVICE=cpu     of both; cuda             EXTRA=50        --max-extra, CTranslate2's beyond the longest
# FORM=text      pieces where TEXT is in pieces
set -eu
here=$(cd "$(dirname "$0")" && pwd)
model=${1:?"usage: decode_speed.sh MODEL TEXT [SETTING=VALUE]..."} text=${2:?"TEXT is missing"}
shift 2
BIN=build/bin PYTHON=python3 THREADS=2 BEAM=4 BATCH=32 TOKENS=1024 ROUNDS=3 REF='' DEVICE=cpu EXTRA=50
FORM=text
for setting; do
  case $setting in
    BIN=* | PYTHON=* | THREADS=* | BEAM=* | BATCH=* | TOKENS=* | ROUNDS=* | REF=* | DEVICE=* | \
      EXTRA=* | FORM=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "decode_speed.sh: no setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-convert" -q --to ctranslate2 -o "$work/ct2" "$model"
case $FORM in
  text) "$BIN/tx-bpe" encode -m "$work/ct2/sentencepiece.model" < "$text" > "$work/source" ;;
  *) cp "$text" "$work/source" ;;
esac
case $DEVICE in
  cpu) types="float32 int8" ;;
  *) types="float32 float16" ;;
esac

ours() {  # PRECISION: pieces a second
  start=$(date +%s%N)
  "$BIN/tx-decode" -m "$model" --pieces --device "$DEVICE" --precision "$1" --beam "$BEAM" \
    --threads "$THREADS" --batch-tokens "$TOKENS" --max-extra "$EXTRA" < "$work/source" \
    > "$work/out.tx.$1" 2> "$work/log"
  end=$(date +%s%N)
  rate "$work/out.tx.$1" "$(awk -v n=$((end - start)) 'BEGIN {print n / 1e9}')"
}
theirs() {  # TYPE
  "$PYTHON" "$here/peers/ct2_decode.py" "$work/ct2" "$1" "$BATCH" "$BEAM" "$THREADS" "$EXTRA" \
    "$DEVICE" < "$work/source" > "$work/out.ct2.$1" 2> "$work/seconds"
  rate "$work/out.ct2.$1" "$(tail -n 1 "$work/seconds")"
}
rate() { awk -v s="$2" '{n += NF + 1} END {printf "%d\n", n / s}' "$1"; }
median() { sort -n "$1" | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
score() {
  [ -z "$REF" ] || "$BIN/tx-bpe" decode -m "$work/ct2/sentencepiece.model" < "$1" |
    "$BIN/tx-bleu" --tokenize none --lowercase "$REF" | awk '{print "  BLEU " $3}'
}

for round in $(seq "$ROUNDS"); do
  for kind in fp32 auto; do ours $kind >> "$work/tx.$kind"; done
  for kind in $types; do theirs $kind >> "$work/ct2.$kind"; done
done
base=$(median "$work/ct2.float32")
for kind in $(printf "ct2.%s " $types) tx.fp32 tx.auto; do
  x=$(median "$work/$kind")
  awk -v name=$kind -v x="$x" -v base="$base" \
    'BEGIN {printf "%-12s %8d target pieces/s  %.2f\n", name, x, x / base}'
  score "$work/out.$kind"
done
