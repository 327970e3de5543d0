#!/bin/sh
# Fine-tuning to a domain without forgetting: a model trained on general text is trained further on
# text of a domain, alone and mixed with as many pairs of general text, at different learning rates.
#   sh examples/finetune.sh GENERAL DOMAIN DIR [SETTING=VALUE]... > TABLE
# GENERAL and DOMAIN are directories with the texts of TRAIN, VALID and TEST; below, the names in
# GENERAL, then in DOMAIN. DIR/settings records the settings and the SHA-256 of the texts. Run it again
# to resume.
# TRAIN="train train" VALID="dev val" TEST="test test_2016_flickr"  FROM=en TO=de FORM=
# MODEL=       a model file to start from; otherwise one is trained for STEPS=8000 with BASE="--preset modern"
# TUNE=1000    steps of fine-tuning     RATES="0.001 0.0002"  learning rates     VOCAB=8000
# SCORE=       options of tx-bleu
# Columns: scores of both TESTs, and after ± half of the 95 % bootstrap interval.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
general=${1:?"usage: finetune.sh GENERAL DOMAIN DIR [SETTING=VALUE]... > TABLE"}
domain=${2:?"DOMAIN is missing"} dir=${3:?"DIR is missing"}
shift 3
TRAIN='train train' VALID='dev val' TEST='test test_2016_flickr' FROM=en TO=de FORM=
MODEL='' STEPS=8000 BASE='--preset modern' TUNE=1000 RATES='0.001 0.0002' VOCAB=8000 SCORE=''
recorded='TRAIN VALID TEST FROM TO FORM MODEL STEPS BASE TUNE VOCAB SCORE'
settings "$recorded RATES" "$@"
of_general() { echo "$general/${1%% *}$FORM.$2"; }  # NAMES LANGUAGE
of_domain() { echo "$domain/${1##* }$FORM.$2"; }
set --
for names in "$TRAIN" "$VALID" "$TEST"; do
  for side in "$FROM" "$TO"; do
    set -- "$@" "$(of_general "$names" "$side")" "$(of_domain "$names" "$side")"
  done
done
same_settings "$dir" "$recorded" "$@" ${MODEL:+"$MODEL"}

if [ -n "$MODEL" ]; then
  cp -L "$MODEL" "$dir/general.safetensors"
else
  [ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" \
    "$(of_general "$TRAIN" "$FROM")" "$(of_general "$TRAIN" "$TO")" \
    "$(of_domain "$TRAIN" "$FROM")" "$(of_domain "$TRAIN" "$TO")"
  # shellcheck disable=SC2086  # BASE is split into words
  quiet general train "$dir/general" "$STEPS" $BASE --vocab "$dir/bpe.model" --keep 1 \
    --src "$(of_general "$TRAIN" "$FROM")" --tgt "$(of_general "$TRAIN" "$TO")" \
    --valid-src "$(of_general "$VALID" "$FROM")" --valid-tgt "$(of_general "$VALID" "$TO")"
  cp -L "$dir/general/last.safetensors" "$dir/general.safetensors"
fi

# The mixture: the domain, and as many general pairs, evenly spread; all if there are fewer.
pairs=$(wc -l < "$(of_domain "$TRAIN" "$TO")")
for side in "$FROM" "$TO"; do
  cp "$(of_domain "$TRAIN" "$side")" "$dir/domain.$side"
  text=$(of_general "$TRAIN" "$side")
  awk -v wanted="$pairs" -v all="$(wc -l < "$text")" \
    'int(NR * wanted / all) > int((NR - 1) * wanted / all) || wanted >= all' "$text" |
    cat "$dir/domain.$side" - > "$dir/mixed.$side"
done

scores() {  # MODEL: sets `columns` to the last two
  columns=''
  for test in "$(of_general "$TEST" "")" "$(of_domain "$TEST" "")"; do
    tx-decode -q -m "$1" < "$test$FROM" > "$dir/out"
    one=$(bleu "$test$TO" < "$dir/out")
    columns="$columns $one |"
  done
}
scores "$dir/general.safetensors"
echo '| fine-tuned on | rate | general | domain |'
echo '|---|---|---|---|'
echo "| nothing | |$columns"
for text in domain mixed; do
  for rate in $RATES; do
    run=$dir/$text-$rate
    quiet "$text-$rate" train "$run" "$TUNE" --init "$dir/general.safetensors" --lr "$rate" --keep 1 \
      --src "$dir/$text.$FROM" --tgt "$dir/$text.$TO" \
      --valid-src "$(of_domain "$VALID" "$FROM")" --valid-tgt "$(of_domain "$VALID" "$TO")"
    scores "$run"
    echo "| $text | $rate |$columns"
  done
done
echo
hash_of_settings "$dir" "RATES=$RATES"
