#!/bin/sh
# Table 4: English constituency parsing as translation from words to brackets.
#   sh examples/paper/parse.sh DIR TRAIN DEV TEST [SETTING=VALUE]...
# TRAIN, DEV and TEST are treebanks; a tree may span several lines. Trees are converted to
# sequences (trees.awk), a model is trained on them, beam search writes sequences for TEST, and
# brackets are closed in outputs that are not trees. tx-bleu scores F1 as EVALB does, twice: as
# written, where a malformed sequence has no constituents, and closed. Run it again to resume;
# DIR/settings records the settings, and other ones need another DIR.
# STEPS=12000
# AVERAGE=1
# VOCAB=16000    size of the word vocabulary, as in the paper; other words are <unk>. Brackets have
#                their own vocabulary
# BASE="--preset tiny --positions rotary --dropout 0.2 --schedule cosine --lr 0.005 --warmup 400"
#                model and schedule
# OPTIONS=""     further options of tx-train
# LAUNCH=""      starts tx-train, such as "mpirun -n 8"; OPTIONS then needs --accumulate 8
# DECODE="--beam 21 --alpha 0.3 --max-extra 300"  the paper's search
# For the Wall Street Journal (sections 2 to 21 in one file, 22, 23) on a GPU:
#   BASE="--preset base --layers 4 --d-model 1024 --dropout 0.2 --attention-dropout 0.2
#     --warmup 16000 --lr-factor 0.5" STEPS=50000 AVERAGE=20 OPTIONS="--max-length 512"
# Layers, d_model, vocabulary and search are from the paper. It selected dropout and learning rate
# on section 22 and does not state them: those above are transformer_parsing_base of its authors'
# tensor2tensor, which has six layers. STEPS and AVERAGE are guesses.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
if [ $# -lt 4 ]; then
  echo 'usage: parse.sh DIR TRAIN DEV TEST [SETTING=VALUE]...' >&2
  exit 2
fi
dir=$1 train=$2 dev=$3 test=$4
shift 4
# shellcheck disable=SC2034  # LAUNCH is for train()
STEPS=12000 AVERAGE=1 VOCAB=16000 OPTIONS='' LAUNCH=''
BASE='--preset tiny --positions rotary --dropout 0.2 --schedule cosine --lr 0.005 --warmup 400'
DECODE='--beam 21 --alpha 0.3 --max-extra 300'
recorded='STEPS AVERAGE VOCAB BASE OPTIONS DECODE'
settings "$recorded LAUNCH" "$@"
same_settings "$dir" "$recorded" "$train" "$dev" "$test"

linearise() { # NAME TREES
  for what in words labels tree; do
    [ ! -e "$dir/$1.$what" ] || continue
    awk -v what=$what -f "$here/trees.awk" < "$2" > "$dir/new"
    mv "$dir/new" "$dir/$1.$what"
  done
}
linearise train "$train"
linearise dev "$dev"
linearise test "$test"
# Words, not subwords: XX number n of the target then corresponds to token n of the source.
[ -e "$dir/words.list" ] ||
  tx-bpe train --type words --vocab-size "$VOCAB" -o "$dir/words.list" "$dir/train.words"
[ -e "$dir/labels.list" ] ||
  tx-bpe train --type words -o "$dir/labels.list" "$dir/train.labels"

# Settings are split into words.
# shellcheck disable=SC2086
train "$dir/run" "$STEPS" $BASE --src "$dir/train.words" --tgt "$dir/train.labels" \
  --valid-src "$dir/dev.words" --valid-tgt "$dir/dev.labels" --vocab-src "$dir/words.list" \
  --vocab-tgt "$dir/labels.list" --tie target --keep "$AVERAGE" \
  --save-every $(((STEPS + 19) / 20)) $OPTIONS
tx-avg -q --last "$(checkpoints "$dir/run" "$AVERAGE")" -o "$dir/model.safetensors" \
  "$dir/run"
# shellcheck disable=SC2086
tx-decode -q -m "$dir/model.safetensors" $DECODE < "$dir/test.words" > "$dir/out.labels"
awk -v what=close -v trees="$dir/test.tree" -f "$here/trees.awk" < "$dir/out.labels" \
  > "$dir/out.tree"
awk -v what=labels -f "$here/trees.awk" < "$dir/out.tree" > "$dir/closed.labels"
printf 'sequences changed to close them: '
paste -d '\n' "$dir/out.labels" "$dir/closed.labels" |
  awk 'NR % 2 { line = $0; next } line != $0 { n++ } END { printf "%d of %d\n", n, NR / 2 }'
printf 'as written: '
tx-bleu --metric f1 "$dir/test.labels" < "$dir/out.labels"
printf 'closed:     '
tx-bleu --metric f1 --confidence "$dir/test.tree" < "$dir/out.tree"
hash_of_settings "$dir"
