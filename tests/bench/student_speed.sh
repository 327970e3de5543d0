#!/bin/sh
# Decoding speed of a student model against CTranslate2 and Marian: d_model 256, d_ff 1536, 8 heads,
# 6 encoder and 2 decoder layers, one thread, greedy search. All have the same random weights and
# read the same tokens. The programs take turns. Needs GNU time and an idle machine.
#
#   sh tests/bench/student_speed.sh TEXT [SETTING=VALUE]...
# BIN=build/bin  directory of the tools
# PYTHON=python3 an interpreter with ctranslate2, pymarian and numpy
# VOCAB=32000    number of tokens, learned from TEXT; or a subword model of tx-bpe
# LENGTH=24      tokens of each line, at least 15: TEXT is joined and split
# LINES=960      lines in batches of BATCH=32
# SINGLES=192    lines one by one, the first of LINES
# ROUNDS=3       the median counts
# SHORTLIST=     file for --shortlist; by default a random list, the token itself and 16 others for
#                each: about 300 per line, 3,800 per batch of 32
# OURS, THEIRS, MARIAN: precisions of tx, CTranslate2 and Marian (--gemm-type); +list adds the list
#
# No output ends early: each has LENGTH + 1 tokens, as Marian's does. Target tokens/s exclude
# start-up: the time for one line is subtracted (CTranslate2's script measures itself). First line:
# seconds from the start of the program to the first output for one line. 8-bit models are read from
# 8-bit files. Memory includes Python and the library, which are also printed alone. Equal lines:
# one by one, equal to those of tx fp32, or fp32+list; fp32 should have all, int8 need not.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
text=${1:?"usage: student_speed.sh TEXT [SETTING=VALUE]..."}
shift
BIN=build/bin PYTHON=python3 VOCAB=32000 LENGTH=24 LINES=960 SINGLES=192 BATCH=32 ROUNDS=3
SHORTLIST='' OURS='int8 int8+list auto fp32' THEIRS='int8 float32' MARIAN=avx2
! grep -q avx512bw /proc/cpuinfo || MARIAN=avx512
MARIAN="packed8$MARIAN packed8$MARIAN+list intgemm8$MARIAN intgemm8$MARIAN+list float32"
for setting; do
  case $setting in
    BIN=* | PYTHON=* | VOCAB=* | LENGTH=* | LINES=* | SINGLES=* | BATCH=* | ROUNDS=* | \
      SHORTLIST=* | OURS=* | THEIRS=* | MARIAN=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "student_speed.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
work=$(mktemp -d)
trap '[ $? -eq 0 ] || tail -n 30 "$work/log" >&2; rm -rf "$work"' EXIT
mkdir "$work/npz"
spm=$work/npz/vocab.spm npz=$work/npz/model.npz

