#!/bin/sh
# Trains models that differ in their options, and prints a table of their scores.
#   sh examples/paper/runs.sh DATA DIR [SETTING=VALUE]... < LIST > TABLE
# DATA is as for ../multi30k.sh. LIST has lines
#   name | options of tx-train | options of tx-decode (optional)
# Empty lines and lines that begin with # are ignored. Lines with the same options of tx-train
# share a model. Run it again to resume; DIR/settings records the settings and the SHA-256 of the
# texts, and other ones need another DIR. The last line of the output is a hash of all settings.
# STEPS=2000  training steps     SEEDS=1  such as "1 2 3"      AVERAGE=1  checkpoints to average
# BASE="--preset tiny --schedule cosine --lr 0.005 --warmup 400"  options of every model: with a
#             learning rate that falls to 0, few steps suffice and the last checkpoint is the best
# TRAIN=train VALID=val TEST=test_2016_flickr  names of the texts; FROM=en TO=de their extensions
# FORM=.lc.norm.tok  between name and extension; SCORE="--tokenize none --lowercase"  options of
#                    tx-bleu. FORM= SCORE= is for raw text
# VOCAB=8000  size of the vocabulary       LAUNCH=""  starts tx-train, such as "mpirun -n 8"; BASE
#             then needs --accumulate 8
#
# Columns: millions of parameters; perplexity per token of VALID, of the last checkpoint; BLEU of
# VALID and TEST, of the average, with half of TEST's 95 % bootstrap interval; CPU minutes of
# training. Each is the mean over the seeds; min, max are those of TEST. A training that diverges is
# a row with its error. DIR/seeds.tsv has the figures of each seed, whose differences compare.awk
# tests.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: runs.sh DATA DIR [SETTING=VALUE]... < LIST"}
dir=${2:?"DIR is missing"}
shift 2
STEPS=2000 SEEDS=1 BASE='--preset tiny --schedule cosine --lr 0.005 --warmup 400' AVERAGE=1
TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de
# shellcheck disable=SC2034  # LAUNCH is for train()
FORM=.lc.norm.tok SCORE='--tokenize none --lowercase' VOCAB=8000 LAUNCH=''
recorded='STEPS BASE AVERAGE TRAIN VALID TEST FROM TO FORM SCORE VOCAB'
settings "$recorded SEEDS LAUNCH" "$@"
same_settings "$dir" "$recorded" "$(text "$TRAIN" "$FROM")" "$(text "$TRAIN" "$TO")" \
  "$(text "$VALID" "$FROM")" "$(text "$VALID" "$TO")" "$(text "$TEST" "$FROM")" \
  "$(text "$TEST" "$TO")"
vocabulary=$dir/bpe.model
[ -e "$vocabulary" ] || tx-bpe train --vocab-size "$VOCAB" -o "$vocabulary" \
  "$(text "$TRAIN" "$FROM")" "$(text "$TRAIN" "$TO")"

# The second line of `times` has the user and system time of the shell's children.
processor_seconds() { awk -F '[ms ]+' 'NR == 2 { print 60 * $1 + $2 + 60 * $3 + $4 }' "$1"; }

