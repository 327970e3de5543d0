#!/bin/sh
# Decoding speed against CTranslate2 with the same weights on the same text: target tokens/s,
# <eos> included. The two take turns. Start-up is excluded; that of tx-decode, measured with an
# empty line, is printed. Needs an idle machine.
#
# With LENGTH=N every source and output has N tokens: TEXT is split into lines of N tokens, and
# outputs end there. Use a model with random weights (make_model): outputs of a trained model end
# at <eos>. One sentence at a time on one thread: THREADS=1 BATCH=1 TOKENS=1.
#
#   sh tests/bench/decode_speed.sh MODEL TEXT [SETTING=VALUE]...
# BIN=build/bin  directory of the tools    PYTHON=python3  an interpreter with ctranslate2
# THREADS=2      of each                   BEAM=4          width
# BATCH=32       sentences (CTranslate2);  TOKENS=1024     source tokens per batch (tx-decode)
# ROUNDS=3       the median counts         REF=            references, to print BLEU of both
# DEVICE=cpu     of both; or cuda          EXTRA=50        --max-extra; CTranslate2's over the longest
# FORM=text      or pieces, if TEXT has subwords
# LENGTH=0       tokens of each line       LINES=0         maximum number of lines; 0: all
# SHORTLIST=     file for --shortlist: tx-decode also runs with it, as PRECISION+list
# OURS="fp32 auto int8" and THEIRS="float32 int8" (on a GPU without int8): precisions
set -eu
here=$(cd "$(dirname "$0")" && pwd)
model=${1:?"usage: decode_speed.sh MODEL TEXT [SETTING=VALUE]..."} text=${2:?"TEXT is missing"}
shift 2
BIN=build/bin PYTHON=python3 THREADS=2 BEAM=4 BATCH=32 TOKENS=1024 ROUNDS=3 REF='' DEVICE=cpu EXTRA=50
FORM=text LENGTH=0 LINES=0 OURS='' THEIRS='' SHORTLIST=''
for setting; do
  case $setting in
    BIN=* | PYTHON=* | THREADS=* | BEAM=* | BATCH=* | TOKENS=* | ROUNDS=* | REF=* | DEVICE=* | \
      EXTRA=* | FORM=* | LENGTH=* | LINES=* | OURS=* | THEIRS=* | SHORTLIST=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "decode_speed.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-convert" -q --to ctranslate2 -o "$work/ct2" "$model"
case $FORM in
  text) "$BIN/tx-bpe" encode -m "$work/ct2/sentencepiece.model" < "$text" ;;
  *) cat "$text" ;;
esac | if [ "$LENGTH" -gt 0 ]; then
  tr -s ' \n' '\n\n' | sed '/^$/d' | awk -v n="$LENGTH" '
    { line = line (line == "" ? "" : " ") $0 } NR % n == 0 { print line; line = "" }'
else
  cat
fi | if [ "$LINES" -gt 0 ]; then sed -n "1,${LINES}p"; else cat; fi > "$work/source"
[ "$LENGTH" -eq 0 ] || EXTRA=0
case $DEVICE in
  cpu) ours=${OURS:-fp32 auto int8} theirs=${THEIRS:-float32 int8} ;;
  *) ours=${OURS:-fp32 auto} theirs=${THEIRS:-float32 float16} ;;
esac
[ -z "$SHORTLIST" ] || ours="$ours $(printf "%s+list " $ours)"

decode() {  # PRECISION or PRECISION+list: nanoseconds
  precision=${1%+list}
  set -- "$1" -m "$model" --pieces --device "$DEVICE" --precision "$precision" --beam "$BEAM" \
    --threads "$THREADS" --batch-tokens "$TOKENS" --max-extra "$EXTRA"
  [ "$1" = "$precision" ] || set -- "$@" --shortlist "$SHORTLIST"
  shift
  start=$(date +%s%N)
  "$BIN/tx-decode" "$@" > "$work/out" 2> "$work/log"
  end=$(date +%s%N)
  echo $((end - start))
}
ours() {  # PRECISION: tokens/s
  first=$(echo | decode "$1")
  all=$(decode "$1" < "$work/source")
  mv "$work/out" "$work/out.tx.$1"
  awk -v n="$first" 'BEGIN {printf "%.3f\n", n / 1e9}' >> "$work/start.$1"
  rate "$work/out.tx.$1" "$(awk -v n=$((all - first)) 'BEGIN {print n / 1e9}')"
}
theirs() {  # TYPE
  "$PYTHON" "$here/peers/ct2_decode.py" "$work/ct2" "$1" "$BATCH" "$BEAM" "$THREADS" "$EXTRA" \
    "$DEVICE" < "$work/source" > "$work/out.ct2.$1" 2> "$work/seconds"
  rate "$work/out.ct2.$1" "$(tail -n 1 "$work/seconds")"
}
rate() { awk -v s="$2" '{n += NF + 1} END {printf "%d\n", n / s}' "$1"; }
median() { sort -n "$1" | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
# With LENGTH, checks the lengths of the outputs, without <eos>.
check() {
  [ "$LENGTH" -eq 0 ] || awk -v n="$LENGTH" 'NF < n - 1 || NF > n { other++ } END {
    if (other) printf "  %d of %d outputs have a different length\n", other, NR }' "$1"
}
score() {
  [ -z "$REF" ] || "$BIN/tx-bpe" decode -m "$work/ct2/sentencepiece.model" < "$1" |
    "$BIN/tx-bleu" --tokenize none --lowercase "$REF" | awk '{print "  BLEU " $3}'
}

for round in $(seq "$ROUNDS"); do
  for kind in $ours; do ours "$kind" >> "$work/tx.$kind"; done
  for kind in $theirs; do theirs "$kind" >> "$work/ct2.$kind"; done
done
best=$(for kind in $theirs; do median "$work/ct2.$kind"; done | sort -n | tail -n 1)
for kind in $(printf "ct2.%s " $theirs) $(printf "tx.%s " $ours); do
  x=$(median "$work/$kind")
  awk -v name="$kind" -v x="$x" -v best="$best" \
    'BEGIN {printf "%-12s %8d target tokens/s  %.2f x CTranslate2\n", name, x, x / best}'
  case $kind in tx.*) echo "  start-up $(median "$work/start.${kind#tx.}") s" ;; esac
  check "$work/out.$kind"
  score "$work/out.$kind"
done
