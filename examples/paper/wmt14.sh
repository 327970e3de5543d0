#!/bin/sh
# Table 2: WMT 2014 as in the paper, from raw text to BLEU of newstest2014.
#   sh examples/paper/wmt14.sh DATA DIR [SETTING=VALUE]...
# DATA contains train, newstest2013 and newstest2014, each as NAME.en and NAME.de: raw text, one
# sentence per line, all training texts of WMT 2014 in one file per side; ../data/README.md says
# where to get them. Prints tx-bleu's lines for both tests, the cost of training and a hash of the
# settings, which DIR/settings records. Run it again to resume; other settings need another DIR.
# MODEL=base                     100,000 steps, average of the last 5 checkpoints; big: 300,000 and 20
# FROM=en TO=de                  languages
# VOCAB=37000                    size of the joint vocabulary; 32000 for English and French
# TRAIN=train VALID=newstest2013 TEST=newstest2014  names of the texts
# STEPS= AVERAGE= SAVE=          steps, checkpoints to average, steps between them; override MODEL's.
#                                More STEPS continue a run
# OPTIONS=                       further options of tx-train. big has --dropout 0.1 for English and
#                                French, as in the paper. --cache FOLDER shares the tokenised text
#                                between base and big
# LAUNCH=                        starts tx-train, such as "mpirun -n 8"; a step of 25,000 target
#                                tokens then needs OPTIONS="--accumulate 8 --batch-tokens 3125"
# DECODE="--beam 4 --alpha 0.6"  the paper's search
# RATE=                          TFLOP/s that the machine sustains: also prints time x rate, as the
#                                paper does with 9.5 per P100
# TOKENIZER=                     command for the paper's scores, which are of tokenised text, for
#                                German with split compounds: "perl tokenizer.perl -l de" of Moses;
#                                without it, 13a and split compounds come close. See ../data/README.md
# big needs 56 GB for its checkpoints, base 5 GB.
# A dry run on two cores with any two files of sentences:
#   sh examples/paper/wmt14.sh DATA DIR TO=fr VALID=dev TEST=test VOCAB=8000 STEPS=4000 \
#     AVERAGE=5 SAVE=200 OPTIONS="--preset tiny --warmup 2000"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: wmt14.sh DATA DIR [SETTING=VALUE]..."}
dir=${2:?"DIR is missing"}
shift 2
MODEL=base FROM=en TO=de VOCAB='' TRAIN=train VALID=newstest2013 TEST=newstest2014
STEPS='' AVERAGE='' SAVE='' OPTIONS='' RATE='' DECODE='--beam 4 --alpha 0.6' LAUNCH='' TOKENIZER=''
recorded='MODEL FROM TO VOCAB TRAIN VALID TEST AVERAGE SAVE OPTIONS DECODE'
settings "$recorded STEPS RATE LAUNCH TOKENIZER" "$@"
given() { case " $OPTIONS" in *" $1 "* | *" $1="*) true ;; *) false ;; esac }
# Checkpoints ten minutes apart on the paper's machine: 0.4 and 1.0 seconds per step.
case $MODEL in
  base) : "${STEPS:=100000}" "${AVERAGE:=5}" "${SAVE:=1500}" ;;
  big) : "${STEPS:=300000}" "${AVERAGE:=20}" "${SAVE:=600}" ;;
  *) echo "wmt14.sh: MODEL must be base or big" >&2; exit 2 ;;
esac
model="--preset $MODEL"
case $FROM-$TO in
  en-fr | fr-en)
    : "${VOCAB:=32000}"
    if [ $MODEL = big ] && ! given --dropout; then model="$model --dropout 0.1"; fi ;;
  *) : "${VOCAB:=37000}" ;;
esac
! given --preset || model=''

same_settings "$dir" "$recorded" "$data/$TRAIN.$FROM" "$data/$TRAIN.$TO" "$data/$VALID.$FROM" \
  "$data/$VALID.$TO" "$data/$TEST.$FROM" "$data/$TEST.$TO"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" --sample 5000000 \
  -o "$dir/bpe.model" "$data/$TRAIN.$FROM" "$data/$TRAIN.$TO"
# shellcheck disable=SC2086  # settings are split into words, here and below
set -- $model --src "$data/$TRAIN.$FROM" --tgt "$data/$TRAIN.$TO" \
  --valid-src "$data/$VALID.$FROM" --valid-tgt "$data/$VALID.$TO" --vocab "$dir/bpe.model" \
  --save-every "$SAVE" --keep "$AVERAGE" $OPTIONS
# shellcheck disable=SC2086
$LAUNCH tx-train --describe "$@" > "$dir/plan"
if [ ! -e "$dir/run" ]; then
  # 12 bytes per parameter and checkpoint, with the best one and the one being written; the
  # tokenised text is smaller than the text.
  parameters=$(awk '$1 == "total" && NF == 2 { print $2; exit }' "$dir/plan")
  text=$(cat "$data/$TRAIN.$FROM" "$data/$TRAIN.$TO" | wc -c)
  df -Pk "$dir" | awk -v parameters="$parameters" -v count=$((AVERAGE + 2)) -v text="$text" '
    NR == 2 && $4 * 1024 < parameters * 12 * count + text {
      printf "wmt14.sh: %s needs %.1f GB for %d checkpoints and %.1f GB for the tokenised text, " \
        "but only %.1f GB are free\n", $6, parameters * 12 * count / 1e9, count, text / 1e9,
        $4 * 1024 / 1e9
      exit 1
    }' >&2
fi
train "$dir/run" "$STEPS" "$@"
tx-avg -q --last "$(checkpoints "$dir/run" "$AVERAGE")" -o "$dir/model.safetensors" \
  "$dir/run"
for text in "$VALID" "$TEST"; do
  # shellcheck disable=SC2086
  tx-decode -q -m "$dir/model.safetensors" $DECODE < "$data/$text.$FROM" > "$dir/$text.$TO"
  printf '%s: ' "$text"
  tx-bleu --confidence "$data/$text.$TO" < "$dir/$text.$TO"
  case $TO in de) split=--split-compounds ;; *) split='' ;; esac
  [ -n "$split$TOKENIZER" ] || continue
  # shellcheck disable=SC2086
  if [ -n "$TOKENIZER" ]; then
    printf '%s, as in the paper: ' "$text"
    $TOKENIZER < "$data/$text.$TO" > "$dir/$text.tok"
    $TOKENIZER < "$dir/$text.$TO" | tx-bleu --tokenize none $split --confidence "$dir/$text.tok"
  else
    printf '%s, nearly as in the paper: ' "$text"
    tx-bleu $split --confidence "$data/$text.$TO" < "$dir/$text.$TO"
  fi
done
# The cost in two ways: product FLOPs counted from shapes, and time x RATE.
sed -n 's/.*"step":\([0-9]*\),.*"tokens":\([0-9]*\),.*"seconds":\([0-9.]*\).*/\1 \2 \3/p' \
  "$dir/run/log.jsonl" | tail -n 1 |
  awk -v flops="$(flops_per_token "$dir/plan")" -v rate="$RATE" '{
    printf "cost: %d steps, %.3g product FLOPs, %.2f hours", $1, $2 * flops, $3 / 3600
    if (rate) printf "; time x rate: %.3g FLOPs", $3 * rate * 1e12
    print ""
  }'
hash_of_settings "$dir" "STEPS=$STEPS"