# Trains and averages in WORK. If the training diverges, the file `failed` has the error.
learn() { # WORK SEED OPTIONS
  work=$1 seed=$2
  mkdir -p "$work"
  ended=0
  # Options are split into words.
  # shellcheck disable=SC2086
  (trap 'times > "$work/times"' EXIT
    train "$work/run" "$STEPS" $BASE --seed "$seed" --src "$(text "$TRAIN" "$FROM")" \
      --tgt "$(text "$TRAIN" "$TO")" --valid-src "$(text "$VALID" "$FROM")" \
      --valid-tgt "$(text "$VALID" "$TO")" --vocab "$vocabulary" \
      --cache "$dir/cache" --keep "$AVERAGE" $3) 2> "$work/log" || ended=$?
  processor_seconds "$work/times" >> "$work/seconds"
  case $ended in
    0) ;;
    *)
      if [ "$ended" -eq 1 ] && tail -n 1 "$work/log" | grep -q diverge; then
        tail -n 1 "$work/log" > "$work/failed"
        return 0
      fi
      tail -n 3 "$work/log" >&2
      exit "$ended"
      ;;
  esac
  tx-avg -q --last "$(checkpoints "$work/run" "$AVERAGE")" -o "$work/model.safetensors" \
    "$work/run"
}
# Writes translations, scores and the file `figures` to WORK/HOW.
translate() { # WORK/HOW OPTIONS
  how=$1
  mkdir -p "$how"
  for set in "$VALID" "$TEST"; do
    # shellcheck disable=SC2086
    tx-decode -q -m "$work/model.safetensors" $2 < "$(text "$set" "$FROM")" > "$how/$set.$TO"
    # shellcheck disable=SC2086
    tx-bleu $SCORE --confidence --json "$(text "$set" "$TO")" \
      < "$how/$set.$TO" > "$how/$set.json"
  done
  {
    printf '%s\t' "$(sed -n 's/.*; \([0-9,]*\) parameters.*/\1/p' "$work/log" | head -n 1 | tr -d ,)"
    printf '%s\t' "$(sed -n 's/.*"validation_perplexity":\([^,]*\),.*/\1/p' "$work/run/log.jsonl" |
      tail -n 1)"
    printf '%s\t' "$(member score "$how/$VALID.json")" "$(member score "$how/$TEST.json")"
    member confidence_var "$how/$TEST.json"
  } > "$how/figures.new"
  mv "$how/figures.new" "$how/figures"
}
key() { echo "$1" | tr -cs 'A-Za-z0-9.\n' _ | sed 's/^_*/-/; s/_*$//; s/^-$//'; }
member() { sed -n "s/.*\"$1\": \([0-9.]*\),.*/\1/p" "$2"; }

printf 'model\tseed\tparameters\tperplexity\tvalidation\ttest\tminutes\n' > "$dir/seeds.tsv.new"
echo '| model | parameters, millions | perplexity | BLEU, validation | BLEU, test | min, max | ± | CPU minutes |'
echo '|---|---|---|---|---|---|---|---|'
while IFS='|' read -r name options decode || [ -n "$name" ]; do  # the last line may have no newline
  name=$(echo "$name" | sed 's/^ *//; s/ *$//')
  case $name in '' | '#'*) continue ;; esac
  model=$dir/model$(key "$options") search=search$(key "$decode")
  for seed in $SEEDS; do
    work=$model/$seed
    [ -e "$work/model.safetensors" ] || [ -e "$work/failed" ] ||
      learn "$work" "$seed" "$options" < /dev/null
    [ -e "$work/$search/figures" ] || [ -e "$work/failed" ] || translate "$work/$search" "$decode"
  done
  for seed in $SEEDS; do
    work=$model/$seed
    if [ -e "$work/failed" ]; then
      awk '{ printf "failed\t%s\n", $0 }' "$work/failed"
      continue
    fi
    minutes=$(awk '{ s += $1 } END { printf "%.2f", s / 60 }' "$work/seconds")
    awk -F '\t' -v OFS='\t' -v minutes="$minutes" '{ print $0, minutes }' "$work/$search/figures"
    awk -F '\t' -v OFS='\t' -v name="$name" -v seed="$seed" -v minutes="$minutes" \
      '{ print name, seed, $1, $2, $3, $4, minutes }' "$work/$search/figures" >> "$dir/seeds.tsv.new"
  done | awk -F '\t' -v name="$name" '
    $1 == "failed" { failed = $2; next }
    {
      n++; parameters = $1; perplexity += $2 == "null" ? "inf" : $2; valid += $3; test += $4; interval += $5; minutes += $6
      if (n == 1 || $4 < min) min = $4
      if (n == 1 || $4 > max) max = $4
    }
    END {
      if (n) printf "| %s | %.2f | %.2f | %.1f | %.1f | %.1f, %.1f | %.1f | %.1f |\n", name,
        parameters / 1e6, perplexity / n, valid / n, test / n, min, max, interval / n, minutes / n
      if (failed != "") printf "| %s | %s |\n", name, failed
    }'
done
mv "$dir/seeds.tsv.new" "$dir/seeds.tsv"
echo
hash_of_settings "$dir" "SEEDS=$SEEDS"
