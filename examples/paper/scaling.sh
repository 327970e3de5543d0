#!/bin/sh
# How the loss falls with parameters, text and computing: twelve trainings, the power laws fitted to
# them, and a thirteenth that is predicted before it is run.
#   sh examples/paper/scaling.sh FOLDER SRC TGT VALID_SRC VALID_TGT [SETTING=VALUE]... > TABLES
# SRC and TGT are some hundred thousand pairs, of which the runs over widths see few twice. Run
# again, this goes on where it was.
# WIDTHS="32 48 64 96 128 192"  d_model of the runs on the whole text, TEST=256 of the thirteenth
# PARTS="256 64 16"             of the text one pair in so many, for PART_WIDTHS="64 128" until the
#                               validation loss has risen
# STEPS=4000  BATCH=2048        target pieces of a step
# LAYERS=4  FFN=2  HEAD=16      layers of each stack, d_ff / d_model, and d_model / heads
# VOCAB=4000                    pieces
# Each run has the paper's schedule, in which the rate at a step does not depend on when the run
# ends: after a quarter and half of its steps it stands where a run of so many steps would end, and
# counts as a point there, too. Pre-norm; losses without label smoothing.
# WMT 2014 on a GPU: WIDTHS="128 192 256 384 512 768" TEST=1024 PART_WIDTHS="256 512"
#   STEPS=100000 BATCH=25000 LAYERS=6 FFN=4 HEAD=64 VOCAB=37000
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
if [ $# -lt 5 ]; then
  echo 'usage: scaling.sh FOLDER SRC TGT VALID_SRC VALID_TGT [SETTING=VALUE]...' >&2
  exit 2
fi
folder=$1 src=$2 tgt=$3 valid_src=$4 valid_tgt=$5
shift 5
WIDTHS='32 48 64 96 128 192' TEST=256 PARTS='256 64 16' PART_WIDTHS='64 128' STEPS=4000 BATCH=2048
LAYERS=4 FFN=2 HEAD=16 VOCAB=4000
settings "WIDTHS TEST PARTS PART_WIDTHS STEPS BATCH LAYERS FFN HEAD VOCAB" "$@"
mkdir -p "$folder"
vocabulary=$folder/bpe.model
[ -e "$vocabulary" ] || tx-bpe train --vocab-size "$VOCAB" -o "$vocabulary" "$src" "$tgt"
often=$((STEPS / 16))

# learn RUN WIDTH SRC TGT OPTION...: a training whose log is RUN/run/log.jsonl.
learn() {
  work=$folder/$1 width=$2 train_src=$3 train_tgt=$4
  shift 4
  mkdir -p "$work"
  set -- --src "$train_src" --tgt "$train_tgt" --valid-src "$valid_src" --valid-tgt "$valid_tgt" \
    --vocab "$vocabulary" --preset base --norm-position pre --layers "$LAYERS" --d-model "$width" \
    --d-ff $((FFN * width)) --heads $((width / HEAD)) --label-smoothing 0 --warmup $((STEPS / 10)) \
    --batch-tokens "$BATCH" --save-every "$often" --log-every "$often" --keep 1 "$@"
  tx-train --describe "$@" > "$work/describe" 2> /dev/null
  if [ -n "${describe_only-}" ] || [ -e "$work/done" ]; then return; fi
  echo "scaling: $work" >&2
  (train "$work/run" "$STEPS" "$@") 2>> "$work/log" || { tail -n 3 "$work/log" >&2; exit 1; }
  : > "$work/done"
}
# cost RUN: its parameters without embeddings, and product FLOPs for each token.
cost() {
  awk '/embedding/ { embeddings += $NF }
    $1 == "total" && !n { n = $2 - embeddings }
    / product FLOPs/ { print n "\t" $9 / (substr($3, 2) + $6) }' "$folder/$1/describe"
}
# points RUN: tokens and validation loss after a quarter of the steps, half, and all of them.
points() {
  awk -v steps="$STEPS" -v often="$often" '
    function field(name) {
      if (!match($0, "\"" name "\":[^,}]*")) return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    field("tokens") != "" { tokens[field("step")] = field("tokens") }
    field("validation_loss") != "" { loss[field("step")] = field("validation_loss") }
    END {
      for (at = often * 4; at <= often * 16; at *= 2) if (at in loss) print tokens[at] "\t" loss[at]
    }' "$folder/$1/run/log.jsonl"
}
best_loss() {
  sed -n 's/.*"validation_loss":\([0-9.]*\),.*/\1/p' "$folder/$1/run/log.jsonl" |
    sort -g | head -n 1
}

table=$folder/table
: > "$table.new"
for width in $WIDTHS; do
  learn "width$width" "$width" "$src" "$tgt"
  printf 'cost\t%s\t%s\n' "$width" "$(cost "width$width")" >> "$table.new"
  size=$(cost "width$width" | cut -f 1)
  points "width$width" | sed "s/^/point\t$width\t$size\t/" >> "$table.new"
done
for part in $PARTS; do
  for side in src tgt; do
    text=$src
    [ $side = src ] || text=$tgt
    [ ! -e "$folder/part$part.$side" ] || continue
    awk "NR % $part == 1" "$text" > "$folder/new"
    mv "$folder/new" "$folder/part$part.$side"
  done
  for width in $PART_WIDTHS; do
    run=part$part-width$width
    learn "$run" "$width" "$folder/part$part.src" "$folder/part$part.tgt" --patience 3
    printf 'data\t%s\t%s\t%s\n' "$width" "$(awk 'END { print NR }' "$folder/part$part.src")" \
      "$(best_loss "$run")" >> "$table.new"
  done
done

# The last run: what is expected of it is written down before it begins.
describe_only=yes
learn "width$TEST" "$TEST" "$src" "$tgt"
describe_only=''
printf 'cost\t%s\t%s\n' "$TEST" "$(cost "width$TEST")" >> "$table.new"
printf 'predict\t%s\t%s\t%s\n' "$TEST" "$(cost "width$TEST" | cut -f 1)" \
  "$(points "width${WIDTHS##* }" | tail -n 1 | cut -f 1)" >> "$table.new"
if [ ! -e "$folder/predicted" ]; then
  awk -v predict_only=1 -f "$here/solve.awk" -f "$here/scaling.awk" "$table.new" > "$folder/new"
  mv "$folder/new" "$folder/predicted"
fi
echo "scaling: width $TEST will come to a loss of $(cat "$folder/predicted")" >&2
learn "width$TEST" "$TEST" "$src" "$tgt"
printf 'tested\t%s\t%s\n' "$TEST" "$(points "width$TEST" | tail -n 1 | cut -f 2)" >> "$table.new"
mv "$table.new" "$table"
awk -v predicted="$(cat "$folder/predicted")" -f "$here/solve.awk" -f "$here/scaling.awk" "$table"
