#!/bin/sh
# Scaling laws: how the loss falls with parameters, training tokens and compute. Twelve runs, power
# laws fitted to them, and a thirteenth run that is predicted before it starts.
#   sh examples/paper/scaling.sh DIR SRC TGT VALID_SRC VALID_TGT [SETTING=VALUE]... > TABLES
# SRC and TGT should have several hundred thousand pairs, so that the runs over widths repeat few
# of them. Run it again to resume; DIR/settings records the settings, and other ones need another
# DIR.
# WIDTHS="32 48 64 96 128 192"  at least 4 d_model, of the runs on the whole text; TEST=256 the last
# PARTS="256 64 16"             runs on one pair in 256, 64 and 16 with PART_WIDTHS="64 128", until
#                               the validation loss rises
# STEPS=4000  BATCH=2048        target tokens per step
# LAYERS=4  FFN=2  HEAD=16      layers of each stack, d_ff / d_model, d_model / heads
# VOCAB=4000                    size of the vocabulary
# Each run has the paper's schedule, in which the learning rate of a step does not depend on the
# length of the run. The state after a quarter and half of the steps is therefore that of a
# shorter run, and is a point of the fit too. Pre-norm; losses without label smoothing.
# WMT 2014 on a GPU: WIDTHS="128 192 256 384 512 768" TEST=1024 PART_WIDTHS="256 512"
#   STEPS=100000 BATCH=25000 LAYERS=6 FFN=4 HEAD=64 VOCAB=37000
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
if [ $# -lt 5 ]; then
  echo 'usage: scaling.sh DIR SRC TGT VALID_SRC VALID_TGT [SETTING=VALUE]...' >&2
  exit 2
fi
dir=$1 src=$2 tgt=$3 valid_src=$4 valid_tgt=$5
shift 5
WIDTHS='32 48 64 96 128 192' TEST=256 PARTS='256 64 16' PART_WIDTHS='64 128' STEPS=4000 BATCH=2048
LAYERS=4 FFN=2 HEAD=16 VOCAB=4000
recorded='WIDTHS TEST PARTS PART_WIDTHS STEPS BATCH LAYERS FFN HEAD VOCAB'
settings "$recorded" "$@"
same_settings "$dir" "$recorded" "$src" "$tgt" "$valid_src" "$valid_tgt"
vocabulary=$dir/bpe.model
[ -e "$vocabulary" ] || tx-bpe train --vocab-size "$VOCAB" -o "$vocabulary" "$src" "$tgt"
interval=$((STEPS / 16))

# learn RUN WIDTH SRC TGT OPTION...: trains a model; its log is RUN/run/log.jsonl.
learn() {
  work=$dir/$1 width=$2 train_src=$3 train_tgt=$4
  shift 4
  mkdir -p "$work"
  set -- --src "$train_src" --tgt "$train_tgt" --valid-src "$valid_src" --valid-tgt "$valid_tgt" \
    --vocab "$vocabulary" --preset base --norm-position pre --layers "$LAYERS" --d-model "$width" \
    --d-ff $((FFN * width)) --heads $((width / HEAD)) --label-smoothing 0 --warmup $((STEPS / 10)) \
    --batch-tokens "$BATCH" --save-every "$interval" --log-every "$interval" --keep 1 \
    --cache "$dir/cache" "$@"
  tx-train -q --describe "$@" > "$work/describe"
  if [ -n "${describe_only-}" ] || [ -e "$work/done" ]; then return; fi
  echo "scaling: $work" >&2
  (train "$work/run" "$STEPS" "$@") 2>> "$work/log" || { tail -n 3 "$work/log" >&2; exit 1; }
  : > "$work/done"
}
# cost RUN: its parameters without embeddings, and product FLOPs per token.
cost() {
  awk '$1 ~ /embedding.weight/ { embeddings += $NF }
    $1 == "total" { printf "%.0f\t", $2 - embeddings; exit }' "$dir/$1/describe"
  flops_per_token "$dir/$1/describe"
}
# points RUN: tokens and validation loss after a quarter, half and all of the steps.
points() {
  awk -v steps="$STEPS" -v interval="$interval" '
    function field(name) {
      if (!match($0, "\"" name "\":[^,}]*")) return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    field("tokens") != "" { tokens[field("step")] = field("tokens") }
    field("validation_loss") != "" { loss[field("step")] = field("validation_loss") }
    END {
      for (at = interval * 4; at <= interval * 16; at *= 2)
        if (at in loss) print tokens[at] "\t" loss[at]
    }' "$dir/$1/run/log.jsonl"
}
best_loss() {
  sed -n 's/.*"validation_loss":\([0-9.]*\),.*/\1/p' "$dir/$1/run/log.jsonl" |
    sort -g | head -n 1
}

table=$dir/table
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
    [ ! -e "$dir/part$part.$side" ] || continue
    awk "NR % $part == 1" "$text" > "$dir/new"
    mv "$dir/new" "$dir/part$part.$side"
  done
  for width in $PART_WIDTHS; do
    run=part$part-width$width
    learn "$run" "$width" "$dir/part$part.src" "$dir/part$part.tgt" --patience 3
    printf 'data\t%s\t%s\t%s\n' "$width" "$(awk 'END { print NR }' "$dir/part$part.src")" \
      "$(best_loss "$run")" >> "$table.new"
  done
done

# The last run: the prediction is written before it starts.
describe_only=yes
learn "width$TEST" "$TEST" "$src" "$tgt"
describe_only=''
printf 'cost\t%s\t%s\n' "$TEST" "$(cost "width$TEST")" >> "$table.new"
printf 'predict\t%s\t%s\t%s\n' "$TEST" "$(cost "width$TEST" | cut -f 1)" \
  "$(points "width${WIDTHS##* }" | tail -n 1 | cut -f 1)" >> "$table.new"
if [ ! -e "$dir/predicted" ]; then
  awk -v predict_only=1 -f "$here/solve.awk" -f "$here/scaling.awk" "$table.new" > "$dir/new"
  mv "$dir/new" "$dir/predicted"
fi
echo "scaling: predicted loss of width $TEST: $(cat "$dir/predicted")" >&2
learn "width$TEST" "$TEST" "$src" "$tgt"
printf 'tested\t%s\t%s\n' "$TEST" "$(points "width$TEST" | tail -n 1 | cut -f 2)" >> "$table.new"
mv "$table.new" "$table"
awk -v predicted="$(cat "$dir/predicted")" -f "$here/solve.awk" -f "$here/scaling.awk" "$table"
echo
hash_of_settings "$dir"
