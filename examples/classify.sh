#!/bin/sh
# Classification as BERT (Devlin et al., 2019) and T5 (Raffel et al., 2020) do it: pretraining on
# plain text, then fine-tuning on few labelled lines; beside no pretraining. The task is the number
# of a verb that is left out (Linzen et al., 2016): "two men in red <verb> talking" is plural.
#   sh examples/classify.sh TRAIN VALID DIR [SETTING=VALUE]... > TABLE
# TRAIN and VALID are English text with words separated by spaces. Of the lines with is or are, as
# many of each, the last TESTED of TRAIN are the test text, and the lines before them are labelled;
# pretraining reads all others. DIR/settings records the settings and the SHA-256 of the texts. Run
# it again to resume.
# An encoder learns lines that end in their label, by masking any token; it classifies a line by
# filling a mask at its end. An encoder-decoder learns to translate a line to its label.
# LABELLED="200 2000"  numbers of labelled lines     TESTED=1000     VOCAB=8000
# MASK=3000  DENOISE=300  steps of pretraining of encoder and encoder-decoder
# BASE="--preset modern"  options of pretraining, and of training without it
# STEPS=600  with labelled lines; after pretraining with the settings of --init and TUNE=""
# LABEL="--batch-tokens 256"  of the encoder-decoder's labels, three tokens a line
# Columns: accuracy on the test text, and half of its 95 % interval. Two rows need no label: the
# word before the verb, by its ending; and is or are, whichever the encoder prefers in the gap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
train=${1:?"usage: classify.sh TRAIN VALID DIR [SETTING=VALUE]... > TABLE"}
valid=${2:?"VALID is missing"} dir=${3:?"DIR is missing"}
shift 3
LABELLED='200 2000' TESTED=1000 VOCAB=8000 MASK=3000 DENOISE=300 BASE='--preset modern'
STEPS=600 TUNE='' LABEL='--batch-tokens 256'
recorded='TESTED VOCAB MASK DENOISE BASE STEPS TUNE LABEL'
settings "$recorded LABELLED" "$@"
same_settings "$dir" "$recorded LABELLED" "$train" "$valid"

# examples < TEXT: line number, word before the verb, line and label, separated by tabs.
examples() {
  awk '{
    for (i = 2; i <= NF && $i != "is" && $i != "are"; ++i);
    if (i > NF) next
    label = $i == "is" ? "<singular>" : "<plural>"
    if (n[label] > n[label == "<plural>" ? "<singular>" : "<plural>"] + 0) next
    ++n[label]
    $i = "<verb>"
    print NR "\t" $(i - 1) "\t" $0 "\t" label
  }'
}
# write NAME < EXAMPLES: DIR/NAME.lines, NAME.labels and both in one, NAME.
write() {
  awk -F '\t' -v out="$dir/$1" '{
    print $3 > (out ".lines")
    print $4 > (out ".labels")
    print $3 $4 > out  # without a space, which would be a token
  }'
}
examples < "$train" > "$dir/examples"
tail -n "$TESTED" "$dir/examples" > "$dir/tested"
write test < "$dir/tested"
examples < "$valid" | write valid
most=$TESTED
for n in $LABELLED; do
  tail -n "$((TESTED + n))" "$dir/examples" | head -n "$n" | write "$n"
  [ "$most" -ge "$((TESTED + n))" ] || most=$((TESTED + n))
done
tail -n "$most" "$dir/examples" | cut -f 1 |
  awk 'NR == FNR { left[$1]; next } !(FNR in left)' - "$train" > "$dir/plain"
printf '<verb>\n<singular>\n<plural>\n' > "$dir/symbols"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" --user-symbols "$dir/symbols" \
  -o "$dir/bpe.model" "$dir/plain"

# learn NAME STEPS OPTION...: trains DIR/NAME.
learn() {
  model=$1 steps=$2
  shift 2
  quiet "$model" train "$dir/$model" "$steps" --keep 1 "$@"
}
# accuracy < LABELS
accuracy() {
  paste -d ' ' - "$dir/test.labels" | awk '$1 == $2 { ++right } END {
    p = right / NR
    printf " %.1f ± %.1f |", 100 * p, 196 * sqrt(p * (1 - p) / NR)
  }'
}
# row NAME OPTIONS DESCRIPTION: trains DIR/NAME-N on N labelled lines with OPTIONS.
row() {
  name=$1 columns=''
  for n in $LABELLED; do
    # shellcheck disable=SC2086  # options of several words
    case $name in
      masked*)
        # The best model is that of all tokens; the last one knows the labels best.
        learn "$name-$n" "$STEPS" $2 --kind encoder --src "$dir/$n" --valid-src "$dir/valid" \
          --patience 0
        sed 's/$/<mask>/' "$dir/test.lines" |
          tx-decode -q -m "$dir/$name-$n/last.safetensors" --nbest 1 |
          sed 's/\t.*//; s/.*</</' > "$dir/$name-$n.out"
        ;;
      *)
        learn "$name-$n" "$STEPS" $2 $LABEL --src "$dir/$n.lines" --tgt "$dir/$n.labels" \
          --valid-src "$dir/valid.lines" --valid-tgt "$dir/valid.labels"
        tx-decode -q -m "$dir/$name-$n" < "$dir/test.lines" > "$dir/$name-$n.out"
        ;;
    esac
    columns=$columns$(accuracy < "$dir/$name-$n.out")
  done
  echo "| $3 |$columns"
}

# shellcheck disable=SC2086  # options of several words
{
  learn masked "$MASK" $BASE --kind encoder --vocab "$dir/bpe.model" --src "$dir/plain" \
    --valid-src "$valid"
  learn denoised "$DENOISE" $BASE --denoise --vocab "$dir/bpe.model" --src "$dir/plain" \
    --valid-src "$valid"
}
# shellcheck disable=SC2086  # a column for each number
echo "| model | pretraining | none labelled |$(printf ' %s labelled |' $LABELLED)"
# shellcheck disable=SC2086
echo "|---|---|---|$(printf -- '---|%.0s' $LABELLED)"
none=$(cut -f 2 "$dir/tested" |
  awk '{ print /s$|men$|people|children/ ? "<plural>" : "<singular>" }' | accuracy)
echo "| word before the verb | |$none"
# The mask stands for a token that includes the space.
none=$(sed 's/ <verb>/<mask>/' "$dir/test.lines" | tx-decode -q -m "$dir/masked" --nbest 1000 |
  awk -F '\t' '{
    for (i = 2; i < NF && $i != "▁is" && $i != "▁are"; i += 2);
    print $i == "▁is" ? "<singular>" : "<plural>"
  }' | accuracy)
echo "| encoder, is or are in the gap | masked tokens |$none"
row masked-none "--vocab $dir/bpe.model $BASE" 'encoder | none |'
row masked-tuned "--init $dir/masked $TUNE" 'encoder | masked tokens |'
row text-none "--vocab $dir/bpe.model $BASE" 'encoder-decoder, label as text | none |'
row text-tuned "--init $dir/denoised $TUNE" 'encoder-decoder, label as text | gaps |'
echo
hash_of_settings "$dir"
