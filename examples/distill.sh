#!/bin/sh
# Sequence-level distillation (Kim and Rush, 2016): a small student learns the outputs of a teacher,
# or of an ensemble of teachers. Of their n best outputs of a training line the student gets the one
# closest to the reference by chrF. The student decodes in int8, with a shortlist.
#   sh examples/distill.sh DATA DIR "TEACHER..." [SETTING=VALUE]... > TABLE
# TEACHER: model files of one vocabulary, such as averages of runs of multi30k.sh with several seeds.
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# Settings, in addition to those of compare() in train.sh:
# NBEST=8  outputs of a line, which is also the size of the beam
# STEPS=7000  BASE="--preset modern --encoder-layers 6 --decoder-layers 2"  of the students, averages
#             of the last 10 checkpoints. One learns the outputs, the other, for comparison and
#             unless WITHOUT=no, the references.
# TEACHERS="--beam 5 --alpha 1"  options of tx-decode with the teachers
# Columns: score, lines per second on one thread without start-up, megabytes of the model files.
# BASE=firefox is the shape of Firefox's smallest students: a recurrent decoder, guided by the first
# teacher's alignments. DIR/firefox is then a translator for Firefox, with a shortlist and with
# ranges of activations measured on VALID. Teachers of Hugging Face or Marian: tx-convert them first.
# Multi30k is a demonstration. Mozilla's training guide names 20 to 80 million pairs for a usable
# translator, and more for a good one; Bergamot's scripts expect four GPUs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
usage='usage: distill.sh DATA DIR "TEACHER..." [SETTING=VALUE]... > TABLE'
data=${1:?"$usage"} dir=${2:?"DIR is missing"} teachers=${3:?"TEACHER is missing"}
shift 3
NBEST=8 STEPS=7000 BASE='--preset modern --encoder-layers 6 --decoder-layers 2'
TEACHERS='--beam 5 --alpha 1' WITHOUT=yes
compare 'NBEST TEACHERS WITHOUT' "$@"
case $BASE in
  firefox*)
    BASE="--preset modern --d-model 256 --d-ff 1536 --heads 8 --kv-heads 8 --encoder-layers 6
      --decoder-layers 2 --decoder-memory ssru --positions fairseq --norm-type layer --norm-position
      post --activation relu --ffn-bias --attention-bias --output-bias ${BASE#firefox}" ;;
esac
# Whether the student is for Firefox.
recurrent() { case $BASE in *ssru*) ;; *) false ;; esac; }
# align MODEL: DIR/links, the word alignments of the student's text.
align() {
  [ -e "$dir/links" ] || {
    tx-attn-dump -m "$1" --align --words --tgt "$dir/outputs.$TO" "$src" > "$dir/links.new"
    mv "$dir/links.new" "$dir/links"
  }
}

# The closest of the n best; the first of equal ones.
if [ ! -e "$dir/outputs.$TO" ]; then
  # shellcheck disable=SC2086,SC2046
  tx-decode -q $(printf ' -m %s' $teachers) --beam "$NBEST" --nbest "$NBEST" < "$src" > "$dir/nbest"
  awk -F '\t' 'FILENAME == ARGV[1] { reference[FNR] = $0; next } { print reference[$1] }' \
    "$tgt" "$dir/nbest" > "$dir/references"
  cut -f 5 "$dir/nbest" |
    tx-bleu --force --metric chrf --sentence --score-only --digits 4 "$dir/references" > "$dir/chrf"
  paste "$dir/chrf" "$dir/nbest" | awk -F '\t' '
    $2 != line { if (NR > 1) print best; line = $2; most = -1 }
    $1 > most { most = $1; best = $6 }
    END { print best }' > "$dir/new"
  mv "$dir/new" "$dir/outputs.$TO"
  rm "$dir/nbest" "$dir/references" "$dir/chrf"
fi
cp "$src" "$dir/outputs.$FROM"
for side in "$FROM" "$TO"; do cp "$(text "$TRAIN" "$side")" "$dir/pairs.$side"; done
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$src" "$tgt"
guide=
recurrent && align "${teachers%% *}" && guide="--guided-alignment $dir/links"
# shellcheck disable=SC2086
learn student outputs "$FROM" "$TO" --keep 10 $guide
runs=student
[ "$WITHOUT" = no ] || {
  runs='student without'
  learn without pairs "$FROM" "$TO" --keep 10
}
for run in $runs; do
  last=$(checkpoints "$dir/$run" 10)
  tx-avg -q --last "$last" -o "$dir/$run.safetensors" "$dir/$run"
  tx-avg -q --last "$last" --to int8 -o "$dir/$run.int8" "$dir/$run"
done
align "$dir/student.safetensors"
[ -e "$dir/shortlist" ] || {
  tx-bpe shortlist -m "$dir/student" --src "$src" --tgt "$dir/outputs.$TO" --links "$dir/links" \
    -o "$dir/shortlist.new"
  mv "$dir/shortlist.new" "$dir/shortlist"
}
if recurrent && [ ! -e "$dir/firefox" ]; then
  tx-convert -q --to firefox --shortlist "$dir/shortlist" --calibrate "$(text "$VALID" "$FROM")" \
    -o "$dir/firefox" "$dir/student.safetensors"
  tx-convert -q -o "$dir/translator.safetensors" "$dir/firefox"
fi

# row NAME FILES OPTION...: translates TEST; the time without that of an empty text,
# "?" below 0.1 s.
now() { date +%s.%N; }
row() {
  row=$1 files=$2
  shift 2
  start=$(now)
  tx-decode -q --threads 1 "$@" < /dev/null
  middle=$(now)
  tx-decode -q --threads 1 "$@" < "$(text "$TEST" "$FROM")" > "$dir/out"
  rate=$(echo "$start $middle $(now)" |
    awk -v lines="$(wc -l < "$dir/out")" '{ t = $3 - 2 * $2 + $1
      if (t > 0.1) printf "%.0f", lines / t; else print "?" }')
  score=$(bleu "$(text "$TEST" "$TO")" < "$dir/out")
  # shellcheck disable=SC2086
  size=$(cat $files | wc -c | awk '{ printf "%.1f", $1 / 1e6 }')
  echo "| $row | $score | $rate | $size |"
}
echo '| model | score | lines/s | MB |'
echo '|---|---|---|---|'
# shellcheck disable=SC2086,SC2046
row "teacher, $TEACHERS" "$teachers" $(printf ' -m %s' $teachers) $TEACHERS
full=$dir/student.safetensors small=$dir/student.int8 without=$dir/without.int8 list=$dir/shortlist
row 'student, beam 4, fp32' "$full" -m "$full" --precision fp32
row 'beam 4, int8' "$small" -m "$small" --precision int8
row 'beam 4, int8, shortlist' "$small $list" -m "$small" --precision int8 --shortlist "$list"
row 'greedy, int8, shortlist' "$small $list" -m "$small" --beam 1 --precision int8 --shortlist "$list"
if recurrent; then
  model=$dir/translator
  row 'greedy, the files of Firefox' "$dir/firefox/*" -m "$model.safetensors" --beam 1 \
    --shortlist "$model.shortlist"
fi
[ "$WITHOUT" = no ] ||
  row 'beam 4, int8, shortlist, trained on the references' "$without $list" -m "$without" \
    --precision int8 --shortlist "$list"
echo
hash_of_settings "$dir"
