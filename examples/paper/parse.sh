#!/bin/sh
# Table 4: English constituency parsing as translation from words to brackets.
#   sh examples/paper/parse.sh FOLDER TRAIN DEV TEST [SETTING=VALUE]...
# TRAIN, DEV and TEST hold trees as treebanks have them, on one line or many. Trees become sequences
# (trees.awk), a model learns them, beam search writes them for TEST, brackets are closed where an
# output is no tree, and tx-bleu scores F1 as EVALB does. Prints tx-bleu's line twice: of the
# sequences as they came, in which malformed ones have no constituents, and of the closed trees. Run
# again, this goes on where it was.
# STEPS=12000  AVERAGE=1
# VOCAB=16000    the most frequent words have an embedding each, as in the paper; others are <unk>.
#                Brackets have a list of their own
# BASE="--preset tiny --positions rotary --dropout 0.2 --schedule cosine --lr 0.005 --warmup 400"
#                the model and its schedule
# OPTIONS=""     further options of tx-train
# DECODE="--beam 21 --alpha 0.3 --max-extra 300"  the paper's search
# The paper's own, on the Wall Street Journal (sections 2 to 21 in one file, 22, 23), on a GPU:
#   BASE="--preset base --layers 4 --d-model 1024 --d-ff 4096 --heads 16" STEPS=50000 AVERAGE=20
#   OPTIONS="--batch-tokens 25000 --max-length 500"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
if [ $# -lt 4 ]; then
  echo 'usage: parse.sh FOLDER TRAIN DEV TEST [SETTING=VALUE]...' >&2
  exit 2
fi
folder=$1 train=$2 dev=$3 test=$4
shift 4
STEPS=12000 AVERAGE=1 VOCAB=16000 OPTIONS=''
BASE='--preset tiny --positions rotary --dropout 0.2 --schedule cosine --lr 0.005 --warmup 400'
DECODE='--beam 21 --alpha 0.3 --max-extra 300'
settings "STEPS AVERAGE VOCAB BASE OPTIONS DECODE" "$@"
mkdir -p "$folder"

linearise() { # NAME TREES
  for what in words labels tree; do
    [ ! -e "$folder/$1.$what" ] || continue
    awk -v what=$what -f "$here/trees.awk" < "$2" > "$folder/new"
    mv "$folder/new" "$folder/$1.$what"
  done
}
linearise train "$train"
linearise dev "$dev"
linearise test "$test"
# A row of the source for each word: XX number n belongs to row n, which pieces of words would hide.
[ -e "$folder/words.list" ] ||
  tx-bpe train --type words --vocab-size "$VOCAB" -o "$folder/words.list" "$folder/train.words"
[ -e "$folder/labels.list" ] ||
  tx-bpe train --type words -o "$folder/labels.list" "$folder/train.labels"

# The settings hold several words.
# shellcheck disable=SC2086
train "$folder/run" "$STEPS" $BASE --src "$folder/train.words" --tgt "$folder/train.labels" \
  --valid-src "$folder/dev.words" --valid-tgt "$folder/dev.labels" --vocab-src "$folder/words.list" \
  --vocab-tgt "$folder/labels.list" --tie target --keep "$AVERAGE" \
  --save-every $(((STEPS + 19) / 20)) $OPTIONS
tx-avg -q --last "$(checkpoints "$folder/run" "$AVERAGE")" -o "$folder/model.safetensors" \
  "$folder/run"
# shellcheck disable=SC2086
tx-decode -q -m "$folder/model.safetensors" $DECODE < "$folder/test.words" > "$folder/out.labels"
awk -v what=close -v trees="$folder/test.tree" -f "$here/trees.awk" < "$folder/out.labels" \
  > "$folder/out.tree"
awk -v what=labels -f "$here/trees.awk" < "$folder/out.tree" > "$folder/closed.labels"
printf 'sequences changed to close them: '
paste -d '\n' "$folder/out.labels" "$folder/closed.labels" |
  awk 'NR % 2 { line = $0; next } line != $0 { n++ } END { printf "%d of %d\n", n, NR / 2 }'
printf 'as they came: '
tx-bleu --metric f1 "$folder/test.labels" < "$folder/out.labels"
printf 'closed:       '
tx-bleu --metric f1 --confidence "$folder/test.tree" < "$folder/out.tree"
