#!/bin/sh
# Table 2 from start to end: WMT 2014 as in the paper, from raw texts to BLEU of newstest2014.
#   sh examples/paper/wmt14.sh DATA FOLDER [SETTING=VALUE]...
# DATA holds train, newstest2013 and newstest2014, each as NAME.en and NAME.de: raw text, one
# sentence a line (all of WMT 2014's training texts in one file for each side). Run again, this goes
# on where it was. Prints tx-bleu's lines for both tests and what the training has cost.
# MODEL=base  100,000 steps, mean of the last 5 checkpoints; MODEL=big: 300,000 and 20
# FROM=en TO=de VOCAB=37000      the two languages, pieces of both together (32000 for en-fr)
# TRAIN=train VALID=newstest2013 TEST=newstest2014  names of the texts
# STEPS= AVERAGE= SAVE=          steps, checkpoints averaged, steps between them: other ones than
#                                MODEL's
# OPTIONS=                       further options of tx-train, which win
# DECODE="--beam 4 --alpha 0.6"  the paper's search
# RATE=                          TFLOP/s that the machine sustains: tells time x rate, too, as the
#                                paper does, which took 9.5 for each P100
# The paper's scores are of tokenised text with compounds split; tx-bleu's are those of sacreBLEU,
# mostly somewhat lower. A dry run on two cores, with any two files of sentences:
#   sh examples/paper/wmt14.sh DATA FOLDER TO=fr VALID=dev TEST=test VOCAB=8000 STEPS=4000 \
#     AVERAGE=5 SAVE=200 OPTIONS="--preset tiny --warmup 2000"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: wmt14.sh DATA FOLDER [SETTING=VALUE]..."}
folder=${2:?"FOLDER is missing"}
shift 2
MODEL=base FROM=en TO=de VOCAB=37000 TRAIN=train VALID=newstest2013 TEST=newstest2014
STEPS='' AVERAGE='' SAVE='' OPTIONS='' RATE='' DECODE='--beam 4 --alpha 0.6'
settings "MODEL FROM TO VOCAB TRAIN VALID TEST STEPS AVERAGE SAVE OPTIONS RATE DECODE" "$@"
# Checkpoints ten minutes apart, as they came on the paper's machine: 0.4 and 1.0 seconds a step.
case $MODEL in
  base) : "${STEPS:=100000}" "${AVERAGE:=5}" "${SAVE:=1500}" ;;
  big) : "${STEPS:=300000}" "${AVERAGE:=20}" "${SAVE:=600}" ;;
  *) echo "wmt14.sh: MODEL is base or big" >&2; exit 2 ;;
esac
mkdir -p "$folder"
[ -e "$folder/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" --sample 5000000 \
  -o "$folder/bpe.model" "$data/$TRAIN.$FROM" "$data/$TRAIN.$TO"
case " $OPTIONS " in *' --preset '*) preset='' ;; *) preset="--preset $MODEL" ;; esac
# shellcheck disable=SC2086  # settings of several words, here and below
train "$folder/run" "$STEPS" $preset --src "$data/$TRAIN.$FROM" --tgt "$data/$TRAIN.$TO" \
  --valid-src "$data/$VALID.$FROM" --valid-tgt "$data/$VALID.$TO" --vocab "$folder/bpe.model" \
  --save-every "$SAVE" --keep "$AVERAGE" $OPTIONS
tx-avg -q --last "$(checkpoints "$folder/run" "$AVERAGE")" -o "$folder/model.safetensors" \
  "$folder/run"
for text in "$VALID" "$TEST"; do
  # shellcheck disable=SC2086
  tx-decode -q -m "$folder/model.safetensors" $DECODE < "$data/$text.$FROM" > "$folder/$text.$TO"
  printf '%s: ' "$text"
  tx-bleu --confidence "$data/$text.$TO" < "$folder/$text.$TO"
done
# The cost both ways: products counted from shapes, for each token, and the time.
# shellcheck disable=SC2086
flops=$(tx-train --describe $preset --vocab "$folder/bpe.model" --src "$data/$TRAIN.$FROM" \
  --tgt "$data/$TRAIN.$TO" $OPTIONS 2> /dev/null |
  awk '/ product FLOPs/ { print $9 / $1 / (substr($3, 2) + $6) }')
sed -n 's/.*"step":\([0-9]*\),.*"tokens":\([0-9]*\),.*"seconds":\([0-9.]*\).*/\1 \2 \3/p' \
  "$folder/run/log.jsonl" | tail -n 1 | awk -v flops="$flops" -v rate="$RATE" '{
    printf "cost: %d steps, %.3g product FLOPs, %.2f hours", $1, $2 * flops, $3 / 3600
    if (rate) printf "; time x rate: %.3g FLOPs", $3 * rate * 1e12
    print ""
  }'
