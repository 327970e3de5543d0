#!/bin/sh
# Table 2: WMT 2014 as in the paper, from raw text to BLEU of newstest2014.
#   sh examples/paper/wmt14.sh DATA DIR [SETTING=VALUE]...
# DATA contains train, newstest2013 and newstest2014, each as NAME.en and NAME.de: raw text, one
# sentence per line, all training texts of WMT 2014 in one file per side. Prints tx-bleu's lines
# for both tests and the cost of training. Run it again to resume.
# MODEL=base                     100,000 steps, average of the last 5 checkpoints; big: 300,000 and 20
# FROM=en TO=de VOCAB=37000      languages; size of the joint vocabulary (32000 for en-fr)
# TRAIN=train VALID=newstest2013 TEST=newstest2014  names of the texts
# STEPS= AVERAGE= SAVE=          steps, checkpoints to average, steps between them; override MODEL's
# OPTIONS=                       further options of tx-train
# DECODE="--beam 4 --alpha 0.6"  the paper's search
# RATE=                          TFLOP/s that the machine sustains: also prints time x rate, as the
#                                paper does with 9.5 per P100
# The paper's scores are of tokenised text with split compounds; tx-bleu's are those of sacreBLEU
# and usually somewhat lower. A dry run on two cores with any two files of sentences:
#   sh examples/paper/wmt14.sh DATA DIR TO=fr VALID=dev TEST=test VOCAB=8000 STEPS=4000 \
#     AVERAGE=5 SAVE=200 OPTIONS="--preset tiny --warmup 2000"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: wmt14.sh DATA DIR [SETTING=VALUE]..."}
dir=${2:?"DIR is missing"}
shift 2
MODEL=base FROM=en TO=de VOCAB=37000 TRAIN=train VALID=newstest2013 TEST=newstest2014
STEPS='' AVERAGE='' SAVE='' OPTIONS='' RATE='' DECODE='--beam 4 --alpha 0.6'
settings "MODEL FROM TO VOCAB TRAIN VALID TEST STEPS AVERAGE SAVE OPTIONS RATE DECODE" "$@"
# Checkpoints ten minutes apart on the paper's machine: 0.4 and 1.0 seconds per step.
case $MODEL in
  base) : "${STEPS:=100000}" "${AVERAGE:=5}" "${SAVE:=1500}" ;;
  big) : "${STEPS:=300000}" "${AVERAGE:=20}" "${SAVE:=600}" ;;
  *) echo "wmt14.sh: MODEL must be base or big" >&2; exit 2 ;;
esac
mkdir -p "$dir"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" --sample 5000000 \
  -o "$dir/bpe.model" "$data/$TRAIN.$FROM" "$data/$TRAIN.$TO"
case " $OPTIONS " in *' --preset '*) preset='' ;; *) preset="--preset $MODEL" ;; esac
# shellcheck disable=SC2086  # settings are split into words, here and below
train "$dir/run" "$STEPS" $preset --src "$data/$TRAIN.$FROM" --tgt "$data/$TRAIN.$TO" \
  --valid-src "$data/$VALID.$FROM" --valid-tgt "$data/$VALID.$TO" --vocab "$dir/bpe.model" \
  --save-every "$SAVE" --keep "$AVERAGE" $OPTIONS
tx-avg -q --last "$(checkpoints "$dir/run" "$AVERAGE")" -o "$dir/model.safetensors" \
  "$dir/run"
for text in "$VALID" "$TEST"; do
  # shellcheck disable=SC2086
  tx-decode -q -m "$dir/model.safetensors" $DECODE < "$data/$text.$FROM" > "$dir/$text.$TO"
  printf '%s: ' "$text"
  tx-bleu --confidence "$data/$text.$TO" < "$dir/$text.$TO"
done
# The cost in two ways: product FLOPs counted from shapes, and time x RATE.
# shellcheck disable=SC2086
flops=$(tx-train --describe $preset --vocab "$dir/bpe.model" --src "$data/$TRAIN.$FROM" \
  --tgt "$data/$TRAIN.$TO" $OPTIONS 2> /dev/null |
  awk '/ product FLOPs/ { print $9 / $1 / (substr($3, 2) + $6) }')
sed -n 's/.*"step":\([0-9]*\),.*"tokens":\([0-9]*\),.*"seconds":\([0-9.]*\).*/\1 \2 \3/p' \
  "$dir/run/log.jsonl" | tail -n 1 | awk -v flops="$flops" -v rate="$RATE" '{
    printf "cost: %d steps, %.3g product FLOPs, %.2f hours", $1, $2 * flops, $3 / 3600
    if (rate) printf "; time x rate: %.3g FLOPs", $3 * rate * 1e12
    print ""
  }'
