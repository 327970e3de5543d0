#!/bin/sh
# Trains models that differ in their options, and prints what each learned as a table.
#   sh examples/paper/runs.sh DATA FOLDER [SETTING=VALUE]... < LIST > TABLE
# DATA holds train, val and test_2016_flickr, each as NAME.lc.norm.tok.en and .de. Lines of LIST:
#   name | options of tx-train | options of tx-decode, which may be left out
# Empty lines and those that begin with # are passed over. Under FOLDER a model has a folder by its
# options, so that lines which differ in decoding share it. Run again, this goes on where it was.
# STEPS=2000  of a training      SEEDS=1  such as "1 2 3"      AVERAGE=1  last checkpoints
# BASE="--preset tiny --schedule cosine --lr 0.005 --warmup 400"  of every model: a rate that falls to
#             0 at the last step learns most in few, and the last checkpoint is the best
# TRAIN=train VALID=val TEST=test_2016_flickr  names of the texts, and FROM=en TO=de their endings
# FORM=.lc.norm.tok  what stands before the ending, and SCORE="--tokenize none --lowercase" how BLEU is
#                    counted; FORM= SCORE= takes texts as people write them
#
# Columns: millions of parameters; of the last checkpoint, perplexity for each piece of VALID; of the
# average, BLEU of VALID and of TEST with half the 95 % interval that a bootstrap over lines gives;
# processor minutes of training, of all threads; all means over the seeds, of which TEST's least and
# largest are given. A training that ends early is a row that says why.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: runs.sh DATA FOLDER [SETTING=VALUE]... < LIST"}
folder=${2:?"FOLDER is missing"}
shift 2
STEPS=2000 SEEDS=1 BASE='--preset tiny --schedule cosine --lr 0.005 --warmup 400' AVERAGE=1
TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de
FORM=.lc.norm.tok SCORE='--tokenize none --lowercase'
settings "STEPS SEEDS BASE AVERAGE TRAIN VALID TEST FROM TO FORM SCORE" "$@"
text() { echo "$data/$1$FORM.$2"; }
mkdir -p "$folder"
vocabulary=$folder/bpe.model
[ -e "$vocabulary" ] || tx-bpe train --vocab-size 8000 -o "$vocabulary" "$(text "$TRAIN" "$FROM")" \
  "$(text "$TRAIN" "$TO")"

# What `times` says: user and system time of a shell's children stand in the second line.
processor_seconds() { awk -F '[ms ]+' 'NR == 2 { print 60 * $1 + $2 + 60 * $3 + $4 }' "$1"; }

# WORK gets its run and its average; the file `failed`, where the training did.
learn() { # WORK SEED OPTIONS
  work=$1 seed=$2
  mkdir -p "$work"
  ended=0
  # Words of options are meant to come apart.
  # shellcheck disable=SC2086
  (trap 'times > "$work/times"' EXIT
    train "$work/run" "$STEPS" $BASE --seed "$seed" --src "$(text "$TRAIN" "$FROM")" \
      --tgt "$(text "$TRAIN" "$TO")" --valid-src "$(text "$VALID" "$FROM")" \
      --valid-tgt "$(text "$VALID" "$TO")" --vocab "$vocabulary" --keep "$AVERAGE" $3) \
    2> "$work/log" || ended=$?
  processor_seconds "$work/times" >> "$work/seconds"
  case $ended in
    0) ;;
    1) tail -n 1 "$work/log" > "$work/failed"; return 0 ;;
    *) tail -n 3 "$work/log" >&2; exit "$ended" ;; # options that are wrong, or a signal
  esac
  tx-avg -q --last "$(checkpoints "$work/run" "$AVERAGE")" -o "$work/model.safetensors" \
    "$work/run"
}
# A folder of a model gets translations, scores and the file `figures`.
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
    printf '%s\t' "$(sed -n 's/.*; \([0-9]*\) parameters.*/\1/p' "$work/log" | head -n 1)"
    printf '%s\t' "$(sed -n 's/.*"validation_perplexity":\([^,]*\),.*/\1/p' "$work/run/log.jsonl" |
      tail -n 1)"
    printf '%s\t' "$(member score "$how/$VALID.json")" "$(member score "$how/$TEST.json")"
    member confidence_var "$how/$TEST.json"
  } > "$how/figures"
}
key() { echo "$1" | tr -cs 'A-Za-z0-9.\n' _ | sed 's/^_*/-/; s/_*$//; s/^-$//'; }
member() { sed -n "s/.*\"$1\": \([0-9.]*\),.*/\1/p" "$2"; }

echo '| model | parameters, millions | perplexity | BLEU, validation | BLEU, test | least, largest | ± | processor minutes |'
echo '|---|---|---|---|---|---|---|---|'
while IFS='|' read -r name options decode; do
  name=$(echo "$name" | sed 's/^ *//; s/ *$//')
  case $name in '' | '#'*) continue ;; esac
  model=$folder/model$(key "$options") search=search$(key "$decode")
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
    awk '{ printf "%s\t", $0 }' "$work/$search/figures"
    awk '{ s += $1 } END { print s / 60 }' "$work/seconds"
  done | awk -F '\t' -v name="$name" '
    $1 == "failed" { failed = $2; next }
    {
      n++; parameters = $1; perplexity += $2 == "null" ? "inf" : $2; valid += $3; test += $4; interval += $5; minutes += $6
      if (n == 1 || $4 < least) least = $4
      if (n == 1 || $4 > most) most = $4
    }
    END {
      if (n) printf "| %s | %.2f | %.2f | %.1f | %.1f | %.1f, %.1f | %.1f | %.1f |\n", name,
        parameters / 1e6, perplexity / n, valid / n, test / n, least, most, interval / n, minutes / n
      if (failed != "") printf "| %s | %s |\n", name, failed
    }'
done