prepare() {
  case $VOCAB in
    *[!0-9]*) cp "$VOCAB" "$spm" ;;
    *) "$BIN/tx-bpe" train --vocab-size "$VOCAB" --sample 200000 -o "$spm" "$text" ;;
  esac
  "$BIN/tx-bpe" vocab -m "$spm" | cut -f 2 > "$work/tokens"
  "$PYTHON" "$here/peers/student_npz.py" "$(wc -l < "$work/tokens")" > "$npz"
  "$BIN/tx-convert" -o "$work/tx.fp32" "$work/npz"
  "$BIN/tx-avg" --to int8 -o "$work/tx.int8" "$work/tx.fp32"
  "$BIN/tx-convert" --to ctranslate2 -o "$work/ct2.float32" "$work/tx.fp32"
  awk '{ gsub(/[\\"]/, "\\\\&"); printf "\"%s\": %d\n", $0, NR - 1 }' "$work/tokens" > "$work/yml"
  "$PYTHON" -m ctranslate2.converters.marian --model_path "$npz" --vocab_paths "$work/yml" \
    "$work/yml" --quantization int8 --output_dir "$work/ct2.int8"
  for kind in $MARIAN; do
    kind=${kind%+list}
    [ "$kind" = float32 ] ||
      "$PYTHON" -m pymarian convert -g "$kind" -f "$npz" -t "$work/marian.$kind.bin"
  done
  # Marian adds the source tokens to every list, so the random list has them, too.
  if [ "$SHORTLIST" ]; then cat "$SHORTLIST"; else
    awk 'BEGIN { srand(1); OFS = "\t" } { token[NR - 1] = $0 } END {
      for (i = 4; i < NR; ++i) {
        print token[i], token[i], 0.5
        for (k = 0; k < 16; ++k) {  # mostly low ids, as in real lists
          j = 260 + int((NR - 260) * rand() ^ 5)
          if (j != i && !((i, j) in seen)) print token[i], token[j], 0.03
          seen[i, j] } } }' "$work/tokens"
  fi > "$work/list"
  awk -F '\t' '$1 != "" { print $2, $1, $3 }' "$work/list" > "$work/lex"
  "$PYTHON" -m pymarian convert -s "$work/lex" 0 100 0 -d "$work/list.bin" -V "$spm" "$spm"
  "$BIN/tx-bpe" encode -m "$spm" < "$text" | awk -v n="$LENGTH" '
    { for (i = 1; i <= NF; ++i) printf "%s%s", $i, ++count % n ? " " : "\n" }' |
    head -n "$LINES" > "$work/batches"
  sed "${SINGLES}q" "$work/batches" > "$work/singles"
  sed 1q "$work/batches" > "$work/one"
}
decode() {  # PROGRAM.PRECISION SENTENCES FILE: sets first and all (ns); writes out, peak and log
  kind=${1#*.} input=$work/$3 list=''
  case $kind in *+list) kind=${kind%+list} list=1 ;; esac
  case $1 in
    tx.*)
      model=$work/tx.fp32
      [ "$kind" != int8 ] || model=$work/tx.int8
      set -- "$BIN/tx-decode" -q -m "$model" --precision "$kind" --pieces --beam 1 --threads 1 \
        --batch-tokens $(($2 * (LENGTH + 1))) --max-extra 1
      [ -z "$list" ] || set -- "$@" --shortlist "$work/list" --shortlist-first 0 ;;
    ct2.*)
      set -- "$PYTHON" "$here/peers/ct2_decode.py" "$work/ct2.$kind" "$kind" "$2" 1 1 1 cpu ;;
    marian.*)
      model=$work/marian.$kind.bin
      [ "$kind" != float32 ] || model=$npz
      set -- "$PYTHON" -m pymarian decode --quiet-translation -m "$model" -v "$spm" "$spm" -b 1 \
        --skip-cost --cpu-threads 1 --mini-batch "$2" --maxi-batch 100 --maxi-batch-sort src \
        --max-length-factor 1 --no-spm-encode --no-spm-decode -w 128
      [ -z "$list" ] || set -- "$@" --shortlist "$work/list.bin" 0 100 0 ;;
  esac
  start=$(date +%s%N)
  /usr/bin/time -f %M -o "$work/peak" "$@" < "$input" 2> "$work/log" | {
    IFS= read -r line && date +%s%N > "$work/first" && printf '%s\n' "$line" && cat
  } > "$work/out" || :
  all=$(($(date +%s%N) - start)) first=$(($(cat "$work/first") - start))
  [ "$(wc -l < "$work/out")" -eq "$(wc -l < "$input")" ] || {
    echo "student_speed.sh: failed: $*" >&2
    exit 1
  }
}
ct2_ns() { awk 'END { printf "%.0f\n", $1 * 1e9 }' "$work/log"; }
measure() {  # PROGRAM.PRECISION: one round
  decode "$1" 1 one
  startup=$all
  case $1 in ct2.*) first=$((first - $(ct2_ns))) ;; esac  # its script translates this line twice
  awk -v n="$first" 'BEGIN { print n / 1e9 }' >> "$work/first.$1"
  for run in "$BATCH batches" "1 singles"; do
    decode "$1" "${run% *}" "${run#* }"
    ns=$((all - startup)) skip=1 name=${run#* }.$1
    case $1 in ct2.*) ns=$(ct2_ns) skip=0 ;; esac
    awk -v ns="$ns" -v skip="$skip" 'NR > skip { n += NF } END { print n / ns * 1e9 }' \
      "$work/out" >> "$work/$name"
    cat "$work/peak" >> "$work/peak.$name"
    mv "$work/out" "$work/out.$name"
  done
}
median() { sort -n "$work/$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
alone() {  # ARGUMENT...: of Python
  /usr/bin/time -f "%M %e" -o "$work/peak" "$PYTHON" "$@" > "$work/log" 2>&1
  awk '{ printf "%.0f MiB, %s s", $1 / 1024, $2 }' "$work/peak"
}

prepare > "$work/log" 2>&1
# shellcheck disable=SC2086  # lists of words
programs=$(printf "tx.%s " $OURS; printf "ct2.%s " $THEIRS; printf "marian.%s " $MARIAN)
for _ in $(seq "$ROUNDS"); do
  for program in $programs; do measure "$program"; done
done
base=${programs%% *}
echo "$(wc -l < "$work/tokens") tokens in the vocabulary, $LENGTH in a line; ratio: $base / program"
echo
echo "| program | tokens/s in batches of $BATCH | ratio | tokens/s one by one | ratio | peak MiB," \
  "batches | one by one | first line, s | tokens | equal lines |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for program in $programs; do
  cmp=$work/out.singles.tx.fp32
  case $program in *+list) cmp=$cmp+list ;; esac
  equal=$([ ! -e "$cmp" ] || paste -d '\n' "$cmp" "$work/out.singles.$program" |
    awk 'NR % 2 { x = $0; next } x == $0 { ++n } END { print n + 0 " of " NR / 2 }')
  counts="$(wc -w < "$work/out.batches.$program") + $(wc -w < "$work/out.singles.$program")"
  for name in "batches.$base" "batches.$program" "singles.$base" "singles.$program" \
    "peak.batches.$program" "peak.singles.$program" "first.$program"; do median "$name"; done |
    xargs | awk -v name="$program" -v counts="$counts" -v equal="$equal" '{
      printf "| %s | %.0f | %.2f | %.0f | %.2f | %.0f | %.0f | %.3f | %s | %s |\n", name,
             $2, $1 / $2, $4, $3 / $4, $5 / 1024, $6 / 1024, $7, counts, equal }'
done
echo
echo "Library alone: CTranslate2 $(alone -c 'import ctranslate2')," \
  "pymarian $(alone -m pymarian --version)"
